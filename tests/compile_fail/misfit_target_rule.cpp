// expect: tollgate: this does not satisfy target_rule; read tollgate/contract/target_rule.hpp
#include <tollgate/policy/default_policies.hpp>

using namespace tollgate;

struct own_target_rule {
    result<void> check(const http::url&) const { return {}; }
#if !defined(TOLLGATE_MISFIT)
    bool allows(const ip_address&) const noexcept { return true; }
#endif
};

int main() {
    [[maybe_unused]] const auto policies = default_policies().with_target_rule(own_target_rule{});
}

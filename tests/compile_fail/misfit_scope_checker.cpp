// expect: tollgate: this does not satisfy scope_checker; read tollgate/contract/scope_checker.hpp
#include <tollgate/policy/default_policies.hpp>

using namespace tollgate;

struct own_scope_checker {
#if defined(TOLLGATE_MISFIT)
    bool covers(std::string_view required, const scope_set& granted) const noexcept { return granted.contains(required); }
#else
    bool covers(const scope_set& granted, std::string_view required) const noexcept { return granted.contains(required); }
#endif
};

int main() {
    [[maybe_unused]] const auto policies = default_policies().with_scope_checker(own_scope_checker{});
}

// expect: tollgate: this does not satisfy payload_format; read tollgate/contract/payload_format.hpp
#include <tollgate/policy/default_policies.hpp>

using namespace tollgate;

struct own_format {
#if !defined(TOLLGATE_MISFIT)
    result<void> write(const due_delivery&, instant, http::field_block&, std::string&) const { return {}; }
#endif
};

int main() {
    [[maybe_unused]] const auto policies = default_policies().with_format(own_format{});
}

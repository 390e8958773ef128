// expect: tollgate: this does not satisfy router; read tollgate/contract/router.hpp
#include <tollgate/policy/default_policies.hpp>

using namespace tollgate;

struct own_router {
    void build(std::span<const route_pattern>) {}
#if defined(TOLLGATE_MISFIT)
    route_match find(http::method, std::string_view) noexcept { return {}; }  // many threads at once, and not const
#else
    route_match find(http::method, std::string_view) const noexcept { return {}; }
#endif
};

int main() {
    [[maybe_unused]] const auto policies = default_policies().with_router(own_router{});
}

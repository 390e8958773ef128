// expect: tollgate: a member named windows_of exists, but this does not satisfy request_limiter; read tollgate/contract/rate_limiter.hpp
// misfit 1 names windows_of: tollgate: a member named windows_of exists, but this does not satisfy request_limiter; read tollgate/contract/rate_limiter.hpp
// misfit 2 names windows_of: tollgate: a member named windows_of exists, but this does not satisfy request_limiter; read tollgate/contract/rate_limiter.hpp
// misfit 3 names windows_of: tollgate: a member named windows_of exists, but this does not satisfy request_limiter; read tollgate/contract/rate_limiter.hpp
#include <tollgate/policy/default_policies.hpp>

using namespace tollgate;

struct own_limiter : unlimited {
#if TOLLGATE_MISFIT == 1
    limit_window windows_of(const limited_request& request) const noexcept { return {request.key, request.allowed}; }
#elif TOLLGATE_MISFIT == 2
    limit_windows windows_of(const auto& request) const { return {{request.key, request.allowed}}; }
#else
#if TOLLGATE_MISFIT == 3
private:
#endif
    limit_windows windows_of(const limited_request& request) const noexcept { return {{request.key, request.allowed}}; }
#endif
};

int main() {
    [[maybe_unused]] const auto policies = default_policies().with_limiter(own_limiter{});
}

// expect: tollgate: this does not satisfy request_limiter; read tollgate/contract/rate_limiter.hpp
// misfit 1 names windows_of: tollgate: this does not satisfy request_limiter; read tollgate/contract/rate_limiter.hpp
#include <tollgate/policy/default_policies.hpp>

using namespace tollgate;

struct own_limiter : unlimited {
#if defined(TOLLGATE_MISFIT)
    limit_window windows_of(const limited_request& request) const noexcept { return {request.key, request.allowed}; }
#else
    limit_windows windows_of(const limited_request& request) const noexcept { return {{request.key, request.allowed}}; }
#endif
};

int main() {
    [[maybe_unused]] const auto policies = default_policies().with_limiter(own_limiter{});
}

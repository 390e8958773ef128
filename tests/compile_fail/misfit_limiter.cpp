// expect: tollgate: this is no rate_limiter; read tollgate/contract/rate_limiter.hpp
#include <tollgate/policy/default_policies.hpp>

using namespace tollgate;

struct own_limiter {
    verdict take(const limit_key&, const quota&, instant) noexcept { return {}; }
#if !defined(TOLLGATE_MISFIT)
    verdict peek(const limit_key&, const quota&, instant) noexcept { return {}; }
#endif
};

int main() {
    [[maybe_unused]] const auto policies = default_policies().with_limiter(own_limiter{});
}

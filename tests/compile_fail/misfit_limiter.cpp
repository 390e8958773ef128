// expect: tollgate: this does not satisfy rate_limiter; read tollgate/contract/rate_limiter.hpp
// misfit 1 names peek: tollgate: this does not satisfy rate_limiter; read tollgate/contract/rate_limiter.hpp
// misfit 2 names peek: tollgate: this does not satisfy rate_limiter; read tollgate/contract/rate_limiter.hpp
// misfit 3 names peek: tollgate: this does not satisfy rate_limiter; read tollgate/contract/rate_limiter.hpp
#include <tollgate/policy/default_policies.hpp>

using namespace tollgate;

struct own_limiter {
    limit_decision take(const limit_key&, const quota&, instant) noexcept { return {}; }
#if !defined(TOLLGATE_MISFIT)
    limit_decision peek(const limit_key&, const quota&, instant) noexcept { return {}; }
#elif TOLLGATE_MISFIT == 1
    limit_decision peak(const limit_key&, const quota&, instant) noexcept { return {}; }
#elif TOLLGATE_MISFIT == 2
    bool peek(const limit_key&, const quota&, instant) noexcept { return {}; }
#else
    limit_decision peek(const limit_key&, const quota&, instant) { return {}; }
#endif
};

int main() {
    [[maybe_unused]] const auto policies = default_policies().with_limiter(own_limiter{});
}

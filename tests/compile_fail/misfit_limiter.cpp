// expect: tollgate: this does not satisfy rate_limiter; read tollgate/contract/rate_limiter.hpp
// misfit 1 names peek: tollgate: this does not satisfy rate_limiter; read tollgate/contract/rate_limiter.hpp
// misfit 2 names peek: tollgate: this does not satisfy rate_limiter; read tollgate/contract/rate_limiter.hpp
// misfit 3 names peek: tollgate: this does not satisfy rate_limiter; read tollgate/contract/rate_limiter.hpp
// misfit 4 names may_block: tollgate: may_block is a public const noexcept function that returns bool; read tollgate/base/blocking.hpp
// misfit 5 names try_take: tollgate: try_take of a limiter is noexcept and returns std::optional<limit_decision>; read tollgate/contract/rate_limiter.hpp
// misfit 6 names may_block: tollgate: may_block is a public const noexcept function that returns bool; read tollgate/base/blocking.hpp
// misfit 7 names try_peek: tollgate: try_peek of a limiter is noexcept and returns std::optional<limit_decision>; read tollgate/contract/rate_limiter.hpp
#include <tollgate/policy/default_policies.hpp>

using namespace tollgate;

struct own_limiter {
    limit_decision take(const limit_key&, const quota&, instant) noexcept { return {}; }
#if TOLLGATE_MISFIT == 4
    bool may_block() const { return true; }
#elif TOLLGATE_MISFIT == 5
    std::optional<limit_decision> try_take(const limit_key&, const quota&, instant) { return {}; }
#endif
#if TOLLGATE_MISFIT == 6
private:
    bool may_block() const noexcept { return true; }

public:
#elif TOLLGATE_MISFIT == 7
    std::optional<limit_decision> try_peek(const auto&, const quota&, instant) { return {}; }
#endif
#if !defined(TOLLGATE_MISFIT) || TOLLGATE_MISFIT > 3
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

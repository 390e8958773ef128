#pragma once

#include <tollgate/contract/rate_limiter.hpp>

namespace tollgate {

/// Admits everything: for an API behind a gateway that counts already. The fields say that the whole window remains.
struct unlimited {
    [[nodiscard]] constexpr verdict take(const limit_key& key, const quota& allowed, instant now) const noexcept {
        return peek(key, allowed, now);
    }
    [[nodiscard]] constexpr verdict peek(const limit_key&, const quota& allowed, instant now) const noexcept {
        return {true, allowed.requests, allowed.requests, now + allowed.window};
    }
};

static_assert(rate_limiter<unlimited>);

}  // namespace tollgate

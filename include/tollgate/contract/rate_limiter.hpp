#pragma once

#include <tollgate/base/time.hpp>
#include <tollgate/model/quota.hpp>

#include <concepts>

namespace tollgate::inline v0 {

/// Counts requests and says when there were too many.
///
/// Thread rule: both functions may be called from many threads at once, and of requests that arrive together exactly as
/// many are admitted as there is room for. Blocking: never, unless it declares `static constexpr bool blocking = true`; of
/// those, one that blocks or not as it was set up says which: `bool may_block() const noexcept`, the same all its life; and
/// one that often need not wait may have `try_take` and `try_peek`, with the arguments of `take` and `peek`: they return
/// `std::optional<verdict>`, empty (and nothing counted) where `take` and `peek` would have to wait.
/// Nothing is thrown: a limiter that cannot count, because what it counts in is down, decides for itself whether to
/// admit.
///
/// Exemplar (`days` and `hours` are std::chrono's):
///
///     struct night_limiter {
///         window_limiter counted;
///         verdict take(const limit_key& key, quota allowed, instant now) noexcept {
///             return counted.take(key, at_night(now) ? quota{allowed.requests * 10, allowed.window} : allowed, now);
///         }
///         verdict peek(const limit_key& key, quota allowed, instant now) noexcept {
///             return counted.peek(key, at_night(now) ? quota{allowed.requests * 10, allowed.window} : allowed, now);
///         }
///         static bool at_night(instant now) noexcept { return now.time_since_epoch() % days{1} < hours{6}; }
///     };
template <class L>
concept rate_limiter = requires(L& l, const limit_key& key, const quota& allowed, instant now) {
    // Counts one request against `key` if `allowed` has room for it; a refused request is not counted. `allowed` is
    // what holds at this moment: a quota that was raised since the last call counts at once. `now` may go backwards.
    { l.take(key, allowed, now) } noexcept -> std::same_as<verdict>;
    // What `take` would say of the next request, and how much remains now; counts nothing.
    { l.peek(key, allowed, now) } noexcept -> std::same_as<verdict>;
};

}  // namespace tollgate

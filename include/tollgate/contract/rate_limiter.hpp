#pragma once

#include <tollgate/base/time.hpp>
#include <tollgate/model/quota.hpp>

#include <concepts>

namespace tollgate::inline v0 {

/// Counts requests and decides which are admitted.
///
/// Thread rule: both functions may be called from many threads at once; simultaneous requests are admitted exactly as
/// often as the quota allows. Never throws: a limiter that cannot count, because its server is down, decides by itself
/// whether to admit.
///
/// Blocking: never, unless it declares `static constexpr bool blocking = true`. If that depends on its settings, it
/// also has `bool may_block() const noexcept`, constant during its life. If it can often decide without waiting, it may
/// also have `try_take` and `try_peek` with the arguments of `take` and `peek`: they return `std::optional<verdict>`,
/// empty (with nothing counted) where `take` and `peek` would wait.
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
    // Counts one request against `key` if `allowed` permits it; a refused request is not counted. `allowed` is the
    // current quota: a changed one applies at once. `now` may go backwards.
    { l.take(key, allowed, now) } noexcept -> std::same_as<verdict>;
    // What `take` would return for the next request, with what remains now; counts nothing.
    { l.peek(key, allowed, now) } noexcept -> std::same_as<verdict>;
};

}  // namespace tollgate

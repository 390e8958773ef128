#pragma once
#ifndef TOLLGATE_CONTRACT_RATE_LIMITER_HPP
#define TOLLGATE_CONTRACT_RATE_LIMITER_HPP

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/model/detail/caller.hpp>
#include <tollgate/model/quota.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>

namespace tollgate::inline v0 {

/// Counts requests and decides which are admitted.
///
/// Thread rule: both functions may be called from many threads at once; simultaneous requests are admitted exactly as
/// often as the quota allows. Never throws: a limiter that cannot count, for example because its server is down,
/// decides by itself whether to admit.
///
/// Blocking: never, unless it declares `static constexpr bool blocking = true`. If blocking depends on its settings, it also has
/// `bool may_block() const noexcept`, constant during its life. If it can often decide without waiting, it may also have `try_take` and
/// `try_peek` with the arguments of `take` and `peek`: they return `std::optional<limit_decision>`, empty (with nothing counted) where
/// `take` and `peek` would wait.
///
/// A limiter with a member `windows_of` chooses the windows of each request: `request_limiter`.
///
/// Exemplar (`days` and `hours` are std::chrono's):
///
///     struct night_limiter {
///         window_limiter counted;
///         limit_decision take(const limit_key& key, quota allowed, instant now) noexcept {
///             return counted.take(key, at_night(now) ? quota{allowed.requests * 10, allowed.window} : allowed, now);
///         }
///         limit_decision peek(const limit_key& key, quota allowed, instant now) noexcept {
///             return counted.peek(key, at_night(now) ? quota{allowed.requests * 10, allowed.window} : allowed, now);
///         }
///         static bool at_night(instant now) noexcept { return now.time_since_epoch() % days{1} < hours{6}; }
///     };
template <class L>
concept rate_limiter = requires(L& l, const limit_key& key, const quota& allowed, instant now) {
    // Counts one request against `key` if `allowed` permits it; a refused request is not counted. `allowed` is the
    // current quota: a changed one applies at once. `now` may go backwards.
    { l.take(key, allowed, now) } noexcept -> std::same_as<limit_decision>;
    // What `take` would return for the next request, except that `remaining` is what is left now; counts nothing.
    { l.peek(key, allowed, now) } noexcept -> std::same_as<limit_decision>;
};

/// What a `request_limiter` knows about a request of the API. Views: valid during the call.
struct limited_request {
    limit_key key;                         ///< what the request counts against by default: the user, or the client's address
    quota allowed;                         ///< the default: the user's own quota, or the one of the settings
    std::string_view route;                ///< the pattern, such as `/{service}/accounts`; empty for a path without a route
    http::method method{};
    const tollgate::caller* caller = nullptr;  ///< null without valid credentials; names user, scopes and OAuth application
    ip_address client{};                   ///< the client's address
    instant now{};
};

/// One window of a request.
struct limit_window {
    limit_key key = limit_key::of(ip_address{});
    quota allowed{};
};

/// The windows that a request counts in: none to four.
class limit_windows {
public:
    static constexpr std::size_t count_max = 4;  // in a shared limiter, each is a round trip

    /// None: the request is admitted and not counted.
    constexpr limit_windows() noexcept = default;
    /// These: `return {{request.key, request.allowed}, {request.key.in("exports"), {10, minutes{1}}}};`
    constexpr limit_windows(limit_window first) noexcept : all_{first}, count_{1} {}
    constexpr limit_windows(limit_window first, limit_window second) noexcept : all_{first, second}, count_{2} {}
    constexpr limit_windows(limit_window first, limit_window second, limit_window third) noexcept
        : all_{first, second, third}, count_{3} {}
    constexpr limit_windows(limit_window first, limit_window second, limit_window third, limit_window fourth) noexcept
        : all_{first, second, third, fourth}, count_{4} {}

    /// Adds one. Returns false and changes nothing if there are `count_max`.
    constexpr bool add(const limit_window& one) noexcept {
        if (count_ == count_max) return false;
        all_[count_++] = one;
        return true;
    }

    /// The windows, in the order in which they were added.
    [[nodiscard]] constexpr const limit_window* begin() const noexcept { return all_; }
    [[nodiscard]] constexpr const limit_window* end() const noexcept { return all_ + count_; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return count_; }

private:
    limit_window all_[count_max]{};
    std::size_t count_ = 0;
};

/// A `rate_limiter` that sees each request of the API, and names the windows in which it counts.
///
/// A request is admitted, and counts in all its windows, if each has capacity left; otherwise it counts in none and gets a 429.
/// (Of requests that compete for the last unit of one window, a refused one may have been counted in another.) A 429 has the fields of the
/// window that refuses for the longest time; any other response has those of the window with the fewest requests left.
///
/// Exemplar (`minutes` is std::chrono's):
///
///     struct export_limiter {
///         window_limiter counted;
///         limit_decision take(const limit_key& key, quota allowed, instant now) noexcept { return counted.take(key, allowed, now); }
///         limit_decision peek(const limit_key& key, quota allowed, instant now) noexcept { return counted.peek(key, allowed, now); }
///         limit_windows windows_of(const limited_request& request) const noexcept {
///             if (request.route != "/{service}/export") return {{request.key, request.allowed}};
///             return {{request.key, request.allowed}, {request.key.in("exports"), {10, minutes{1}}}};
///         }
///     };
template <class L>
concept request_limiter = rate_limiter<L> && requires(L& l, const limited_request& request) {
    // The windows of this request. Called from many threads at once, and twice for some requests: on the thread that read the request, and
    // again on a worker if counting has to wait. Both calls must return the same windows. Never waits.
    { l.windows_of(request) } noexcept -> std::same_as<limit_windows>;
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_RATE_LIMITER_HPP

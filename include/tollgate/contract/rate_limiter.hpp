#pragma once
#ifndef TOLLGATE_CONTRACT_RATE_LIMITER_HPP
#define TOLLGATE_CONTRACT_RATE_LIMITER_HPP

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/detail/member_names.hpp>
#include <tollgate/contract/detail/reference.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/model/caller.hpp>
#include <tollgate/model/quota.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>

namespace tollgate::inline v0 {

/// Counts requests and decides which are admitted.
///
/// Thread rule: both functions may be called from many threads at once. Of simultaneous requests, exactly as many are admitted as the quota
/// allows. Nothing is thrown: a limiter that cannot count, for example because its server is down, decides by itself to admit or to refuse.
///
/// Blocking: allowed. A limiter that does not block declares `static constexpr bool blocking = false`; see `may_block`. A limiter that can
/// often decide without waiting may also have `try_take` and `try_peek` with the arguments of `take` and `peek`. They return
/// `std::optional<limit_decision>`, which is empty (with nothing counted) where `take` and `peek` would wait.
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
    // Counts a request against `key` if `allowed` permits it; a refused request is not counted. `allowed` is the current quota: a changed
    // quota applies at once. `now` may go backwards.
    { l.take(key, allowed, now) } noexcept -> std::same_as<limit_decision>;
    // Returns the decision that `take` would return for the next request, except that `remaining` is the present number. Counts nothing.
    { l.peek(key, allowed, now) } noexcept -> std::same_as<limit_decision>;
};

/// The properties of an API request that a `request_limiter` can use. The views are valid during the call.
struct limited_request {
    limit_key key;                         ///< the key under which the request counts by default: the user, or the client's address
    quota allowed;                         ///< the default quota: the user's own, or the quota of the settings
    std::string_view route;                ///< the pattern, such as `/{service}/accounts`; empty for a path without a route
    http::method method{};
    const tollgate::caller* caller = nullptr;  ///< null without valid credentials; names user, scopes and OAuth application
    ip_address client{};                   ///< the client's address
    instant now{};
};

/// A window in which a request counts.
struct limit_window {
    limit_key key = limit_key::of(ip_address{});
    quota allowed{};
};

/// The windows in which a request counts: none to four.
class limit_windows {
public:
    static constexpr std::size_t count_max = 4;  // in a shared limiter, each is a round trip

    /// Constructs an empty list: the request is admitted and not counted.
    constexpr limit_windows() noexcept = default;
    /// Constructs a list of one to four windows: `return {{request.key, request.allowed}, {request.key.in("exports"), {10, minutes{1}}}};`
    constexpr limit_windows(limit_window first) noexcept : all_{first}, count_{1} {}
    constexpr limit_windows(limit_window first, limit_window second) noexcept : all_{first, second}, count_{2} {}
    constexpr limit_windows(limit_window first, limit_window second, limit_window third) noexcept
        : all_{first, second, third}, count_{3} {}
    constexpr limit_windows(limit_window first, limit_window second, limit_window third, limit_window fourth) noexcept
        : all_{first, second, third, fourth}, count_{4} {}

    /// Adds a window. Returns false and changes nothing if there are `count_max` windows.
    constexpr bool add(const limit_window& one) noexcept {
        if (count_ == count_max) return false;
        all_[count_++] = one;
        return true;
    }

    /// Each gives access to the windows, in the order in which they were added.
    [[nodiscard]] constexpr const limit_window* begin() const noexcept { return all_; }
    [[nodiscard]] constexpr const limit_window* end() const noexcept { return all_ + count_; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return count_; }

private:
    limit_window all_[count_max]{};
    std::size_t count_ = 0;
};

/// A `rate_limiter` that receives each request of the API and chooses the windows in which the request counts.
///
/// A request is admitted, and counts in all its windows, if each has capacity left; otherwise it counts in none and gets a 429. (Of
/// requests that compete for the last unit of a window, a refused request may have been counted in another window.) A 429 has the fields of
/// the window that refuses for the longest time; any other response has the fields of the window with the fewest requests left.
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
    // Returns the windows of this request. Called from many threads at once, and twice for some requests: on the thread that read the
    // request, and again on a worker if counting has to wait. Both calls must return the same windows. Never waits.
    { l.windows_of(request) } noexcept -> std::same_as<limit_windows>;
};

namespace detail {

struct rate_limiter_calls {
    limit_decision (*take)(void*, const limit_key&, const quota&, instant) noexcept;
    limit_decision (*peek)(void*, const limit_key&, const quota&, instant) noexcept;
    // null if the object has no such function
    std::optional<limit_decision> (*try_take)(void*, const limit_key&, const quota&, instant) noexcept;
    // null if the object has no such function
    std::optional<limit_decision> (*try_peek)(void*, const limit_key&, const quota&, instant) noexcept;
    limit_windows (*windows_of)(void*, const limited_request&) noexcept;  // null if the object has no such function
};

template <class T>
struct calls_of_rate_limiter {
    static limit_decision take(void* object, const limit_key& key, const quota& allowed, instant now) noexcept {
        return object_at<T>(object).take(key, allowed, now);
    }
    static limit_decision peek(void* object, const limit_key& key, const quota& allowed, instant now) noexcept {
        return object_at<T>(object).peek(key, allowed, now);
    }
    static std::optional<limit_decision> try_take(void* object, const limit_key& key, const quota& allowed, instant now) noexcept {
        return object_at<T>(object).try_take(key, allowed, now);
    }
    static std::optional<limit_decision> try_peek(void* object, const limit_key& key, const quota& allowed, instant now) noexcept {
        return object_at<T>(object).try_peek(key, allowed, now);
    }
    static limit_windows windows_of(void* object, const limited_request& request) noexcept {
        return object_at<T>(object).windows_of(request);
    }

    static consteval rate_limiter_calls make_table() {
        rate_limiter_calls calls{&take, &peek, nullptr, nullptr, nullptr};
        if constexpr (requires(T& limiter, const limit_key& key, const quota& allowed, instant now) {
                          limiter.try_take(key, allowed, now); limiter.try_peek(key, allowed, now); }) {
            calls.try_take = &try_take;
            calls.try_peek = &try_peek;
        }
        if constexpr (request_limiter<T>) calls.windows_of = &windows_of;
        return calls;
    }
    static constexpr rate_limiter_calls table = make_table();
};

}  // namespace detail

/// A reference to a `rate_limiter` of any class, or to no object. The object must outlive the reference. The contract states the thread
/// rule and the errors.
class rate_limiter_ref : public detail::reference<detail::rate_limiter_calls> {
public:
    rate_limiter_ref() noexcept = default;
    /// Constructs a reference to `object`.
    template <class T>
        requires detail::is_erasable<T, rate_limiter_ref>
    rate_limiter_ref(T& object) noexcept {
        static_assert(rate_limiter<T>, "tollgate: this does not satisfy rate_limiter; read tollgate/contract/rate_limiter.hpp");
        if constexpr (rate_limiter<T>) {
            using decision = std::optional<limit_decision>;
            static_assert(!detail::names_try_take<T> ||
                              requires(T& limiter, const limit_key& key, const quota& allowed, instant now) {
                                  { limiter.try_take(key, allowed, now) } noexcept -> std::same_as<decision>; },
                          "tollgate: try_take of a limiter is noexcept and returns std::optional<limit_decision>; "
                          "read tollgate/contract/rate_limiter.hpp");
            static_assert(!detail::names_try_peek<T> ||
                              requires(T& limiter, const limit_key& key, const quota& allowed, instant now) {
                                  { limiter.try_peek(key, allowed, now) } noexcept -> std::same_as<decision>; },
                          "tollgate: try_peek of a limiter is noexcept and returns std::optional<limit_decision>; "
                          "read tollgate/contract/rate_limiter.hpp");
            static_assert(request_limiter<T> || !detail::names_windows_of<T>,
                          "tollgate: a member named windows_of exists, but this does not satisfy request_limiter; "
                          "read tollgate/contract/rate_limiter.hpp");
            refer_to(object, detail::calls_of_rate_limiter<T>::table);
        }
    }

    /// Each calls the object's function of this name; see `rate_limiter`.
    [[nodiscard]] limit_decision take(const limit_key& key, const quota& allowed, instant now) const noexcept {
        return calls_->take(object_, key, allowed, now);
    }
    [[nodiscard]] limit_decision peek(const limit_key& key, const quota& allowed, instant now) const noexcept {
        return calls_->peek(object_, key, allowed, now);
    }

    /// Returns the decision of `take` or `peek` if it is possible without waiting. Otherwise returns an empty optional and counts nothing.
    [[nodiscard]] std::optional<limit_decision> try_take(const limit_key& key, const quota& allowed, instant now) const noexcept {
        if (!may_block()) return take(key, allowed, now);
        if (calls_->try_take == nullptr) return std::nullopt;
        return calls_->try_take(object_, key, allowed, now);
    }
    [[nodiscard]] std::optional<limit_decision> try_peek(const limit_key& key, const quota& allowed, instant now) const noexcept {
        if (!may_block()) return peek(key, allowed, now);
        if (calls_->try_peek == nullptr) return std::nullopt;
        return calls_->try_peek(object_, key, allowed, now);
    }

    /// Returns true if the object is a `request_limiter`.
    [[nodiscard]] bool chooses_windows() const noexcept { return calls_->windows_of != nullptr; }
    /// Calls the object's function of this name. Precondition: chooses_windows().
    [[nodiscard]] limit_windows windows_of(const limited_request& request) const noexcept {
        return calls_->windows_of(object_, request);
    }
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_RATE_LIMITER_HPP

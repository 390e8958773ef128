#pragma once
#ifndef TOLLGATE_LIMITS_DETAIL_WINDOW_SET_HPP
#define TOLLGATE_LIMITS_DETAIL_WINDOW_SET_HPP

#include <tollgate/base/detail/hash.hpp>
#include <tollgate/model/quota.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

/// The counting tables of `window_limiter` and `sign_in_throttle`.
namespace tollgate::inline v0::detail {

/// The window of one key.
struct counted_window {
    std::int64_t began_at_milliseconds;
    std::uint32_t requests;  ///< 0 in a free slot
    std::uint32_t length_seconds;

    /// The start of the window. If the clock went back, a start after `now` is treated as `now`, so that no
    /// caller waits longer than one window.
    [[nodiscard]] std::int64_t began_by(std::int64_t now) const noexcept {
        return (std::min)(began_at_milliseconds, now);
    }

    [[nodiscard]] bool is_open(std::int64_t now, std::uint32_t seconds) const noexcept {
        return requests != 0 && now < began_by(now) + std::int64_t{seconds} * 1000;
    }

    /// The requests that would be forgotten if this window were replaced.
    [[nodiscard]] std::uint32_t worth(std::int64_t now) const noexcept {
        return is_open(now, length_seconds) ? requests : 0;
    }
};

/// Three cache lines. The first holds all keys, so a lookup touches two.
struct alignas(64) window_set {
    static constexpr std::size_t ways = 8;
    std::uint64_t keys[ways];
    counted_window windows[ways];

    /// The slot of the key; `ways` if it has none.
    [[nodiscard]] std::size_t find(std::uint64_t key) const noexcept {
        std::size_t place = 0;
        while (place < ways && (keys[place] != key || windows[place].requests == 0)) ++place;
        return place;
    }

    /// The slot to replace: free or expired, else with the fewest requests, and of equals the oldest.
    [[nodiscard]] std::size_t least_worth(std::int64_t now) const noexcept {
        std::size_t least = 0;
        for (std::size_t place = 1; place < ways; ++place) {
            const auto worth = windows[place].worth(now);
            const auto least_so_far = windows[least].worth(now);
            if (worth < least_so_far || (worth == least_so_far &&
                                         windows[place].began_at_milliseconds < windows[least].began_at_milliseconds))
                least = place;
        }
        return least;
    }
};
static_assert(sizeof(window_set) == 192);

/// A quota with its window in 32 bits.
struct bounded_quota {
    std::uint32_t requests;
    std::uint32_t window_seconds;

    explicit bounded_quota(const quota& allowed) noexcept
        : requests{allowed.requests},
          window_seconds{static_cast<std::uint32_t>(allowed.bounded_window().count())} {}

    /// The end of a window that began at this time, in milliseconds.
    [[nodiscard]] std::int64_t end_of(std::int64_t began_at) const noexcept { return began_at + std::int64_t{window_seconds} * 1000; }

    [[nodiscard]] limit_decision to_decision(bool admitted, std::uint32_t counted, std::int64_t began_at) const noexcept {
        return {admitted, requests, counted < requests ? requests - counted : 0, from_unix_milliseconds(end_of(began_at))};
    }
};

}  // namespace tollgate::detail

#endif  // TOLLGATE_LIMITS_DETAIL_WINDOW_SET_HPP

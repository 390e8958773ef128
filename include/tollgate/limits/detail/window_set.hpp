#pragma once

#include <tollgate/base/detail/hash.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/base/system_sources.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

/// What `window_limiter` and `sign_in_throttle` count in.
namespace tollgate::inline v0::detail {

/// What is counted for one key.
struct counted_window {
    std::int64_t began_at_milliseconds;
    std::uint32_t requests;  ///< 0 for a place that is free
    std::uint32_t length_seconds;

    /// One that begins after `now`, because the clock went back, is taken to begin now: nobody waits longer than that.
    [[nodiscard]] std::int64_t began_by(std::int64_t now) const noexcept {
        return (std::min)(began_at_milliseconds, now);
    }

    [[nodiscard]] bool is_open(std::int64_t now, std::uint32_t seconds) const noexcept {
        return requests != 0 && now < began_by(now) + std::int64_t{seconds} * 1000;
    }

    /// What would be lost by forgetting it.
    [[nodiscard]] std::uint32_t worth(std::int64_t now) const noexcept {
        return is_open(now, length_seconds) ? requests : 0;
    }
};

/// Three cache lines, of which the first holds all keys: finding one touches two.
struct alignas(64) window_set {
    static constexpr std::size_t ways = 8;
    std::uint64_t keys[ways];
    counted_window windows[ways];

    /// The key's own place; `ways` if it has none.
    [[nodiscard]] std::size_t find(std::uint64_t key) const noexcept {
        std::size_t place = 0;
        while (place < ways && (keys[place] != key || windows[place].requests == 0)) ++place;
        return place;
    }

    /// The place whose loss matters least: free or over, else fewest requests, of equals the oldest.
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

/// A quota in numbers that cannot overflow a moment: a window of more than a century is one of a century.
struct bounded_quota {
    std::uint32_t requests;
    std::uint32_t window_seconds;

    explicit bounded_quota(const quota& allowed) noexcept
        : requests{allowed.requests},
          window_seconds{
              static_cast<std::uint32_t>(std::clamp<std::int64_t>(allowed.window.count(), 0, 36525LL * 86400))} {}

    [[nodiscard]] verdict judge(bool admitted, std::uint32_t counted, std::int64_t began_at) const noexcept {
        return {admitted, requests, counted < requests ? requests - counted : 0,
                from_unix_milliseconds(began_at + std::int64_t{window_seconds} * 1000)};
    }
};

inline siphash_key random_siphash_key() {
    std::array<std::byte, sizeof(siphash_key)> bytes;
    if (!system_random{}.fill(bytes)) throw std::runtime_error{"OpenSSL gives no random bytes"};
    return std::bit_cast<siphash_key>(bytes);
}

}  // namespace tollgate::detail

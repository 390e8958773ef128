#pragma once
#ifndef TOLLGATE_WEB_SIGN_IN_THROTTLE_HPP
#define TOLLGATE_WEB_SIGN_IN_THROTTLE_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/hash.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/limits/detail/window_set.hpp>
#include <tollgate/model/quota.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// The number of failed sign-ins that are allowed in a window. Following OWASP and NIST (SP 800-63B section 5.2.2), guessing is slowed down
/// without letting others lock out a user, so the main bound is per login and address.
struct sign_in_bounds {
    quota login_at_address{10, std::chrono::minutes{15}};
    quota address{100, std::chrono::minutes{15}};  ///< an address, for all logins: one password tried with many logins
    quota login{1000, std::chrono::hours{1}};      ///< a login, for all addresses: distributed guessing
    // IPv6 networks are counted as well, because their owners can use all addresses. The bound of a /48 is far below `login`.
    quota login_at_site{20, std::chrono::minutes{15}};     ///< a login from an IPv6 /56
    quota login_at_network{50, std::chrono::minutes{15}};  ///< a login from an IPv6 /48
    quota site{200, std::chrono::minutes{15}};             ///< an IPv6 /56, for all logins
    quota network{500, std::chrono::minutes{15}};          ///< an IPv6 /48, for all logins
    quota login_on_browser{10, std::chrono::minutes{15}};  ///< a browser that has signed in with this login before
    /// All such browsers together, because somebody who knew the password before it was changed may have any number of them.
    quota login_on_browsers{100, std::chrono::hours{1}};
};

/// The number of keys that each table holds, rounded up to a power of two. A key takes 24 bytes: 384 KiB for each default.
struct sign_in_capacity {
    std::size_t logins_at_addresses = std::size_t{1} << 14;
    std::size_t addresses = std::size_t{1} << 14;
    std::size_t logins = std::size_t{1} << 14;
};

/// The keys by which an attempt is counted.
struct sign_in_key {
    /// The login that was entered. It need not exist. ASCII case is ignored.
    std::string_view login;
    ip_address client;  ///< an IPv6 address counts by its /64, /56 and /48
    /// The number of a browser that has signed in with this login before (OWASP, "device cookies"); 0 for any other browser. Attempts of
    /// such browsers are counted by themselves, so that others cannot lock them out.
    std::uint64_t browser = 0;
};

namespace detail {

/// Counts failures by key, in sets of eight keys like those of `window_limiter`.
class failure_table {
public:
    explicit failure_table(std::size_t keys_max)
        : sets_(std::bit_ceil(((std::max)(keys_max, std::size_t{1}) - 1) / window_set::ways + 1)) {}

    /// Returns when attempts for this key are allowed again, in milliseconds since 1970, or an empty optional if they are allowed now.
    [[nodiscard]] std::optional<std::int64_t> full_until(std::uint64_t key, const bounded_quota& allowed,
                                                         std::int64_t now) noexcept {
        const std::int64_t length = std::int64_t{allowed.window_seconds} * 1000;
        const auto* const window = find_open(key, allowed, now);
        if (allowed.requests == 0) return now + length;
        if (window == nullptr || window->requests < allowed.requests) return std::nullopt;
        return window->began_by(now) + length;
    }

    void count(std::uint64_t key, const bounded_quota& allowed, std::int64_t now) noexcept {
        if (auto* const window = find_open(key, allowed, now)) {
            window->began_at_milliseconds = window->began_by(now);
            ++window->requests;
            return;
        }
        window_set& set = set_of(key);
        std::size_t place = set.find(key);
        if (place == window_set::ways) place = set.least_worth(now);
        set.keys[place] = key;
        set.windows[place] = {now, 1, allowed.window_seconds};
    }

    void count_back(std::uint64_t key, const bounded_quota& allowed, std::int64_t now) noexcept {
        if (auto* const window = find_open(key, allowed, now); window != nullptr && window->requests != 0)
            --window->requests;
    }

    void forget(std::uint64_t key, const bounded_quota& allowed, std::int64_t now) noexcept {
        if (auto* const window = find_open(key, allowed, now)) window->requests = 0;
    }

    [[nodiscard]] std::size_t memory_bytes() const noexcept { return sets_.size() * sizeof(window_set); }

private:
    /// The key is a keyed hash, so its low bits are uniformly distributed.
    [[nodiscard]] window_set& set_of(std::uint64_t key) noexcept {
        return sets_[key & (sets_.size() - 1)];
    }

    [[nodiscard]] counted_window* find_open(std::uint64_t key, const bounded_quota& allowed,
                                            std::int64_t now) noexcept {
        window_set& set = set_of(key);
        const std::size_t place = set.find(key);
        if (place == window_set::ways || !set.windows[place].is_open(now, allowed.window_seconds)) return nullptr;
        return &set.windows[place];
    }

    std::vector<window_set> sets_;
};

}  // namespace detail

/// Counts failed sign-ins in fixed windows that begin with the first failure, and refuses attempts after too many.
///
/// An attempt counts as a failure from `begin` until `succeed` or `forgive`, so that parallel guesses are bounded like
/// sequential ones.
///
/// **Memory** is bounded and never grows. When a table is full, the keys with the fewest failures are removed, which allows too many
/// attempts, never too few. **Threads**: any number. One lock is held for some dozen instructions, where the hash that follows takes a
/// hundred thousand times as long.
class sign_in_throttle {
public:
    /// Constructs a throttle with a seed from OpenSSL. Throws std::runtime_error if OpenSSL has no random bytes.
    TOLLGATE_DECL explicit sign_in_throttle(const sign_in_bounds& bounds = {}, const sign_in_capacity& capacity = {});
    /// Constructs a throttle with `seed`, which must be secret. Use a fixed seed only in tests.
    TOLLGATE_DECL sign_in_throttle(const sign_in_bounds& bounds, const sign_in_capacity& capacity,
                                   const detail::siphash_key& seed);

    /// Begins an attempt. Returns an empty optional if the attempt is allowed; it is then counted. Otherwise returns the time to wait, at
    /// least one second, and counts nothing.
    [[nodiscard]] TOLLGATE_DECL std::optional<seconds> begin(const sign_in_key& key, instant now) noexcept;
    /// Ends an attempt that succeeded: this login's failures at this address are removed. Other logins' failures at this address stay,
    /// because otherwise the owner of one login could guess without a bound.
    TOLLGATE_DECL void succeed(const sign_in_key& key, instant now) noexcept;
    /// Ends an attempt that could not be checked. It is not counted.
    TOLLGATE_DECL void forgive(const sign_in_key& key, instant now) noexcept;

    /// Returns the size of all tables in bytes, which does not change.
    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        return logins_at_addresses_.memory_bytes() + addresses_.memory_bytes() + logins_.memory_bytes();
    }

private:
    struct counter {
        detail::failure_table* table = nullptr;
        std::uint64_t key = 0;
        detail::bounded_quota allowed{quota{}};
    };
    struct counter_list {
        std::array<counter, 7> all{};
        std::size_t size = 0;
        [[nodiscard]] std::span<const counter> used() const noexcept { return {all.data(), size}; }
    };
    [[nodiscard]] TOLLGATE_DECL counter_list counters_of(const sign_in_key& key) noexcept;

    detail::siphash_key seed_;
    sign_in_bounds bounds_;
    std::mutex mutex_;
    detail::failure_table logins_at_addresses_;
    detail::failure_table addresses_;
    detail::failure_table logins_;
};

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/web/sign_in_throttle.ipp>
#endif

#endif  // TOLLGATE_WEB_SIGN_IN_THROTTLE_HPP

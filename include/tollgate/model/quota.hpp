#pragma once
#ifndef TOLLGATE_MODEL_QUOTA_HPP
#define TOLLGATE_MODEL_QUOTA_HPP

#include <tollgate/base/ids.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/time.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace tollgate::inline v0 {

/// A limit of `requests` within a window.
struct quota {
    std::uint32_t requests = 0;  ///< 0 refuses every request, also without a window
    seconds window{0};  ///< 0 or less: requests are not limited. A setting that has `requests` but no window is refused.

    /// The longest window. A longer window counts as this, so that its end does not overflow.
    static constexpr seconds window_max = std::chrono::days{36'525};
    /// Returns the window within its bounds.
    [[nodiscard]] constexpr seconds bounded_window() const noexcept { return std::clamp(window, seconds{0}, window_max); }

    friend constexpr bool operator==(const quota&, const quota&) noexcept = default;
};

/// The default quotas of a client address without credentials, and of a user.
inline constexpr quota default_anonymous_quota{60, std::chrono::hours{1}};
inline constexpr quota default_user_quota{1000, std::chrono::hours{24}};

/// The kind of a limit key: requests are counted by user or by address.
enum class limit_kind : std::uint8_t { user, address };

/// The key under which a request is counted: a user, regardless of the token, or a client's address.
///
/// An IPv6 address counts by its /64, the usual assignment to one household or machine. An IPv4 address is packed into
/// a prefix in 0000::/8 (RFC 4291 section 2.4), which no client uses.
class limit_key {
public:
    /// Returns the key of a user, or of a client's address (an IPv6 address counts by its /64).
    static constexpr limit_key of(user_id user) noexcept {
        return {limit_kind::user, static_cast<std::uint64_t>(user.value())};
    }
    static constexpr limit_key of(const ip_address& client) noexcept;

    /// Returns the key of a separate window for the same user or address, apart from the window of all requests and from the windows of
    /// other names: `limit_key::of(user).in("exports")`. The name is hashed to 64 bits, so that any length costs the same to store.
    [[nodiscard]] constexpr limit_key in(std::string_view window) const noexcept;

    /// Returns the kind of the key.
    [[nodiscard]] constexpr limit_kind kind() const noexcept { return kind_; }
    /// Returns a number that is unique among keys of one kind.
    [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }

    friend constexpr bool operator==(const limit_key&, const limit_key&) noexcept = default;

private:
    constexpr limit_key(limit_kind kind, std::uint64_t value) noexcept : kind_{kind}, value_{value} {}

    limit_kind kind_;
    std::uint64_t value_;
};

/// A limiter's decision about one request, with the values of `X-RateLimit-*`.
struct limit_decision {
    bool admitted = false;
    std::uint32_t limit = 0;  ///< requests per window
    std::uint32_t remaining = 0;  ///< requests left in the window after this request
    instant resets_at{};  ///< end of the window; for a key without a window, the end of a window that starts now

    /// Returns the decision for a window that starts now and in which nothing is counted.
    [[nodiscard]] static constexpr limit_decision unused(const quota& allowed, instant now) noexcept {
        return {true, allowed.requests, allowed.requests, now + allowed.bounded_window()};
    }
};

constexpr limit_key limit_key::of(const ip_address& client) noexcept {
    const auto& bytes = client.bytes();
    const auto big_endian = [&bytes](std::size_t first, std::size_t count) {
        std::uint64_t value = 0;
        for (std::size_t i = first; i < first + count; ++i) value = value << 8 | bytes[i];
        return value;
    };
    constexpr std::uint64_t ipv4_prefix = 0x0000'ffff'0000'0000;
    return {limit_kind::address, client.is_v4() ? ipv4_prefix | big_endian(12, 4) : big_endian(0, 8)};
}

constexpr limit_key limit_key::in(std::string_view window) const noexcept {
    std::uint64_t hash = 14695981039346656037U;  // FNV-1a, then the finalizer of MurmurHash3 over name and key
    for (char c : window) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    hash ^= value_;
    hash = (hash ^ hash >> 33) * 0xff51'afd7'ed55'8ccdU;
    hash = (hash ^ hash >> 33) * 0xc4ce'b9fe'1a85'ec53U;
    hash ^= hash >> 33;
    // The result is never a user's id, which is positive, nor a client's prefix: 0100::/8 is reserved (RFC 4291, RFC 6666).
    if (kind_ == limit_kind::user) return {kind_, hash | std::uint64_t{1} << 63};
    return {kind_, std::uint64_t{1} << 56 | hash >> 8};
}

}  // namespace tollgate

template <>
struct std::hash<tollgate::limit_key> {
    [[nodiscard]] std::size_t operator()(const tollgate::limit_key& key) const noexcept {
        return std::hash<std::uint64_t>{}(key.value()) ^ (key.kind() == tollgate::limit_kind::user ? 0 : 0x9e3779b9U);
    }
};

#endif  // TOLLGATE_MODEL_QUOTA_HPP

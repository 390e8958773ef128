#pragma once

#include <tollgate/base/ids.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/time.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace tollgate::inline v0 {

/// How much one key may ask for: `requests` within a window of this length.
struct quota {
    std::uint32_t requests = 0;
    seconds window{0};

    friend constexpr bool operator==(const quota&, const quota&) noexcept = default;
};

/// A user's own quota, as far as whoever looked up something else of theirs came by it.
struct quota_told {
    bool is_told = false;        ///< false: ask the directory
    std::optional<quota> own{};  ///< if it is told: none is the default

    friend constexpr bool operator==(const quota_told&, const quota_told&) noexcept = default;
};

enum class limit_kind : std::uint8_t { user, address };

/// Whom a request is counted against: a user, whatever token they use, or a client's address.
///
/// An IPv6 address counts by its /64, which is what one household or one rented machine has to itself. An IPv4 address
/// is packed into the place of such a prefix: it takes one out of 0000::/8 (RFC 4291 section 2.4), where no client is.
class limit_key {
public:
    static constexpr limit_key of(user_id user) noexcept {
        return {limit_kind::user, static_cast<std::uint64_t>(user.value())};
    }
    static constexpr limit_key of(const ip_address& client) noexcept;

    [[nodiscard]] constexpr limit_kind kind() const noexcept { return kind_; }
    /// Tells apart two keys of one kind.
    [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }

    friend constexpr bool operator==(const limit_key&, const limit_key&) noexcept = default;

private:
    constexpr limit_key(limit_kind kind, std::uint64_t value) noexcept : kind_{kind}, value_{value} {}

    limit_kind kind_;
    std::uint64_t value_;
};

/// What a limiter says of one request, and what the client reads in `X-RateLimit-*`.
struct verdict {
    bool admitted = false;
    std::uint32_t limit = 0;      ///< requests in a whole window
    std::uint32_t remaining = 0;  ///< what is left of them after this request
    instant resets_at{};          ///< when the window ends; for a key without one, when it would end if it began now
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

}  // namespace tollgate

template <>
struct std::hash<tollgate::limit_key> {
    [[nodiscard]] std::size_t operator()(const tollgate::limit_key& key) const noexcept {
        return std::hash<std::uint64_t>{}(key.value()) ^ (key.kind() == tollgate::limit_kind::user ? 0 : 0x9e3779b9U);
    }
};

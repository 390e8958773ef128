#pragma once
#ifndef TOLLGATE_BASE_IP_ADDRESS_HPP
#define TOLLGATE_BASE_IP_ADDRESS_HPP

#include <tollgate/base/config.hpp>

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// An IPv4 or IPv6 address as 16 bytes in network order. An IPv4 address is stored in its mapped form (RFC 4291 section 2.5.5.2), so that
/// `192.0.2.1` and its mapped form compare equal.
class ip_address {
public:
    /// Constructs `::`, which is not the address of any peer.
    constexpr ip_address() noexcept = default;

    /// Returns the IPv4 address `a.b.c.d`.
    static constexpr ip_address v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) noexcept {
        ip_address address;
        address.bytes_ = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d};
        return address;
    }
    /// Returns the address with these 16 bytes in network order.
    static constexpr ip_address from_bytes(const std::array<std::uint8_t, 16>& bytes) noexcept {
        ip_address address;
        address.bytes_ = bytes;
        return address;
    }

    /// Parses dotted decimal of four parts without leading zeros, or RFC 4291 text. Returns an empty optional for any other text, such as
    /// an address with a port, brackets or a zone.
    static TOLLGATE_DECL std::optional<ip_address> parse(std::string_view text) noexcept;

    /// Returns true for an IPv4 address, which has the mapped form.
    [[nodiscard]] constexpr bool is_v4() const noexcept {
        for (std::size_t i = 0; i < 10; ++i)
            if (bytes_[i] != 0) return false;
        return bytes_[10] == 0xff && bytes_[11] == 0xff;
    }
    /// Returns the 16 bytes in network order.
    [[nodiscard]] constexpr const std::array<std::uint8_t, 16>& bytes() const noexcept { return bytes_; }

    /// Returns the canonical text: dotted decimal for IPv4, RFC 5952 for IPv6.
    [[nodiscard]] TOLLGATE_DECL std::string to_text() const;

    friend constexpr bool operator==(const ip_address&, const ip_address&) noexcept = default;
    /// Compares the 16 bytes, for sorted containers.
    friend constexpr bool operator<(const ip_address& a, const ip_address& b) noexcept { return a.bytes_ < b.bytes_; }

private:
    std::array<std::uint8_t, 16> bytes_{};
};

/// A CIDR block such as `10.0.0.0/8` or `2001:db8::/32`; a bare address is a block of one address.
class ip_network {
public:
    /// Parses a CIDR block or an address. Returns an empty optional for any other text, including host bits that are set below the prefix
    /// (`10.0.0.1/8`), which are usually a typing error.
    static TOLLGATE_DECL std::optional<ip_network> parse(std::string_view text) noexcept;
    /// Returns the network of the addresses that share the first `prefix_bits` bits with `address`: at most 32 for IPv4 and 128 for IPv6. A
    /// larger number counts as the maximum.
    [[nodiscard]] static constexpr ip_network of(const ip_address& address, unsigned prefix_bits) noexcept {
        return address.is_v4() ? ip_network{address, 96 + (std::min)(prefix_bits, 32U)}
                               : ip_network{address, (std::min)(prefix_bits, 128U)};
    }

    /// Returns true if the address is in this network.
    [[nodiscard]] constexpr bool contains(const ip_address& address) const noexcept {
        for (unsigned bit = 0; bit < prefix_bits_; bit += 8) {
            const unsigned left = prefix_bits_ - bit;
            const unsigned mask = left >= 8 ? 0xffU : (0xffU << (8 - left)) & 0xffU;
            if (((first_.bytes()[bit / 8] ^ address.bytes()[bit / 8]) & mask) != 0) return false;
        }
        return true;
    }

private:
    constexpr ip_network(const ip_address& first, unsigned prefix_bits) noexcept : first_{first}, prefix_bits_{prefix_bits} {}

    ip_address first_;
    unsigned prefix_bits_;  // at most 128, of the 16-byte form: an IPv4 /8 is 104
};

namespace detail {

/// Returns the first address of the network whose addresses share the first `bytes_kept` bytes: 7 for an IPv6 /56.
[[nodiscard]] constexpr ip_address first_of_network(const ip_address& client, std::size_t bytes_kept) noexcept {
    auto bytes = client.bytes();
    for (std::size_t i = bytes_kept; i < bytes.size(); ++i) bytes[i] = 0;
    return ip_address::from_bytes(bytes);
}

/// Returns the first address of the client's /24 (IPv4) or /48 (IPv6).
[[nodiscard]] constexpr ip_address without_host(const ip_address& client) noexcept {
    return first_of_network(client, client.is_v4() ? 15 : 6);
}

}  // namespace detail

/// Returns the network that users see as the origin of a sign-in or of a token's use, such as `203.0.113.0/24`: the /24 of an IPv4 address,
/// or the /48 of an IPv6 address.
[[nodiscard]] inline std::string network_of(const ip_address& client) {
    return detail::without_host(client).to_text() + (client.is_v4() ? "/24" : "/48");
}

/// The header field in which a trusted proxy names its client. The library reads no other field, because a proxy passes on a field that it
/// does not set as the client sent it.
enum class forwarding_field : std::uint8_t {
    x_forwarded_for,
    forwarded,  ///< RFC 7239
};

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/base/ip_address.ipp>
#endif

#endif  // TOLLGATE_BASE_IP_ADDRESS_HPP

#pragma once
#ifndef TOLLGATE_POLICY_PUBLIC_TARGETS_IPP
#define TOLLGATE_POLICY_PUBLIC_TARGETS_IPP

#include <tollgate/policy/public_targets.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tollgate::inline v0 {
namespace detail {

constexpr ip_network ipv4_block(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d,
                                unsigned bits) noexcept {
    return ip_network::of(ip_address::v4(a, b, c, d), bits);
}

/// A block whose first two groups are `first` and `second`; the others are zero.
constexpr ip_network ipv6_block(unsigned first, unsigned second, unsigned bits) noexcept {
    std::array<std::uint8_t, 16> bytes{};
    bytes[0] = static_cast<std::uint8_t>(first >> 8);
    bytes[1] = static_cast<std::uint8_t>(first & 0xff);
    bytes[2] = static_cast<std::uint8_t>(second >> 8);
    bytes[3] = static_cast<std::uint8_t>(second & 0xff);
    return ip_network::of(ip_address::from_bytes(bytes), bits);
}

/// The blocks of IANA's IPv4 special-purpose registry that are not globally reachable, and other reserved blocks.
inline constexpr std::array reserved_ipv4{
    ipv4_block(0, 0, 0, 0, 8),         // this network; 0.0.0.0 is the local machine
    ipv4_block(10, 0, 0, 0, 8),        // private (RFC 1918)
    ipv4_block(100, 64, 0, 0, 10),     // carrier-grade NAT (RFC 6598)
    ipv4_block(127, 0, 0, 0, 8),       // loopback
    ipv4_block(168, 63, 129, 16, 32),  // Azure's platform services, in every virtual network
    ipv4_block(169, 254, 0, 0, 16),    // link-local, and the metadata services of most clouds
    ipv4_block(172, 16, 0, 0, 12),     // private
    ipv4_block(192, 0, 0, 0, 24),      // protocol assignments
    ipv4_block(192, 0, 2, 0, 24),      // documentation (RFC 5737)
    ipv4_block(192, 88, 99, 0, 24),    // 6to4 relays (RFC 7526)
    ipv4_block(192, 168, 0, 0, 16),    // private
    ipv4_block(198, 18, 0, 0, 15),     // benchmarks (RFC 2544)
    ipv4_block(198, 51, 100, 0, 24),   // documentation
    ipv4_block(203, 0, 113, 0, 24),    // documentation
    ipv4_block(224, 0, 0, 0, 4),       // multicast
    ipv4_block(240, 0, 0, 0, 4),       // reserved, and broadcast
};

/// Global unicast (RFC 4291 section 2.4). Loopback, unique local, link-local, site-local, multicast, IPv4-compatible
/// and NAT64 addresses are all outside of it.
inline constexpr ip_network global_ipv6 = ipv6_block(0x2000, 0, 3);

/// Blocks inside it that are not globally reachable, or lead to an IPv4 address that the sender chooses.
inline constexpr std::array reserved_ipv6{
    ipv6_block(0x2001, 0, 23),       // protocol assignments: Teredo, ORCHID, benchmarks
    ipv6_block(0x2001, 0x0db8, 32),  // documentation
    ipv6_block(0x2002, 0, 16),       // 6to4
    ipv6_block(0x3fff, 0, 20),       // documentation (RFC 9637)
};

template <std::size_t Size>
constexpr bool is_in_any(const std::array<ip_network, Size>& blocks, const ip_address& address) noexcept {
    for (const ip_network& block : blocks)
        if (block.contains(address)) return true;
    return false;
}

/// `::0:5efe:a.b.c.d` or `::200:5efe:a.b.c.d` after any prefix (RFC 5214 section 6.1): a router may unwrap it.
constexpr bool is_isatap(const ip_address& address) noexcept {
    const auto& bytes = address.bytes();
    return (bytes[8] & 0xfd) == 0 && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == 0xfe;
}

constexpr bool is_public(const ip_address& address) noexcept {
    if (address.is_v4()) return !is_in_any(reserved_ipv4, address);
    return global_ipv6.contains(address) && !is_in_any(reserved_ipv6, address) && !is_isatap(address);
}

/// Returns true if only a local network can resolve the name. The host of a URL is in lower case and without a final dot.
inline bool is_local_name(std::string_view name) noexcept {
    if (name.find('.') == std::string_view::npos) return true;  // `localhost`, or completed by a search list
    for (const std::string_view local : {".localhost", ".local", ".localdomain", ".internal", ".home.arpa"})
        if (name.ends_with(local)) return true;
    return name == "home.arpa";
}

}  // namespace detail

TOLLGATE_COLD result<void> public_targets::check(const http::url& target) const {
    if (target.has_user_info) return invalid(std::string{detail::target_has_user_info});
    if (target.has_fragment) return invalid(std::string{detail::target_has_fragment});
    if (private_allowed) return {};
    const bool reachable = target.address ? detail::is_public(*target.address) : !detail::is_local_name(target.host);
    if (!reachable) return invalid(std::string{detail::target_is_private});
    return {};
}

TOLLGATE_DECL bool public_targets::allows(const ip_address& address) const noexcept {
    return private_allowed || detail::is_public(address);
}

}  // namespace tollgate

#endif  // TOLLGATE_POLICY_PUBLIC_TARGETS_IPP

#pragma once

#include <tollgate/http/authority.hpp>

#include <tollgate/base/ascii.hpp>
#include <tollgate/base/ip_address.hpp>

#include <cstddef>

namespace tollgate::http {

namespace detail {

/// unreserved and sub-delims of RFC 3986 section 2, without the comma.
inline constexpr byte_set host_chars =
    make_byte_set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+;=");

/// What stands behind the host: nothing, or a colon and a port, which may be empty (RFC 3986 section 3.2.3).
[[nodiscard]] constexpr bool is_port_part(std::string_view text) noexcept {
    constexpr std::size_t digits_max = 5;
    if (text.empty()) return true;
    if (text.front() != ':' || text.size() > 1 + digits_max) return false;
    unsigned port = 0;
    for (char c : text.substr(1)) {
        if (!is_digit(c)) return false;
        port = port * 10 + static_cast<unsigned>(c - '0');
    }
    return port <= 65535;
}

/// How many bytes of a name or an IPv4 address `text` begins with, percent-encoded ones included.
[[nodiscard]] constexpr std::size_t host_bytes(std::string_view text) noexcept {
    const char* at = text.data();
    const char* const end = at + text.size();
    for (;;) {
        while (at != end && holds(host_chars, *at)) ++at;
        if (end - at < 3 || at[0] != '%' || hex_value(at[1]) < 0 || hex_value(at[2]) < 0) break;
        at += 3;
    }
    return static_cast<std::size_t>(at - text.data());
}

[[nodiscard]] TOLLGATE_DECL bool is_bracketed_authority(std::string_view text) noexcept {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return false;
    const std::string_view address = text.substr(1, close - 1);
    return address.find(':') != std::string_view::npos && ip_address::parse(address).has_value() &&
           is_port_part(text.substr(close + 1));
}

}  // namespace detail

TOLLGATE_DECL bool is_authority(std::string_view text) noexcept {
    if (text.starts_with('[')) return detail::is_bracketed_authority(text);
    const std::size_t size = detail::host_bytes(text);
    return size != 0 && detail::is_port_part(text.substr(size));
}

}  // namespace tollgate::http

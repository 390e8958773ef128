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

[[nodiscard]] constexpr bool is_hex_digit(char c) noexcept {
    return is_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'f');
}

/// What stands behind the host: nothing, or a colon and a port, which may be empty (RFC 3986 section 3.2.3).
[[nodiscard]] constexpr bool is_port_part(std::string_view text) noexcept {
    if (text.empty()) return true;
    if (text.front() != ':') return false;
    unsigned port = 0;
    for (char c : text.substr(1)) {
        if (!is_digit(c)) return false;
        port = port * 10 + static_cast<unsigned>(c - '0');
        if (port > 65535) return false;
    }
    return true;
}

}  // namespace detail

TOLLGATE_DECL bool is_authority(std::string_view text) noexcept {
    if (text.starts_with('[')) {
        const auto close = text.find(']');
        if (close == std::string_view::npos) return false;
        const std::string_view address = text.substr(1, close - 1);
        return address.find(':') != std::string_view::npos && ip_address::parse(address).has_value() &&
               detail::is_port_part(text.substr(close + 1));
    }
    std::size_t size = 0;
    while (size < text.size()) {
        if (detail::host_chars[static_cast<unsigned char>(text[size])]) {
            ++size;
        } else if (text[size] == '%' && text.size() - size > 2 && detail::is_hex_digit(text[size + 1]) &&
                   detail::is_hex_digit(text[size + 2])) {
            size += 3;
        } else {
            break;
        }
    }
    return size != 0 && detail::is_port_part(text.substr(size));
}

}  // namespace tollgate::http

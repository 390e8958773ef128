#pragma once
#ifndef TOLLGATE_HTTP_URL_IPP
#define TOLLGATE_HTTP_URL_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/http/url.hpp>

#include <cstddef>
#include <stdexcept>
#include <utility>

namespace tollgate::inline v0::http {

namespace detail {

/// unreserved and sub-delims of RFC 3986 section 2, without the comma.
inline constexpr tollgate::detail::byte_set host_chars =
    tollgate::detail::make_byte_set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+;=");

/// What follows the host: nothing, or a colon and a port, which may be empty (RFC 3986 section 3.2.3).
[[nodiscard]] constexpr bool is_port_part(std::string_view text) noexcept {
    constexpr std::size_t digits_max = 5;
    if (text.empty()) return true;
    if (text.front() != ':' || text.size() > 1 + digits_max) return false;
    unsigned port = 0;
    for (char c : text.substr(1)) {
        if (!tollgate::detail::is_digit(c)) return false;
        port = port * 10 + static_cast<unsigned>(c - '0');
    }
    return port <= 65535;
}

/// The length of the name or IPv4 address at the start of `text`, including percent-encoded bytes.
[[nodiscard]] constexpr std::size_t host_bytes(std::string_view text) noexcept {
    const char* at = text.data();
    const char* const end = at + text.size();
    for (;;) {
        while (at != end && tollgate::detail::holds(host_chars, *at)) ++at;
        if (end - at < 3 || at[0] != '%' || tollgate::detail::hex_value(at[1]) < 0 || tollgate::detail::hex_value(at[2]) < 0) break;
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

[[gnu::noinline]] TOLLGATE_DECL bool is_authority(std::string_view text) noexcept {
    if (text.starts_with('[')) return detail::is_bracketed_authority(text);
    const std::size_t size = detail::host_bytes(text);
    return size != 0 && detail::is_port_part(text.substr(size));
}

namespace detail {

inline constexpr std::size_t name_bytes_max = 253;  // RFC 1035 section 2.3.4, as text, without the root's dot
inline constexpr std::size_t label_bytes_max = 63;

/// Visible ASCII without the characters that RFC 3986 forbids everywhere, and with two hexadecimal digits after each
/// `%`.
inline bool is_url_text(std::string_view text) noexcept {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (!tollgate::detail::is_visible_ascii(c) || std::string_view{"\"<>\\^`{}"}.find(c) != std::string_view::npos) return false;
        if (c == '%' && (i + 2 >= text.size() || tollgate::detail::hex_value(text[i + 1]) < 0 ||
                         tollgate::detail::hex_value(text[i + 2]) < 0))
            return false;
    }
    return true;
}

/// A part of an IPv4 address by WHATWG's "IPv4 number parser": `0x` is hexadecimal, a leading zero octal. Empty if it
/// is not a number; any number too large for an address is returned as a too large number.
inline std::optional<std::uint64_t> parse_ipv4_part(std::string_view text) noexcept {
    constexpr std::uint64_t too_large = std::uint64_t{1} << 40;
    if (text.empty()) return std::nullopt;
    int base = 10;
    if (text.size() >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text.remove_prefix(2);
    } else if (text.size() >= 2 && text[0] == '0') {
        base = 8;
        text.remove_prefix(1);
    }
    std::uint64_t value = 0;
    for (char c : text) {
        const int digit = tollgate::detail::hex_value(c);
        if (digit < 0 || digit >= base) return std::nullopt;
        value = value * static_cast<unsigned>(base) + static_cast<unsigned>(digit);
        if (value > too_large) value = too_large;
    }
    return value;
}

/// WHATWG's "ends in a number checker": whether the host must be an IPv4 address.
inline bool ends_in_number(std::string_view host) noexcept {
    const std::string_view last = host.substr(host.rfind('.') + 1);
    const bool digits_only = !last.empty() && last.find_first_not_of("0123456789") == std::string_view::npos;
    return digits_only || parse_ipv4_part(last).has_value();
}

/// WHATWG's "IPv4 parser": one to four parts, of which the last fills all remaining bytes.
inline std::optional<ip_address> parse_loose_ipv4(std::string_view host) noexcept {
    std::uint64_t address = 0;
    for (unsigned part = 0; part < 4; ++part) {
        const auto end = host.find('.');
        const auto value = parse_ipv4_part(host.substr(0, end));
        if (!value) return std::nullopt;
        if (end == std::string_view::npos) {
            const unsigned bits_left = 32 - 8 * part;
            if (*value >> bits_left != 0) return std::nullopt;
            address |= *value;
            const auto byte = [address](unsigned shift) { return static_cast<std::uint8_t>(address >> shift & 0xff); };
            return ip_address::v4(byte(24), byte(16), byte(8), byte(0));
        }
        if (*value > 255) return std::nullopt;
        address |= *value << (24 - 8 * part);
        host.remove_prefix(end + 1);
    }
    return std::nullopt;
}

/// A name that DNS can represent: labels of letters, digits, `-` and `_`.
inline bool is_name(std::string_view host) noexcept {
    if (host.empty() || host.size() > name_bytes_max) return false;
    std::size_t label_bytes = 0;
    for (char c : host) {
        const bool in_label = tollgate::detail::is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_';
        if (!in_label && (c != '.' || label_bytes == 0)) return false;
        label_bytes = in_label ? label_bytes + 1 : 0;
        if (label_bytes > label_bytes_max) return false;
    }
    return label_bytes != 0;
}

inline bool set_host(url& parsed, std::string_view text) {
    if (!text.empty() && text.front() == '[') {
        if (text.back() != ']' || text.find(':') == std::string_view::npos) return false;
        parsed.address = ip_address::parse(text.substr(1, text.size() - 2));
        if (!parsed.address) return false;
        parsed.host = parsed.address->to_text();
        return true;
    }
    auto decoded = tollgate::detail::percent_decode(text);
    if (!decoded) return false;
    parsed.host = *std::move(decoded);
    for (char& c : parsed.host) c = tollgate::detail::ascii_lower(c);
    parsed.has_final_dot = parsed.host.ends_with('.');
    if (parsed.has_final_dot) parsed.host.pop_back();
    if (!is_name(parsed.host)) return false;
    if (!ends_in_number(parsed.host)) return true;

    parsed.address = parse_loose_ipv4(parsed.host);
    if (!parsed.address) return false;
    parsed.host = parsed.address->to_text();
    return true;
}

/// 1 to 65535 without leading zeros.
inline bool set_port(url& parsed, std::string_view text) noexcept {
    const auto port = tollgate::detail::parse_decimal(text);
    if (!port || *port == 0 || *port > UINT16_MAX) return false;
    parsed.port = static_cast<std::uint16_t>(*port);
    return true;
}

/// `[user information@]host[:port]` (RFC 3986 section 3.2).
inline bool set_authority(url& parsed, std::string_view text) {
    const auto at = text.rfind('@');
    parsed.has_user_info = at != std::string_view::npos;
    if (parsed.has_user_info) text.remove_prefix(at + 1);

    const auto bracket = text.rfind(']');
    const auto colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
    const std::string_view port = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
    if (!port.empty() && !set_port(parsed, port)) return false;  // an empty port is the default one (RFC 3986 section 3.2.3)
    return set_host(parsed, text.substr(0, colon));
}

/// Removes `http://` or `https://`, in any case, from the front of `text`.
inline bool take_scheme(url& parsed, std::string_view& text) noexcept {
    for (const auto scheme : {url_scheme::http, url_scheme::https}) {
        const std::string_view prefix = scheme == url_scheme::http ? "http://" : "https://";
        if (!tollgate::detail::ascii_iequals(text.substr(0, prefix.size()), prefix)) continue;
        parsed.scheme = scheme;
        text.remove_prefix(prefix.size());
        return true;
    }
    return false;
}

}  // namespace detail

TOLLGATE_COLD std::optional<url> url::parse(std::string_view text) {
    url parsed;
    if (text.size() > limits::target_url_bytes_max || !detail::is_url_text(text) || !detail::take_scheme(parsed, text))
        return std::nullopt;
    parsed.port = parsed.default_port();

    const auto fragment = text.find('#');
    parsed.has_fragment = fragment != std::string_view::npos;
    text = text.substr(0, fragment);

    const auto authority_end = text.find_first_of("/?");
    if (!detail::set_authority(parsed, text.substr(0, authority_end))) return std::nullopt;
    text.remove_prefix(authority_end == std::string_view::npos ? text.size() : authority_end);

    const auto mark = text.find('?');
    parsed.has_query = mark != std::string_view::npos;
    if (parsed.has_query) parsed.query = text.substr(mark + 1);
    parsed.path = text.substr(0, mark);
    if (parsed.path.empty()) parsed.path = "/";
    return parsed;
}

TOLLGATE_COLD url url::root(std::string_view text, std::string_view setting) {
    const auto refuse = [&](std::string_view reason) {
        return std::invalid_argument{tollgate::detail::concat({"tollgate: ", setting, " '", text, "' ", reason})};
    };
    auto parsed = parse(text);
    if (!parsed || parsed->has_user_info || parsed->has_query || parsed->has_fragment)
        throw refuse("is not an absolute http or https URL without user information, query and fragment");
    tollgate::detail::remove_final_slashes(parsed->path);
    // Clients remove such segments before they send a request, or servers refuse them.
    std::string path = parsed->path + "/";
    for (const std::string_view dot : {"%2e", "%2E"})
        for (auto at = path.find(dot); at != std::string::npos; at = path.find(dot)) path.replace(at, dot.size(), ".");
    for (const std::string_view odd : {"//", "/./", "/../"})
        if (path.find(odd) != std::string::npos)
            throw refuse("has an empty segment, '.' or '..' in its path");
    return *std::move(parsed);
}

TOLLGATE_DECL std::string url::authority() const {
    std::string text = address && !address->is_v4() ? "[" + host + "]" : host;
    if (port != default_port()) text.append(":").append(std::to_string(port));
    return text;
}

TOLLGATE_DECL std::string url::origin() const {
    return (scheme == url_scheme::http ? "http://" : "https://") + authority();
}

TOLLGATE_DECL std::string url::request_target() const { return has_query ? path + "?" + query : path; }

}  // namespace tollgate::http

#endif  // TOLLGATE_HTTP_URL_IPP

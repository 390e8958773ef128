#pragma once
#ifndef TOLLGATE_LIMITS_DETAIL_REDIS_SERVER_ADDRESS_IPP
#define TOLLGATE_LIMITS_DETAIL_REDIS_SERVER_ADDRESS_IPP

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/limits/detail/redis/server_address.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>

namespace tollgate::inline v0::redis {

namespace detail {

inline bool is_host_name(std::string_view text) noexcept {
    return !text.empty() && text.size() <= 253 &&  // RFC 1035 section 2.3.4, as text
           std::all_of(text.begin(), text.end(),
                       [](char c) { return tollgate::detail::is_alphanumeric(c) || c == '-' || c == '.' || c == '_'; });
}

/// `[user]:password`
inline result<void> set_credentials(server_address& read, std::string_view credentials) {
    const auto colon = credentials.find(':');
    if (colon == std::string_view::npos || colon + 1 == credentials.size())
        return invalid("A Redis URL with a user must have a password too: user:password@, or :password@.");
    auto user = tollgate::detail::percent_decode(credentials.substr(0, colon));
    auto password = tollgate::detail::percent_decode(credentials.substr(colon + 1));
    if (!user || !password) return invalid("In the user and password of a Redis URL, % must be followed by two hexadecimal digits.");
    read.user = *std::move(user);
    read.password = *std::move(password);
    return {};
}

/// `host[:port]`, with an IPv6 address in brackets.
inline result<void> set_host_and_port(server_address& read, std::string_view authority) {
    const bool has_brackets = authority.starts_with('[');
    const auto end = authority.find(has_brackets ? ']' : ':');
    std::string_view host = authority.substr(0, end);
    std::string_view port = authority.substr(host.size());
    if (has_brackets) {
        host.remove_prefix(1);
        const bool is_ipv6 = host.find(':') != std::string_view::npos && ip_address::parse(host).has_value();
        if (port.empty() || !is_ipv6) return invalid("In a Redis URL, brackets must contain an IPv6 address, such as [::1].");
        port.remove_prefix(1);  // the bracket
        if (!port.empty() && port.front() != ':') return invalid("The host of a Redis URL may only be followed by a port, such as :6379.");
    } else if (!is_host_name(host)) {
        return invalid("A Redis URL must have a host; write an IPv6 address in brackets.");
    }
    read.host = host;
    if (port.empty()) return {};
    const auto number = tollgate::detail::parse_decimal(port.substr(1));
    if (!number || *number == 0 || *number > UINT16_MAX)
        return invalid("The port of a Redis URL must be a number from 1 to 65535; write an IPv6 address in brackets.");
    read.port = static_cast<std::uint16_t>(*number);
    return {};
}

}  // namespace detail

TOLLGATE_DECL std::string server_address::to_text() const {
    const bool brackets = host.find(':') != std::string::npos;
    return (brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

TOLLGATE_DECL result<server_address> parse_url(std::string_view url) {
    constexpr std::string_view plain = "redis://", secure = "rediss://";
    server_address read;
    read.tls = url.starts_with(secure);
    if (!read.tls && !url.starts_with(plain)) return invalid("A Redis URL must begin with redis:// or rediss://.");
    url.remove_prefix(read.tls ? secure.size() : plain.size());
    if (!std::all_of(url.begin(), url.end(), tollgate::detail::is_visible_ascii))
        return invalid("A Redis URL may contain visible ASCII only; percent-encode anything else.");
    if (url.find_first_of("?#") != std::string_view::npos)
        return invalid("A Redis URL must not have a query or a fragment; in a password, write ? and # as %3F and %23.");

    if (const auto at = url.rfind('@'); at != std::string_view::npos) {
        if (auto set = detail::set_credentials(read, url.substr(0, at)); !set) return std::move(set).error();
        url.remove_prefix(at + 1);
    }
    const auto slash = url.find('/');
    if (slash != std::string_view::npos && slash + 1 < url.size()) {
        constexpr std::uint32_t database_max = 99'999;
        const auto database = tollgate::detail::parse_decimal(url.substr(slash + 1));
        if (!database || *database > database_max)
            return invalid("The path of a Redis URL must be the number of a database, such as /0.");
        read.database = static_cast<std::uint32_t>(*database);
    }
    if (auto set = detail::set_host_and_port(read, url.substr(0, slash)); !set) return std::move(set).error();
    return read;
}

}  // namespace tollgate::redis

#endif  // TOLLGATE_LIMITS_DETAIL_REDIS_SERVER_ADDRESS_IPP

#pragma once
#ifndef TOLLGATE_LIMITS_DETAIL_REDIS_SERVER_ADDRESS_HPP
#define TOLLGATE_LIMITS_DETAIL_REDIS_SERVER_ADDRESS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tollgate::inline v0::redis {

/// Address and credentials of a Redis server.
struct server_address {
    std::string host;  ///< a name, or an IP address without brackets
    std::uint16_t port = 6379;
    std::string user;  ///< empty: the server's default user
    std::string password;
    std::uint32_t database = 0;
    bool tls = false;

    /// Returns the address for messages: `redis.example:6379`, `[::1]:6379`. Never contains the password.
    [[nodiscard]] TOLLGATE_DECL std::string to_text() const;
};

/// Parses `redis://[user[:password]@]host[:port][/database]`, or `rediss` for TLS. An IPv6 address is in brackets; user
/// and password are percent-encoded. A password without a user is `:password@`. A user without a password is refused:
/// most people who write one mean the password.
///
/// Error (invalid) names the part that is wrong. It never quotes the URL, which may contain a password.
[[nodiscard]] TOLLGATE_DECL result<server_address> parse_url(std::string_view url);

}  // namespace tollgate::redis

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/limits/detail/redis/server_address.ipp>
#endif

#endif  // TOLLGATE_LIMITS_DETAIL_REDIS_SERVER_ADDRESS_HPP

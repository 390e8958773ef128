#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tollgate::inline v0::redis {

/// Which server, and as whom.
struct server_address {
    std::string host;  ///< a name, or an address without brackets
    std::uint16_t port = 6379;
    std::string user;  ///< empty: the server's default user
    std::string password;
    std::uint32_t database = 0;
    bool tls = false;

    /// For people: `redis.example:6379`, `[::1]:6379`. Never the password.
    [[nodiscard]] TOLLGATE_DECL std::string to_text() const;
};

/// `redis://[user[:password]@]host[:port][/database]`, and the same with `rediss` for TLS. The host may be an IPv6
/// address in brackets; user and password are percent-encoded where they hold what a URL may not. A password without a
/// user is `:password@`. A user alone is refused, because most who write one mean the password.
///
/// Problem (invalid) says which part will not do. It quotes none, for there may be a password in it.
[[nodiscard]] TOLLGATE_DECL result<server_address> parse_url(std::string_view url);

}  // namespace tollgate::redis

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/limits/detail/redis/server_address.ipp>
#endif

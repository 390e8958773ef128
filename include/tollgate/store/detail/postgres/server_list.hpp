#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tollgate::inline v0::postgres {

/// One server of a connection string, as libpq's parameters.
using server_parameters = std::vector<std::pair<std::string, std::string>>;

/// The servers that a connection string names: several if its `host` contains commas. They are separated here, because
/// a host that does not respond must not use more than its share of the time for connecting.
///
/// Adds what the string does not set: the server must accept writes (`target_session_attrs=read-write`, which selects
/// the primary among its standbys), how soon a silent peer is detected, and a name (`application_name=tollgate`). libpq
/// handles TLS: `sslmode=verify-full sslrootcert=...` in the string, or PGSSLMODE.
///
/// Error (invalid) for text that is not a connection string. It is not quoted, because it may contain a password.
[[nodiscard]] TOLLGATE_DECL result<std::vector<server_parameters>> servers_of(const std::string& connection_string);

/// The addresses of the server's host name, at most `server_addresses_max`. Empty if it has no name to look up, or the lookup fails:
/// then libpq connects to what the parameters say, and reports why it cannot. Blocks as `getaddrinfo` does, which libpq would call.
[[nodiscard]] TOLLGATE_DECL std::vector<std::string> addresses_of(const server_parameters& server);
inline constexpr std::size_t server_addresses_max = 4;

/// The server at each of its addresses, so that an address that does not respond uses only its share of the time; libpq would give the
/// first address all of it. `preferred` comes first, if it is one of them. With fewer than two addresses the server itself.
[[nodiscard]] TOLLGATE_DECL std::vector<server_parameters> server_at_each(const server_parameters& server,
                                                                          std::vector<std::string> addresses,
                                                                          const std::string& preferred);

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/server_list.ipp>
#endif

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_SERVER_LIST_HPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_SERVER_LIST_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tollgate::inline v0::postgres {

/// A server of a connection string, as libpq's parameters.
using server_parameters = std::vector<std::pair<std::string, std::string>>;

/// What all pools of a process have found out about the servers of one connection string.
struct known_servers {
    std::atomic<std::size_t> last_responding{0};    ///< index of the server in the list
    std::atomic<std::uint64_t> writable_found{0};  ///< number of connections that were opened to a server that accepts writes
};

/// Returns the same object for lists with the same hosts and ports. Objects for several servers are kept until the process ends: a program
/// has few of them.
[[nodiscard]] TOLLGATE_DECL std::shared_ptr<known_servers> known_of(const std::vector<server_parameters>& servers);

/// Returns true if connections are opened only to a server that accepts writes.
[[nodiscard]] TOLLGATE_DECL bool asks_for_writes(const server_parameters& server);

/// The servers that a connection string names, or PGHOST, PGHOSTADDR and PGPORT: several if `host` contains commas. They are separated
/// here, because a host that does not respond must not use more than its share of the time for connecting.
///
/// Adds what the string does not set: the server must accept writes (`target_session_attrs=read-write`, which selects
/// the primary among its standbys), how soon a silent peer is detected, and a name (`application_name=tollgate`). libpq
/// handles TLS: `sslmode=verify-full sslrootcert=...` in the string, or PGSSLMODE.
///
/// Error (invalid) for text that is not a connection string, or a URI with an unescaped separator in a password. It is not quoted, because
/// it may contain a password.
[[nodiscard]] TOLLGATE_DECL result<std::vector<server_parameters>> servers_of(const std::string& connection_string);

/// The addresses of the server's host name, at most `server_addresses_max`. None if it has no host to look up: a Unix domain socket,
/// `hostaddr`, or a host in a service file. Returns after `wait_max` at the latest. Error (unavailable): the lookup failed, or took longer.
[[nodiscard]] TOLLGATE_DECL result<std::vector<std::string>> addresses_of(const server_parameters& server, milliseconds wait_max);
inline constexpr std::size_t server_addresses_max = 4;

/// The server at each of its addresses: libpq would look the name up without a deadline, and let an address that does not respond use all
/// of the time. `preferred` comes first, if it is one of them. Without addresses, the server itself.
[[nodiscard]] TOLLGATE_DECL std::vector<server_parameters> server_at_each(const server_parameters& server,
                                                                          std::vector<std::string> addresses,
                                                                          const std::string& preferred);

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/server_list.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_SERVER_LIST_HPP

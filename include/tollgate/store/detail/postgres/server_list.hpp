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

/// The servers that a connection string names: several where its `host` has commas. They are taken apart here, because
/// a host that does not answer may take up only its own share of a connection's time.
///
/// What the string does not say: that the server must accept writes (`target_session_attrs=read-write`, so that of a
/// primary and its standbys the primary is found), how soon a silent peer is given up, and a name
/// (`application_name=tollgate`). TLS is libpq's: `sslmode=verify-full sslrootcert=...` in the string, or PGSSLMODE.
///
/// Problem (invalid) for a string that is none. It is not quoted, for there may be a password in it.
[[nodiscard]] TOLLGATE_DECL result<std::vector<server_parameters>> servers_of(const std::string& connection_string);

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/server_list.ipp>
#endif

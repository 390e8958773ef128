#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>

#include <cstdint>
#include <string_view>

struct pg_conn;
struct pg_result;

namespace tollgate::inline v0::postgres {

/// What is left when statements failed.
enum class aftermath : std::uint8_t {
    refused,    ///< nothing happened, says the server: the transaction was rolled back
    try_again,  ///< nothing happened, and only because of what others did at the same time
    lost,       ///< the connection is of no use any more, and whether anything happened is not known
};

struct run_failure {
    error why;
    aftermath after = aftermath::lost;
    bool hung = false;  ///< lost because nothing was heard any more
};

/// A result that is an error: unavailable for what may pass (a time-out, a shutdown, a full disk), not_found for a
/// reference to what is not there, conflict for another broken constraint, invalid for text that is none to PostgreSQL,
/// internal for the rest. `doing` is the statement. The cause has the server's message without its detail, which may
/// hold values.
[[nodiscard]] TOLLGATE_DECL run_failure failure(const pg_result* result, std::string_view doing);

/// A connection that broke, or never was: unavailable.
[[nodiscard]] TOLLGATE_DECL run_failure connection_failure(const pg_conn* connection, std::string_view doing);

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/failure.ipp>
#endif

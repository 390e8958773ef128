#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_FAILURE_HPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_FAILURE_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>

#include <cstdint>
#include <string_view>

struct pg_conn;
struct pg_result;

namespace tollgate::inline v0::postgres {

/// What a failure did to the transaction and the connection.
enum class failure_kind : std::uint8_t {
    refused,    ///< the server rolled the transaction back: no effect
    try_again,  ///< no effect, only because of concurrent transactions, or because a prepared statement is stale
    lost,       ///< the connection is unusable, and unless `is_refused`, it is unknown whether the transaction took effect
};

/// The prepared statements that must be prepared again after a failure.
enum class stale_statements : std::uint8_t { none, this_one, all };

struct run_failure {
    tollgate::error error;
    failure_kind kind = failure_kind::lost;
    bool hung = false;  ///< lost because no response came in time
    bool is_refused = false;  ///< lost, but the server said that the transaction has no effect
    stale_statements stale = stale_statements::none;
};

/// Converts an error result: unavailable for conditions that may pass or that an operator can correct (timeout, shutdown,
/// full disk, missing privilege), not_found for a reference to a missing row, conflict for another violated constraint,
/// invalid for text that PostgreSQL rejects, internal for the rest. `doing` is the statement. The cause contains the
/// server's message without its detail, which may contain values.
[[nodiscard]] TOLLGATE_DECL run_failure failure(const pg_result* result, std::string_view doing);

/// A connection that broke or was never opened: unavailable.
[[nodiscard]] TOLLGATE_DECL run_failure connection_failure(pg_conn* connection, std::string_view doing);

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/failure.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_FAILURE_HPP

#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/store/detail/postgres/batch.hpp>

struct pg_conn;

namespace tollgate::inline v0::postgres {

/// Runs a batch on somebody else's connection, within the transaction that they have begun and will end: what it does
/// is as durable, and as undone, as all else there. One round trip, behind a savepoint: a problem takes back what the
/// batch has done (in a second one), and nothing else.
///
/// Problem (invalid) unless the connection is within a transaction that has not failed, waits for no answer, and speaks
/// UTF8. Blocks as that connection does, without an end of its own.
[[nodiscard]] TOLLGATE_DECL result<answers> run_within(pg_conn* transaction, const batch& asked);

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/foreign_transaction.ipp>
#endif

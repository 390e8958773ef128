#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/outbox.hpp>

#include <cstddef>

struct sqlite3;

namespace tollgate::inline v0 {

/// Takes events into a transaction of the integrator's own, on their own connection to the file that a `sqlite_store`
/// lives in: their change and the deliveries that tell of it commit together, or neither does. Whatever happens, nobody
/// is told of what was rolled back, and what was committed is told.
///
///     run(connection, "BEGIN IMMEDIATE");
///     run(connection, "UPDATE sites SET published = 1 WHERE id = 7");
///     tollgate::sqlite_own_transaction outbox{connection};
///     const auto deliveries = tollgate::publish(outbox, services, {...}, now);
///     run(connection, deliveries ? "COMMIT" : "ROLLBACK");
///
/// The rules, which are SQLite's:
///
/// - The file is the connection's `main` database, and was opened by a `sqlite_store` of this release before, which
/// makes
///   the tables. A file of another release is a problem (internal).
/// - A transaction is open; without one it is a problem (invalid). Begin it with BEGIN IMMEDIATE: one that has read
/// before
///   it writes may find that it cannot write any more (SQLITE_BUSY_SNAPSHOT), and must begin anew.
/// - Nobody else writes to the file until it ends: keep it short, and wait for nothing in it. While the store writes,
/// the
///   connection waits for as long as its own busy timeout says.
/// - A problem takes back what this call has written. On a full disk SQLite itself may have rolled back all of the
///   transaction (`sqlite3_get_autocommit` tells). Roll back after any problem, unless your change matters without.
/// - It is durable when your COMMIT returns, as far as your connection says: `synchronous = FULL` for loss of power,
/// too.
///   A dispatcher of any process on the file finds it within its `look_interval`, or at once with `wake()` after
///   COMMIT.
///
/// One thread at a time, that which has the connection. Blocking. Nothing is thrown.
class sqlite_own_transaction {
public:
    /// Calls may wait for the database.
    static constexpr bool blocking = true;

    /// The connection stays the integrator's. Made for one transaction or for all of them: it keeps nothing.
    explicit sqlite_own_transaction(sqlite3* connection) noexcept : connection_{connection} {}

    /// Appends the event to the outbox; see `event_sink`.
    TOLLGATE_DECL result<std::size_t> append_event(const event& happened, const message_seed& seed,
                                                    instant now) noexcept;

private:
    sqlite3* connection_;
};

static_assert(event_sink<sqlite_own_transaction>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/sqlite_own_transaction.ipp>
#endif

#pragma once
#ifndef TOLLGATE_STORE_SQLITE_OWN_TRANSACTION_HPP
#define TOLLGATE_STORE_SQLITE_OWN_TRANSACTION_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/outbox.hpp>

#include <cstddef>

struct sqlite3;

namespace tollgate::inline v0 {

/// Publishes events within a transaction of your own, on your connection to the file of a `sqlite_store`: your change
/// and its deliveries are committed together or not at all.
///
///     run(connection, "BEGIN IMMEDIATE");
///     run(connection, "UPDATE sites SET published = 1 WHERE id = 7");
///     tollgate::sqlite_own_transaction outbox{connection};
///     const auto deliveries = tollgate::publish(outbox, services, {...}, now);
///     run(connection, deliveries ? "COMMIT" : "ROLLBACK");
///
/// Rules:
///
/// - The file is the connection's `main` database, and a `sqlite_store` of this release has opened it before, which creates
///   the tables. A file of another release is an error (internal).
/// - A transaction is open; otherwise the call is an error (invalid). Start it with BEGIN IMMEDIATE: one that has read before
///   it writes may fail to write (SQLITE_BUSY_SNAPSHOT) and must be restarted.
/// - No other connection can write to the file until it ends: keep it short, and do not wait in it. While the store writes, the
///   connection waits for at most its own busy timeout.
/// - An error undoes what this call has written. On a full disk SQLite itself may have rolled back the whole transaction
///   (`sqlite3_get_autocommit` tells). Roll back after any error, unless your change is useful without the event.
/// - The event is durable when your COMMIT returns, as far as your connection's `synchronous` setting says: FULL also
///   protects against power failures. A dispatcher of any process on the file finds it within its `poll_interval`, or at
///   once with `wake()` after COMMIT.
///
/// Used by the thread that uses the connection. Blocking. Never throws.
class sqlite_own_transaction {
public:
    /// Calls may wait for the database.
    static constexpr bool blocking = true;

    /// The connection stays the caller's. Keeps no state: use one for each transaction or one for all.
    explicit sqlite_own_transaction(sqlite3* connection) noexcept : connection_{connection} {}

    /// Appends the event to the outbox; see `event_sink`.
    TOLLGATE_DECL result<std::size_t> append_event(const event& reported, const message_seed& seed, instant now) noexcept;

private:
    sqlite3* connection_;
};

static_assert(event_sink<sqlite_own_transaction>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/sqlite_own_transaction.ipp>
#endif

#endif  // TOLLGATE_STORE_SQLITE_OWN_TRANSACTION_HPP

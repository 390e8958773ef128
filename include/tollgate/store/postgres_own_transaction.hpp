#pragma once
#ifndef TOLLGATE_STORE_POSTGRES_OWN_TRANSACTION_HPP
#define TOLLGATE_STORE_POSTGRES_OWN_TRANSACTION_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/outbox.hpp>
#include <tollgate/store/postgres.hpp>

#include <cstddef>

struct pg_conn;

namespace tollgate::inline v0 {

/// Publishes events within a transaction of your own, on your connection (libpq's `PGconn*`) to the database of a
/// `postgres_store`: your change and its deliveries are committed together or not at all.
///
///     run(connection, "BEGIN");
///     run(connection, "UPDATE sites SET published = true WHERE id = 7");
///     tollgate::postgres_own_transaction outbox{store, connection};
///     const auto deliveries = tollgate::publish(outbox, services, {...}, now);
///     run(connection, deliveries ? "COMMIT" : "ROLLBACK");
///
/// Rules:
///
/// - The connection's search_path finds the store's tables, its role may write to them, and its client_encoding is UTF8.
/// - A transaction is open, has not failed, and waits for no result; otherwise the call is an error (invalid).
/// - An error undoes what this call has written, and the transaction can continue (a savepoint, `tollgate`). Roll back after
///   any error, unless your change is useful without the event.
/// - The event is durable when your COMMIT returns, as far as your session's `synchronous_commit` says. Dispatchers of all
///   nodes are notified by that COMMIT.
/// - Transactions that notify are committed one at a time (NOTIFY). A thousand a second is more than most disks allow;
///   programs with many more events should publish them to the store.
///
/// One round trip. Used by the thread that uses the connection. Blocks as long as the connection does. Never throws.
class postgres_own_transaction {
public:
    /// Calls may wait for the database.
    static constexpr bool blocking = true;

    /// The connection stays the caller's. Keeps no state: use one for each transaction or one for all.
    postgres_own_transaction(const postgres_store& store, pg_conn* connection) noexcept
        : clock_{store.clock()}, connection_{connection} {}

    /// Appends the event to the outbox; see `event_sink`.
    TOLLGATE_DECL result<std::size_t> append_event(const event& reported, const message_seed& seed, instant now) noexcept;

private:
    postgres_clock clock_;
    pg_conn* connection_;
};

static_assert(event_sink<postgres_own_transaction>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/postgres_own_transaction.ipp>
#endif

#endif  // TOLLGATE_STORE_POSTGRES_OWN_TRANSACTION_HPP

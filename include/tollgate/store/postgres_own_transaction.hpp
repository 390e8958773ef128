#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/outbox.hpp>
#include <tollgate/store/postgres.hpp>

#include <cstddef>

struct pg_conn;

namespace tollgate::inline v0 {

/// Takes events into a transaction of the integrator's own, on their own connection (a `PGconn*` of libpq's) to the
/// database that a `postgres_store` lives in: their change and the deliveries that tell of it commit together, or
/// neither does. Whatever happens, nobody is told of what was rolled back, and what was committed is told.
///
///     run(connection, "BEGIN");
///     run(connection, "UPDATE sites SET published = true WHERE id = 7");
///     tollgate::postgres_own_transaction outbox{store, connection};
///     const auto deliveries = tollgate::publish(outbox, services, {...}, now);
///     run(connection, deliveries ? "COMMIT" : "ROLLBACK");
///
/// The rules, which are PostgreSQL's:
///
/// - Its search_path finds the tables that the store has made, its role may write to them, and its client_encoding is
///   UTF8.
/// - A transaction is open, has not failed, and waits for no answer; otherwise it is a problem (invalid).
/// - A problem takes back what this call has written, and the transaction can go on (there is a savepoint, `tollgate`).
///   Roll back after any problem, unless your change matters without.
/// - It is durable when your COMMIT returns, as far as your session says: `synchronous_commit` for loss of power, too.
///   Dispatchers of all nodes hear of it with that COMMIT.
/// - Transactions that tell are committed one after the other (NOTIFY): a thousand a second is more than most disks do,
///   but who reports much more than that reports to the store.
///
/// One round trip. One thread at a time, that which has the connection. Blocking, for as long as the connection does.
/// Nothing is thrown.
class postgres_own_transaction {
public:
    /// Calls may wait for the database.
    static constexpr bool blocking = true;

    /// The connection stays the integrator's. Made for one transaction or for all of them: it keeps nothing.
    postgres_own_transaction(const postgres_store& store, pg_conn* connection) noexcept
        : clock_{store.clock()}, connection_{connection} {}

    /// Appends the event to the outbox; see `event_sink`.
    TOLLGATE_DECL result<std::size_t> append_event(const event& happened, const message_seed& seed,
                                                    instant now) noexcept;

private:
    postgres_clock clock_;
    pg_conn* connection_;
};

static_assert(event_sink<postgres_own_transaction>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/postgres_own_transaction.ipp>
#endif

#pragma once
#ifndef TOLLGATE_STORE_POSTGRES_DATABASE_HPP
#define TOLLGATE_STORE_POSTGRES_DATABASE_HPP

#include <tollgate/base/backend_statistics.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/call_combiner.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/store/cache_invalidation_feed.hpp>
#include <tollgate/store/detail/postgres/batch.hpp>
#include <tollgate/store/detail/postgres/connection.hpp>
#include <tollgate/store/detail/postgres/migrations.hpp>
#include <tollgate/store/detail/row_cache.hpp>
#include <tollgate/store/schema_status.hpp>
#include <tollgate/store/store_error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

/// Settings of the connections.
struct postgres_database_settings {
    /// Connections per process, above zero. Each is a process on the server. More than about two per core make the server no faster, and by
    /// default it allows 100 for all nodes (max_connections).
    std::size_t connections_max = 8;
    /// The number of these connections that are reserved for lookups with `postgres_lookup`, so that calls that wait for something else do
    /// not delay them.
    std::size_t connections_for_lookups = 0;
    /// The time for which a call waits for a connection.
    milliseconds connection_wait_max{1000};
    postgres::connection_settings each{};  ///< settings of each connection
    /// The clock that callers use; see `postgres::server_clock`.
    postgres::server_clock::node_clock callers_clock = &postgres::server_clock::node_now;
};

namespace postgres {

/// Tells if a batch may be sent again when the connection breaks and it is unknown if the batch was committed.
enum class repeat : std::uint8_t {
    never,    ///< the batch changes something
    allowed,  ///< the batch reads, or changes nothing the second time
};

class transaction;

}  // namespace postgres

/// A PostgreSQL database for tables of your own, which may be the database of a `postgres_store`.
///
///     auto opened = postgres_database::open("dbname=shop");
///     static constexpr postgres::schema_step steps[] = {{"CREATE TABLE orders (id bigint PRIMARY KEY, name text)"}};
///     if (auto done = opened->migrate("shop", steps); !done) return done;
///     auto rows = opened->query("SELECT name FROM orders WHERE id = $1", id);
///     if (!rows) return std::move(rows).error();
///     auto name = rows->next<std::string>();
///
/// Connections are opened on demand and replaced when they break. While the server is unavailable, calls fail at once, except for a call
/// that probes it (`reconnecting_pool`).
///
/// Thread rule: any thread. Calls block. Move or destroy the object only while no call is running.
class postgres_database {
public:
    /// Opens a database. `connection_string` is libpq's; of several hosts, the host that accepts writes is used. Errors: invalid for text
    /// that is not a connection string and for a setting outside its bounds, unavailable if no server accepts a connection.
    static TOLLGATE_DECL result<postgres_database> open(const std::string& connection_string,
                                                        const postgres_database_settings& settings = {});
    /// Checks a connection string without connecting. The error does not quote the string, which may contain a password.
    static TOLLGATE_DECL result<void> validate(const std::string& connection_string);

    /// Movable, not copyable.
    TOLLGATE_DECL postgres_database(postgres_database&&) noexcept;
    TOLLGATE_DECL postgres_database& operator=(postgres_database&&) noexcept;
    TOLLGATE_DECL ~postgres_database();

    /// Updates the tables of a `component`; see `postgres::migrate`. From then on, connecting to a database that a later release has made
    /// incompatible with these steps is an error.
    TOLLGATE_DECL result<void> migrate(std::string_view component, std::span<const postgres::schema_step> steps,
                                       milliseconds wait_max = seconds{60});

    /// Compares the version of `component`'s tables with `steps`. Changes nothing. `objects` are the tables and indexes that `steps` leave,
    /// for `schema_status::missing`. Errors: as for `open`.
    [[nodiscard]] static TOLLGATE_DECL result<schema_status> check_schema(const std::string& connection_string,
                                                                          std::string_view component,
                                                                          std::span<const postgres::schema_step> steps,
                                                                          const postgres_database_settings& settings = {},
                                                                          std::span<const std::string_view> objects = {});

    /// Returns an empty batch, which shifts times to the server's clock.
    [[nodiscard]] TOLLGATE_DECL postgres::batch make_batch() const;

    /// Runs a batch in one round trip and one transaction. Errors: unavailable if no connection became free in time, and those of
    /// `postgres::failure`. A batch that the server rolled back because of a concurrent transaction is repeated at most twice. By default,
    /// `connection_wait_max` is that of the settings.
    [[nodiscard]] TOLLGATE_DECL result<postgres::results> run(const postgres::batch& batch,
                                                              postgres::repeat when_lost = postgres::repeat::never,
                                                               std::optional<milliseconds> connection_wait_max = std::nullopt);

    /// Runs a statement that changes nothing.
    template <class... Values>
    [[nodiscard]] result<postgres::rows> query(postgres::statement_text text, const Values&... values) {
        postgres::batch single = make_batch();
        single.add(text, values...);
        return first_of(run(single, postgres::repeat::allowed));
    }
    /// Runs a statement that changes something.
    template <class... Values>
    [[nodiscard]] result<postgres::rows> execute(postgres::statement_text text, const Values&... values) {
        postgres::batch single = make_batch();
        single.add(text, values...);
        return first_of(run(single));
    }

    /// Starts a transaction of several round trips. Error: unavailable if no connection became free in time.
    [[nodiscard]] TOLLGATE_DECL result<postgres::transaction> begin();
    /// Runs `work`, a function of `postgres::transaction&` that returns a result, in a transaction of several round trips. Commits when
    /// `work` returns a value and has not committed itself; rolls back when it returns an error or throws. A transaction that the server
    /// rolled back because of a concurrent transaction is repeated at most twice; a transaction that a read-only server refused is repeated
    /// on each of the other connections.
    template <class Work>
    [[nodiscard]] std::invoke_result_t<Work&, postgres::transaction&> transact(Work work);

    /// Returns true if the last contact with the server succeeded, and before the first contact. Takes no lock.
    [[nodiscard]] TOLLGATE_DECL bool is_up() const noexcept;
    /// Returns true if a call would fail at once, because the server was unavailable a moment ago. Takes no lock.
    [[nodiscard]] TOLLGATE_DECL bool is_refusing() const noexcept;

    /// Opens a connection outside of the pool, which does not count against its bound.
    [[nodiscard]] TOLLGATE_DECL result<postgres::connection> open_another() const;

    /// Returns the counts of the connections, without caches.
    [[nodiscard]] TOLLGATE_DECL backend_statistics statistics() const noexcept;

    /// Returns the server's clock, which may outlive the database.
    [[nodiscard]] TOLLGATE_DECL const std::shared_ptr<postgres::server_clock>& clock() const noexcept;

private:
    template <class Key, class Row>
    friend class postgres_lookup;
    struct state;
    /// The number of times that a call was tried.
    struct tries {
        int failed = 0;
        std::size_t refused = 0;  ///< times that a server refused because it no longer accepts writes
    };
    /// Counts a failure after which the call may be repeated. Returns true if the call is tried again.
    TOLLGATE_DECL bool may_repeat(tries& so_far, bool is_refused) const noexcept;
    /// Waits, so that the same two transactions do not conflict again. Holds no connection.
    static TOLLGATE_DECL void pause_after_conflict(const tries& so_far);
    [[nodiscard]] TOLLGATE_DECL result<postgres::results> run(const postgres::batch& batch, postgres::repeat when_lost,
                                                              milliseconds connection_wait_max, bool is_lookup);
    [[nodiscard]] TOLLGATE_DECL result<postgres::rows> look_up(const postgres::batch& batch);
    static TOLLGATE_DECL result<postgres::rows> first_of(result<postgres::results> all);
    explicit postgres_database(std::unique_ptr<state> initial) noexcept;

    std::unique_ptr<state> state_;
};

namespace postgres {

/// A transaction of several batches, for a batch that depends on the results of another. The first batch starts with BEGIN, and `commit`
/// ends the transaction; otherwise it is rolled back at the end of the scope. The server ends a transaction that is idle for longer than
/// `response_wait_max`.
class transaction {
public:
    /// Movable, not copyable.
    TOLLGATE_DECL transaction(transaction&&) noexcept;
    transaction& operator=(transaction&&) = delete;
    TOLLGATE_DECL ~transaction();

    /// Runs a batch like `postgres_database::run`, but repeats nothing.
    [[nodiscard]] TOLLGATE_DECL result<results> run(const batch& next);
    /// Runs the last batch and commits, in one round trip. Error (internal), with nothing committed, if an earlier batch failed, or if the
    /// last batch has a statement after the transaction.
    [[nodiscard]] TOLLGATE_DECL result<results> commit(batch last);
    /// Returns true if batches were run and not committed.
    [[nodiscard]] bool is_open() const noexcept { return is_open_; }
    /// Returns true if the server rolled the transaction back because of a concurrent transaction, or because the server no longer accepts
    /// writes, so that the whole transaction may be repeated.
    [[nodiscard]] bool may_be_tried_again() const noexcept { return may_be_tried_again_; }

private:
    friend class tollgate::postgres_database;
    struct leased;
    explicit transaction(std::unique_ptr<leased> on) noexcept;

    std::unique_ptr<leased> on_;  // null if the connection was lost
    bool is_open_ = false;
    bool has_failed_ = false;
    bool may_be_tried_again_ = false;
    bool is_refused_ = false;
};

}  // namespace postgres

template <class Work>
std::invoke_result_t<Work&, postgres::transaction&> postgres_database::transact(Work work) {
    for (tries so_far;;) {
        {
            auto on = begin();
            if (!on) return std::move(on).error();
            auto done = work(*on);
            if (done && on->is_open())
                if (auto committed = on->commit(make_batch()); !committed) done = std::move(committed).error();
            if (done || !on->may_be_tried_again() || !may_repeat(so_far, on->is_refused_)) return done;
        }
        pause_after_conflict(so_far);
    }
}

/// Looks up rows by their key. Calls that arrive from several threads while a lookup is in progress form the next lookup, with one
/// statement and one round trip. If no lookup is in progress, a call is sent at once.
///
///     postgres_lookup<user_id, user_row> users;
///     constexpr postgres::statement_text text = "SELECT id, name FROM users WHERE id = ANY ((SELECT $1)::bigint[])";
///     auto user = users.find(database, text, id, [](postgres::rows& found) {
///         return read_user(found);  // reads the next row: result<std::optional<std::pair<user_id, result<user_row>>>>
///     });
///
/// The sub-select is necessary: with `ANY ($1)`, PostgreSQL would plan the statement again for each batch of few keys, which costs several
/// times as much as the lookup. Its planner does not evaluate the sub-select.
///
/// Without a row, the result is empty. If the statement fails, all calls of the batch return its error. An error of a row is returned for
/// its key only, or, if the reader does not know the key, for all keys of the batch without a row. All calls pass the same statement and
/// reader. Thread rule: any thread. Calls block.
template <class Key, class Row>
class postgres_lookup {
public:
    /// Returns the row of a key, read after the call began, or an empty optional if there is none.
    template <class Read>
    [[nodiscard]] result<std::optional<Row>> find(postgres_database& on, postgres::statement_text text, const Key& key,
                                                  Read&& read) {
        // While the server is unavailable, no call waits for the call that probes it.
        if (on.is_refusing()) return unavailable("PostgreSQL: not connected; retrying shortly");
        const bool was_up = on.is_up();
        return callers_.call(key, [&](typename combiner::batch all) noexcept {
            try {
                // Calls that have waited for a round trip that timed out do not wait for a probe, too.
                const bool may_probe = !was_up && all.size() == 1;
                look_up_all(all, on, text, read, may_probe);
            } catch (...) {  // out of memory
                for (auto* const each : all)
                    if (!each->result) each->result.emplace(error{error_kind::unavailable, {}, {}});
            }
        });
    }

private:
    using combiner = detail::call_combiner<Key, result<std::optional<Row>>>;

    template <class Read>
    static void look_up_all(typename combiner::batch all, postgres_database& on, postgres::statement_text text, Read& read,
                            bool may_probe) {
        std::vector<Key> keys;
        keys.reserve(all.size());
        for (const auto* const each : all) keys.push_back(each->request);
        postgres::batch query = on.make_batch();
        query.add(text, keys);
        auto found = on.is_up() || may_probe
                         ? on.look_up(query)
                         : result<postgres::rows>{unavailable("PostgreSQL: not connected: the previous calls failed")};
        std::optional<error> failure;
        if (!found) failure = found.error();
        for (std::size_t left = found ? found->count() : 0; left > 0; --left) {
            auto row = read(*found);
            if (!row) {
                failure = std::move(row).error();
                continue;
            }
            if (!*row) break;
            const auto& [key, value] = **row;
            for (auto* const each : all)
                if (!each->result && each->request == key)
                    each->result = value.transform([](const Row& of_key) { return std::optional{of_key}; });
        }
        for (auto* const each : all) {
            if (each->result) continue;
            if (failure) each->result.emplace(*failure);
            else each->result.emplace(std::optional<Row>{});
        }
    }

    combiner callers_;
};

/// Caches the rows of a query by their key, as long as `cache_invalidation_feed` (see `postgres_store::changes`) reports no change. See
/// `row_cache` for its bounds.
template <class Key, class Row>
using postgres_row_cache = row_cache<Key, Row, cache_invalidation_feed>;

}  // namespace tollgate

// Includes the store, whose bodies use what is declared above.
#include <tollgate/store/postgres_own_transaction.hpp>

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/postgres_database.ipp>
#endif

#endif  // TOLLGATE_STORE_POSTGRES_DATABASE_HPP

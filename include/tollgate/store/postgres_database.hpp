#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/store/detail/cache_invalidation_feed.hpp>
#include <tollgate/store/detail/errors.hpp>
#include <tollgate/store/detail/postgres/batch.hpp>
#include <tollgate/store/detail/postgres/connection.hpp>
#include <tollgate/store/detail/postgres/migrations.hpp>
#include <tollgate/store/detail/row_cache.hpp>
#include <tollgate/store/detail/sql/schema_status.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace tollgate::inline v0 {

/// How the connections are made and bounded.
struct postgres_database_settings {
    /// Connections of one process. Each is a process at the server, which stops getting faster at about twice its
    /// cores, and has 100 for all nodes by default (max_connections).
    std::size_t connections_max = 8;
    /// How long a call waits for one of them.
    milliseconds connection_wait_max{2000};
    postgres::connection_settings each{};
    /// The clock by which callers tell the time, see `postgres::server_clock`.
    postgres::server_clock::node_clock callers_clock = &postgres::server_clock::node_now;
};

namespace postgres {

/// Whether a batch may be sent again when a connection broke and it is not known whether it was committed.
enum class repeat : std::uint8_t {
    never,    ///< it changes something
    allowed,  ///< it reads, or changes nothing the second time
};

class transaction;

}  // namespace postgres

/// A PostgreSQL database for tables of your own, which may be the database that a `postgres_store` is in.
///
///     auto opened = postgres_database::open("dbname=shop");
///     static constexpr postgres::schema_step steps[] = {{"CREATE TABLE orders (id bigint PRIMARY KEY, name text)"}};
///     if (auto done = opened->migrate("shop", steps); !done) return done;
///     auto rows = opened->ask("SELECT name FROM orders WHERE id = $1", id);
///     if (!rows) return std::move(rows).error();
///     auto name = rows->next<std::string>();
///
/// Connections are opened as they are needed, and replaced when they broke. While the server cannot be reached, or does
/// not answer, calls fail at once but for one that tries again (`reconnecting_pool`).
///
/// Thread rule: any thread. Blocking. Movable; nothing may be running while it moves or is destroyed.
class postgres_database {
public:
    /// `connection_string` is libpq's; of several hosts, the one that takes writes is used. Errors: invalid for a text
    /// that is not a connection string, unavailable when no server accepts a connection.
    static TOLLGATE_DECL result<postgres_database> open(const std::string& connection_string,
                                                         const postgres_database_settings& settings = {});
    /// Whether it is a connection string, without connecting. The error does not quote it: it may hold a password.
    static TOLLGATE_DECL result<void> validate(const std::string& connection_string);

    /// Movable, not copyable.
    TOLLGATE_DECL postgres_database(postgres_database&&) noexcept;
    /// Movable, not copyable.
    TOLLGATE_DECL postgres_database& operator=(postgres_database&&) noexcept;
    TOLLGATE_DECL ~postgres_database();

    /// Brings the tables of one `component` up to date, see `postgres::migrate`. From then on a connection to a database
    /// in which a later release has broken compatibility with these steps is an error.
    TOLLGATE_DECL result<void> migrate(std::string_view component, std::span<const postgres::schema_step> steps,
                                        milliseconds wait_max = seconds{60});

    /// How far the tables of `component` are on their way to the last of `steps`, without changing them. Errors: as `open`.
    [[nodiscard]] static TOLLGATE_DECL result<schema_status> check_schema(const std::string& connection_string,
                                                                          std::string_view component,
                                                                          std::span<const postgres::schema_step> steps,
                                                                          const postgres_database_settings& settings = {});

    /// An empty batch, which shifts moments to the server's clock.
    [[nodiscard]] TOLLGATE_DECL postgres::batch make_batch() const;

    /// One round trip and one transaction. Errors: unavailable when no connection came free in time, and as
    /// `postgres::failure` says. What the server rolled back because of a concurrent transaction is tried again, twice
    /// at most.
    [[nodiscard]] TOLLGATE_DECL result<postgres::answers> run(const postgres::batch& batch,
                                                               postgres::repeat when_lost = postgres::repeat::never);
    /// The same, with another bound on the wait for a connection.
    [[nodiscard]] TOLLGATE_DECL result<postgres::answers> run(const postgres::batch& batch, postgres::repeat when_lost,
                                                               milliseconds connection_wait_max);

    /// One statement that changes nothing.
    template <class... Values>
    [[nodiscard]] result<postgres::rows> ask(postgres::statement_text text, const Values&... values) {
        postgres::batch single = make_batch();
        single.add(text, values...);
        return run_one(single, postgres::repeat::allowed);
    }
    /// One statement that changes something.
    template <class... Values>
    [[nodiscard]] result<postgres::rows> change(postgres::statement_text text, const Values&... values) {
        postgres::batch single = make_batch();
        single.add(text, values...);
        return run_one(single, postgres::repeat::never);
    }

    /// A connection for a transaction of several round trips.
    [[nodiscard]] TOLLGATE_DECL result<postgres::transaction> begin();

    /// A connection outside of the pool, which does not count for its bound.
    [[nodiscard]] TOLLGATE_DECL result<postgres::connection> open_another() const;

    /// Outlives the database for as long as it is held.
    [[nodiscard]] TOLLGATE_DECL const std::shared_ptr<postgres::server_clock>& clock() const noexcept;

private:
    struct state;
    explicit postgres_database(std::unique_ptr<state> made) noexcept;
    TOLLGATE_DECL result<postgres::rows> run_one(const postgres::batch& batch, postgres::repeat when_lost);

    std::unique_ptr<state> state_;
};

namespace postgres {

/// A transaction that takes several batches, because what is sent depends on earlier answers. The first batch begins
/// with BEGIN, and one holds COMMIT; without that it is rolled back at the end of the scope. The server ends a
/// transaction that is idle for as long as an answer may take.
class transaction {
public:
    /// Movable, not copyable.
    TOLLGATE_DECL transaction(transaction&&) noexcept;
    transaction& operator=(transaction&&) = delete;
    TOLLGATE_DECL ~transaction();

    /// As the database's, but nothing is tried again.
    [[nodiscard]] TOLLGATE_DECL result<answers> run(const batch& next);
    /// It was committed: there is nothing to roll back.
    void committed() noexcept { is_open_ = false; }
    /// Whether the server rolled it back because of a concurrent transaction: it may be tried again, as a whole.
    [[nodiscard]] bool may_be_tried_again() const noexcept { return may_be_tried_again_; }

private:
    friend class tollgate::postgres_database;
    struct leased;
    explicit transaction(std::unique_ptr<leased> on) noexcept;

    std::unique_ptr<leased> on_;  // null when the connection was lost
    bool is_open_ = false;
    bool may_be_tried_again_ = false;
};

}  // namespace postgres

/// Rows of one query, by their key, for as long as `cache_invalidation_feed` (see `postgres_store::changes`) knows of no
/// change. See `row_cache` for its bounds.
template <class Key, class Row>
using postgres_row_cache = row_cache<Key, Row, cache_invalidation_feed>;

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/postgres_database.ipp>
#endif

#pragma once
#ifndef TOLLGATE_STORE_SQLITE_DATABASE_HPP
#define TOLLGATE_STORE_SQLITE_DATABASE_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/reconnecting_pool.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/store/detail/row_cache.hpp>
#include <tollgate/store/detail/sqlite/change_stamp.hpp>
#include <tollgate/store/detail/sqlite/database.hpp>
#include <tollgate/store/sqlite_own_transaction.hpp>
#include <tollgate/store/schema_status.hpp>
#include <tollgate/store/store_error.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tollgate::inline v0 {

/// Settings of the connections.
struct sqlite_database_settings {
    /// Connections that read at the same time, opened on demand. A read takes microseconds, so more than one connection per core gains
    /// nothing, and each costs two file descriptors and up to 2 MB of page cache.
    std::size_t readers_max = 8;
    /// The time for which a call waits in total, for a connection and for other processes that write. Together with the 2 s that a request
    /// may wait for a worker, this is less than the 5 s that most clients wait; a commit takes milliseconds.
    milliseconds busy_wait_max{2000};
    /// The virtual file system to use. Empty: the default of the system.
    std::string vfs{};
};

/// A SQLite database file for tables of your own, which may be the file of a `sqlite_store`. One connection writes, because SQLite has one
/// writer at a time and waiting in memory is cheaper than polling a file lock. Several connections read.
///
///     auto opened = sqlite_database::open("shop.db");
///     static constexpr sqlite::statement_text steps[] = {"CREATE TABLE orders (id INTEGER PRIMARY KEY, name TEXT)"};
///     if (auto done = opened->migrate("shop", steps); !done) return done;
///     auto name = opened->read([&](sqlite::database& on) {
///         return sql::read_value<std::string>(on.prepare("SELECT name FROM orders WHERE id = ?", id));
///     });
///
/// Thread rule: any thread. Calls block. Movable; no connection may be in use while the object moves or is destroyed.
class sqlite_database {
    using connections = detail::reconnecting_pool<sqlite::database>;

public:
    /// The time for which `open`, and `migrate` by default, wait for other processes. It is longer than `busy_wait_max`, because several
    /// processes that start at once create the tables one after another.
    static constexpr milliseconds start_wait_max{15'000};

    /// A connection in use, which the lease's destructor returns to the pool.
    using lease = connections::lease;

    /// Opens a database. Creates the file, which only its owner can read and write, if it does not exist. Waits up to `start_wait_max` for
    /// other processes. Errors: invalid for a path that is not a file's; unavailable if the file cannot be opened.
    static TOLLGATE_DECL result<sqlite_database> open(const std::string& path, const sqlite_database_settings& settings = {});

    /// Movable, not copyable.
    TOLLGATE_DECL sqlite_database(sqlite_database&&) noexcept;
    TOLLGATE_DECL sqlite_database& operator=(sqlite_database&&) noexcept;
    TOLLGATE_DECL ~sqlite_database();

    /// Updates the tables of a `component`: runs all of `steps` that the file has not seen, in order, or none. A released step is never
    /// changed, only followed by others. See `sqlite::migrate`.
    TOLLGATE_DECL result<void> migrate(std::string_view component, std::span<const sqlite::statement_text> steps,
                                       milliseconds wait_max = start_wait_max);

    /// Compares the version of `component`'s tables in a file with `steps`. Changes nothing. The version is 0 if there is no file.
    /// `objects` are the tables and indexes that `steps` leave, for `schema_status::missing`. Errors: as for `open`.
    [[nodiscard]] static TOLLGATE_DECL result<schema_status> check_schema(const std::string& path, std::string_view component,
                                                                          std::span<const sqlite::statement_text> steps,
                                                                          const sqlite_database_settings& settings = {},
                                                                          std::span<const std::string_view> objects = {});

    /// The time until which a call waits; empty for `busy_wait_max` from the call. Calls with the same deadline wait until it in total.
    using deadline = std::optional<std::chrono::steady_clock::time_point>;
    /// Returns the time `busy_wait_max` from now, or `wait_max` from now if that is less.
    [[nodiscard]] TOLLGATE_DECL deadline deadline_from_now(milliseconds wait_max = (milliseconds::max)()) const noexcept;

    /// Calls `body(sqlite::database&)`, which returns a `result`, with a connection that cannot write. Nothing is thrown: an exception from
    /// `body` becomes an error (unavailable).
    template <class Body>
    std::invoke_result_t<Body&, sqlite::database&> read(Body&& body, deadline end = {}) noexcept {
        return lend(&sqlite_database::reader, end, body);
    }

    /// Calls `body` like `read`, with the connection that writes. Each statement is a transaction of its own, which is committed when its
    /// last row was read. A statement with RETURNING therefore belongs in `transact`: if only its first row is read, an error of its commit
    /// is lost.
    template <class Body>
    std::invoke_result_t<Body&, sqlite::database&> write(Body&& body, deadline end = {}) noexcept {
        return lend(&sqlite_database::writer, end, body);
    }

    /// Calls `body` like `write`, in one transaction, which is committed when `body` returns a value, and rolled back when it returns an
    /// error or throws.
    template <class Body>
    std::invoke_result_t<Body&, sqlite::database&> transact(Body&& body, deadline end = {}) noexcept {
        return lend(&sqlite_database::writer, end, [&](sqlite::database& on) { return in_transaction(on, body); });
    }

    /// Returns a connection for reading until the end of the scope. Error (unavailable) if none became free in time.
    [[nodiscard]] TOLLGATE_DECL result<lease> reader(deadline end = {});
    /// Returns the only connection that writes. Other calls wait for it until the end of the scope. Error (unavailable) if it did not
    /// become free in time.
    [[nodiscard]] TOLLGATE_DECL result<lease> writer(deadline end = {});

    /// Returns an object that detects commits of any process, for a `sqlite_row_cache`. Its address is stable when the database moves.
    [[nodiscard]] TOLLGATE_DECL const sqlite::change_stamp& changes() const noexcept;

    /// Returns the counts of the connections, without caches.
    [[nodiscard]] TOLLGATE_DECL backend_statistics statistics() const noexcept;

private:
    struct state;
    explicit sqlite_database(std::unique_ptr<state> initial) noexcept;

    /// Calls `body` with the connection that `take` returns.
    template <class Body>
    std::invoke_result_t<Body&, sqlite::database&> lend(result<lease> (sqlite_database::*take)(deadline), deadline end,
                                                        Body&& body) noexcept {
        return detail::without_exceptions([&]() -> std::invoke_result_t<Body&, sqlite::database&> {
            auto on = (this->*take)(end);
            if (!on) return std::move(on).error();
            return body(**on);
        });
    }
    template <class Body>
    static std::invoke_result_t<Body&, sqlite::database&> in_transaction(sqlite::database& on, Body& body) {
        auto change = sqlite::transaction::begin(on);
        if (!change) return std::move(change).error();
        auto returned = body(on);
        if (!returned) return returned;
        if (auto done = change->commit(); !done) return std::move(done).error();
        return returned;
    }

    std::unique_ptr<state> state_;
};

/// Caches the rows of a query by their key. A row is returned without a query until anything is committed to the file, so a cached row
/// always equals the result of the query.
///
///     sqlite_row_cache<user_id, user_row> users{database.changes(), 16'384};
///     auto user = users.find(id, [&] { return read_user(id); });   // result<std::optional<user_row>>
///
/// See `row_cache` for its bounds.
template <class Key, class Row>
using sqlite_row_cache = row_cache<Key, Row, sqlite::change_stamp>;

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/sqlite_database.ipp>
#endif

#endif  // TOLLGATE_STORE_SQLITE_DATABASE_HPP

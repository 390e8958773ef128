#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_DATABASE_HPP
#define TOLLGATE_STORE_DETAIL_SQLITE_DATABASE_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/store/detail/sqlite/statement.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct sqlite3;

namespace tollgate::inline v0::sqlite {

struct database_settings {
    /// How long a call waits for other writers before it fails (unavailable).
    milliseconds busy_wait_max{2000};
    /// Refuses to change anything.
    bool read_only = false;
    /// The virtual file system to use; empty for the system's own.
    std::string vfs{};
};

/// A connection to a database file: write-ahead log, commits are on disk when they return (synchronous=FULL), foreign
/// keys are enforced, and every statement is prepared once.
///
/// Thread rule: one thread at a time. Blocking. Errors: unavailable for conditions that may pass (busy for too long,
/// full disk, no permission), conflict for a violated constraint, internal for a damaged file or an invalid statement.
class database {
public:
    /// Creates the file, readable and writable by its owner only, if it does not exist. In-memory databases are
    /// refused: each connection would have its own.
    static TOLLGATE_DECL result<database> open(const std::string& path, const database_settings& settings = {});
    /// Wraps an open connection, which stays its owner's and must outlive this object. Throws std::bad_alloc.
    [[nodiscard]] static TOLLGATE_DECL database borrow(sqlite3* open);

    /// Binds `values` to the `?`s from left to right.
    template <class... Values>
    [[nodiscard]] statement prepare(statement_text text, const Values&... values) {
        statement prepared = prepare_unbound(text);
        prepared.bind(values...);
        return prepared;
    }

    /// Prepares, binds and runs to the end.
    template <class... Values>
    result<void> run(statement_text text, const Values&... values) {
        return prepare(text, values...).finish();
    }

    /// Runs a statement and returns true if any row was inserted, updated or deleted.
    template <class... Values>
    result<bool> run_counted(statement_text text, const Values&... values) {
        if (auto done = run(text, values...); !done) return std::move(done).error();
        return changes() > 0;
    }

    /// Runs a statement and returns the number of rows that it inserted, updated or deleted.
    template <class... Values>
    result<std::size_t> remove(statement_text text, const Values&... values) {
        if (auto done = run(text, values...); !done) return std::move(done).error();
        return static_cast<std::size_t>(changes());
    }

    /// Runs several statements separated by semicolons, without parameters: for schemas.
    TOLLGATE_DECL result<void> run_script(statement_text text);

    /// The id of the last row that this connection inserted.
    [[nodiscard]] TOLLGATE_DECL std::int64_t last_insert_id() const noexcept;
    /// The number of rows that the last INSERT, UPDATE or DELETE affected.
    [[nodiscard]] TOLLGATE_DECL std::int64_t changes() const noexcept;

    /// Returns true if it is open and in no transaction. Without memory, ROLLBACK fails too; only closing ends the transaction then,
    /// which would hold the file's lock and swallow later changes.
    [[nodiscard]] TOLLGATE_DECL bool is_sound() const noexcept;
    /// Sets how long calls wait.
    void set_busy_wait_max(milliseconds wait_max) noexcept { busy_handler_->wait_max = wait_max; }

    [[nodiscard]] sqlite3* handle() const noexcept { return handle_.get(); }

private:
    struct closer {
        // Not a default argument, which would be unknown until the end of the class, where unique_ptr needs it.
        closer() noexcept : is_owner{true} {}
        explicit closer(bool owns) noexcept : is_owner{owns} {}
        bool is_owner;
        TOLLGATE_DECL void operator()(sqlite3* open) const noexcept;
    };
    struct finalizer {
        TOLLGATE_DECL void operator()(sqlite3_stmt* prepared) const noexcept;
    };
    /// On the heap individually, because the statement that uses it points at `in_use`.
    struct cached_statement {
        std::string_view text;
        std::unique_ptr<sqlite3_stmt, finalizer> prepared;
        bool in_use = false;
    };

    /// The state of SQLite's busy handler; its address is stable when the database moves.
    struct busy_handler {
        milliseconds wait_max{};
        std::chrono::steady_clock::time_point since{};

        static TOLLGATE_DECL int wait(void* self, int waits_before) noexcept;
    };

    database() = default;
    TOLLGATE_DECL result<void> connect(const std::string& path, const database_settings& settings);
    TOLLGATE_DECL result<void> use_write_ahead_log(const std::string& path);
    TOLLGATE_DECL statement prepare_unbound(statement_text text);

    // In this order: statements are finalized first, and the handler's state outlives the connection.
    std::unique_ptr<busy_handler> busy_handler_ = std::make_unique<busy_handler>();
    std::unique_ptr<sqlite3, closer> handle_;
    std::vector<std::unique_ptr<cached_statement>> cached_;  // as many statements as the program has literals
};

/// Takes the write lock at once (BEGIN IMMEDIATE), so that what is read cannot change before it is written. Rolls back
/// unless `commit` succeeded.
///
///     auto change = transaction::begin(database);
///     if (!change) return std::move(change).error();
///     ...
///     return change->commit();
class transaction {
public:
    static TOLLGATE_DECL result<transaction> begin(database& on);

    transaction(transaction&& other) noexcept : on_{std::exchange(other.on_, nullptr)} {}
    transaction& operator=(transaction&&) = delete;
    TOLLGATE_DECL ~transaction();

    /// Durable when it succeeds; with an error, the transaction had no effect.
    TOLLGATE_DECL result<void> commit();

private:
    explicit transaction(database& on) noexcept : on_{&on} {}

    database* on_;  // null if there is nothing to roll back
};

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/database.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_DATABASE_HPP

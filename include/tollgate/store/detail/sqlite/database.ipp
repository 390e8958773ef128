#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_DATABASE_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_DATABASE_IPP

#include <tollgate/base/detail/system/files.hpp>
#include <tollgate/store/detail/sqlite/database.hpp>
#include <tollgate/store/detail/sqlite/failure.hpp>

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <thread>

namespace tollgate::inline v0::sqlite {

TOLLGATE_DECL void database::closer::operator()(sqlite3* open) const noexcept {
    if (is_owner) sqlite3_close_v2(open);
}

TOLLGATE_DECL void database::finalizer::operator()(sqlite3_stmt* prepared) const noexcept {
    sqlite3_finalize(prepared);
}

TOLLGATE_DECL int database::busy_handler::wait(void* self, int waits_before) noexcept {
    auto& handler = *static_cast<database::busy_handler*>(self);
    const auto now = std::chrono::steady_clock::now();
    if (waits_before == 0) handler.since = now;
    if (std::chrono::floor<milliseconds>(now - handler.since) >= handler.wait_max) return 0;
    // A commit takes about a millisecond, the time of one fsync: poll quickly at first, then more slowly.
    std::this_thread::sleep_for(std::chrono::microseconds{200} * (std::min)(1 << (std::min)(waits_before, 6), 50));
    return 1;
}

TOLLGATE_DECL result<database> database::open(const std::string& path, const database_settings& settings) {
    if (path.empty() || path == ":memory:" || path.starts_with("file:") || path.find('\0') != std::string::npos)
        return invalid("A database needs the path of a file, not \"" + path + "\".");
    if (sqlite3_threadsafe() == 0) return internal_error("SQLite was built without support for threads.");
    // SQLite would create a file that everybody may read (0644). An empty file is an empty database. Closing a file drops the locks that
    // SQLite has on it in this process (https://www.sqlite.org/howtocorrupt.html section 2.2).
    if (!settings.read_only) tollgate::detail::make_private_file(path);
    database opened;
    if (auto done = opened.connect(path, settings); !done) return std::move(done).error();
    return opened;
}

TOLLGATE_DECL database database::borrow(sqlite3* open) {
    database opened;
    opened.handle_ = {open, closer{false}};
    return opened;
}

TOLLGATE_DECL result<void> database::connect(const std::string& path, const database_settings& settings) {
    sqlite3* opened = nullptr;
    // No mutex: one thread at a time is the rule here, and the pool keeps it.
    const int flags = SQLITE_OPEN_READWRITE | (settings.read_only ? 0 : SQLITE_OPEN_CREATE) | SQLITE_OPEN_NOMUTEX |
                      SQLITE_OPEN_EXRESCODE;
    const int code =
        sqlite3_open_v2(path.c_str(), &opened, flags, settings.vfs.empty() ? nullptr : settings.vfs.c_str());
    handle_.reset(opened);  // also after a failure: it has the reason
    if (code != SQLITE_OK) return failure(opened, code, path);

    busy_handler_->wait_max = settings.busy_wait_max;
    sqlite3_busy_handler(opened, &busy_handler::wait, busy_handler_.get());

    // The file is untrusted data: it must not call functions with side effects or corrupt itself through SQLite's own
    // tables, and double-quoted text is never a string literal.
    for (const auto& [option, on] : {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1}, {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                    {SQLITE_DBCONFIG_DQS_DML, 0}, {SQLITE_DBCONFIG_DQS_DDL, 0}})
        sqlite3_db_config(opened, option, on, static_cast<int*>(nullptr));

    // A connection that only reads uses the log if the file has one. Turning it on would write to an empty file.
    if (auto done = settings.read_only ? result<void>{} : use_write_ahead_log(path); !done) return done;
    // FULL syncs the log at each commit, so acknowledged changes survive a power failure. The log shrinks to 64 MiB
    // after a burst. Deleted content is overwritten with zeros.
    if (auto done = run_script("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 67108864; "
                               "PRAGMA secure_delete = ON;");
        !done) {
        done.error().cause += ": " + path;
        return done;
    }
    if (settings.read_only) return run_script("PRAGMA query_only = ON;");
    return {};
}

TOLLGATE_DECL result<void> database::use_write_ahead_log(const std::string& path) {
    // SQLite does not call the busy handler where waiting could deadlock, as when several processes change a new file's
    // mode at once.
    for (int waits = 0;; ++waits) {
        auto mode = sql::read_value<std::string>(prepare("PRAGMA journal_mode = WAL"));
        if (mode && *mode == "wal") return {};
        if (mode)
            return unavailable("SQLite: a write-ahead log is not possible here, for example on a network file system: " + path);
        const bool busy = (sqlite3_errcode(handle_.get()) & 0xff) == SQLITE_BUSY;
        if (!busy || busy_handler::wait(busy_handler_.get(), waits) == 0) {
            mode.error().cause += ": " + path;
            return std::move(mode).error();
        }
    }
}

TOLLGATE_DECL statement database::prepare_unbound(statement_text text) {
    for (const auto& each : cached_) {
        if (each->in_use || each->text != text.text()) continue;
        each->in_use = true;
        return statement{each->prepared.get(), &each->in_use};
    }
    const std::string own = text.is_shared() ? sql::without_locks(text.text()) : std::string{text.text()};
    sqlite3_stmt* prepared = nullptr;
    const int code = sqlite3_prepare_v3(handle_.get(), own.data(), static_cast<int>(own.size()), SQLITE_PREPARE_PERSISTENT, &prepared,
                                        nullptr);
    if (code != SQLITE_OK) return statement{failure(handle_.get(), code, text.text())};
    if (prepared == nullptr) return statement{internal_error("SQLite: a text without a statement")};
    std::unique_ptr<sqlite3_stmt, finalizer> owned{prepared};
    auto cached = std::make_unique<cached_statement>(cached_statement{text.text(), std::move(owned), true});
    cached_.push_back(std::move(cached));
    return statement{prepared, &cached_.back()->in_use};
}

TOLLGATE_DECL result<void> database::run_script(statement_text text) {
    const int code = sqlite3_exec(handle_.get(), text.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return failure(handle_.get(), code, text.text());
    return {};
}

TOLLGATE_DECL std::int64_t database::last_insert_id() const noexcept {
    return sqlite3_last_insert_rowid(handle_.get());
}

TOLLGATE_DECL bool database::is_sound() const noexcept {
    return handle_ != nullptr && sqlite3_get_autocommit(handle_.get()) != 0;
}

TOLLGATE_DECL std::int64_t database::changes() const noexcept { return sqlite3_changes64(handle_.get()); }

TOLLGATE_DECL result<transaction> transaction::begin(database& on) {
    if (auto started = on.run("BEGIN IMMEDIATE"); !started) return std::move(started).error();
    return transaction{on};
}

TOLLGATE_DECL transaction::~transaction() {
    // A severe failure, such as a full disk, has already rolled back; then there is nothing to do. If this fails, the pool
    // closes the connection.
    if (on_ != nullptr && sqlite3_get_autocommit(on_->handle()) == 0)
        sqlite3_exec(on_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

TOLLGATE_DECL result<void> transaction::commit() {
    auto done = on_->run("COMMIT");
    if (done) on_ = nullptr;
    return done;
}

}  // namespace tollgate::sqlite

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_DATABASE_IPP

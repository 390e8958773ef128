#include "sqlite_directory.hpp"

#include <sqlite3.h>

namespace reference {

using namespace tollgate;

namespace {

constexpr sql::statement_text sqlite_migrations[] = {
    R"sql(
    CREATE TABLE directory_users (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        login TEXT NOT NULL UNIQUE COLLATE NOCASE,
        password_hash TEXT NOT NULL,
        currency TEXT NOT NULL,
        balance TEXT NOT NULL,
        requests_per_day INTEGER
    ) STRICT;

    CREATE TABLE directory_accounts (
        service TEXT NOT NULL,
        id INTEGER NOT NULL,
        user_id INTEGER NOT NULL REFERENCES directory_users (id),
        name TEXT NOT NULL,
        admin INTEGER NOT NULL,
        PRIMARY KEY (service, id)
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX directory_accounts_by_user ON directory_accounts (user_id, service, id);
    )sql",
    // Each new account looks up the largest id of all services.
    "CREATE INDEX directory_accounts_by_id ON directory_accounts (id)",
    "ALTER TABLE directory_users ADD COLUMN disabled INTEGER NOT NULL DEFAULT 0",
    // The audit log. Entries of a deleted user are kept as long as all others.
    R"sql(
    CREATE TABLE directory_activities (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL,
        user_id INTEGER NOT NULL,
        subject TEXT NOT NULL,
        client TEXT NOT NULL,
        at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX directory_activities_by_user ON directory_activities (user_id, id);
    CREATE INDEX directory_activities_by_age ON directory_activities (at);
    )sql",
    "CREATE TABLE directory_keys (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
    // The largest id that an account of any service ever had: ids are never reused.
    R"sql(
    CREATE TABLE directory_last_account (id INTEGER NOT NULL) STRICT;
    INSERT INTO directory_last_account SELECT coalesce(max(id), 0) FROM directory_accounts;
    )sql",
};

/// The tables and indexes that these steps leave.
constexpr std::string_view sqlite_objects[] = {
    "directory_accounts", "directory_accounts_by_id", "directory_accounts_by_user", "directory_activities", "directory_activities_by_age",
    "directory_activities_by_user", "directory_keys", "directory_last_account", "directory_users"};

}  // namespace

result<sqlite_directory> sqlite_directory::open(const std::filesystem::path& file) {
    auto opened = sqlite_database::open(file.string());
    if (!opened) return std::move(opened).error();
    if (auto done = opened->migrate(directory_component, sqlite_migrations); !done) return std::move(done).error();
    return sqlite_directory{*std::move(opened)};
}

result<schema_status> sqlite_directory::check_schema(const std::filesystem::path& file) {
    return sqlite_database::check_schema(file.string(), directory_component, sqlite_migrations, {}, sqlite_objects);
}

result<void> sqlite_directory::check_writable(sqlite_database& opened) {
    // A directory without permission to write refuses the transaction. A file without it is open for reading, and does not.
    return opened.transact([](sqlite::database& on) -> result<void> {
        if (sqlite3_db_readonly(on.handle(), "main") == 1) return unavailable("this process may not write to the file");
        return {};
    });
}

result<std::optional<user_id>> sqlite_directory::owner_of(token_id token) {
    return read_one([](user_id owner) { return owner; }, "SELECT user_id FROM tollgate_personal_tokens WHERE id = ?", token);
}

result<std::vector<application_grant>> sqlite_directory::grants_of(application_id application, user_id first, std::size_t rows_max) {
    return read_all(to_application_grant,
                    "SELECT user_id, scopes, created_at, last_used_at FROM tollgate_grants WHERE application_id = ? AND user_id >= ? "
                    "ORDER BY user_id LIMIT ?",
                    application, first, static_cast<std::int64_t>(rows_max));
}

result<void> sqlite_directory::record(const activity& activity) {
    return database_.transact([&](sqlite::database& on) -> result<void> {
        if (auto inserted = on.run("INSERT INTO directory_activities (kind, user_id, subject, client, at) VALUES (?, ?, ?, ?, ?)",
                                   to_text(activity.kind), activity.user, activity.subject, client_text(activity), activity.at);
            !inserted)
            return inserted;
        if (auto swept = on.run("DELETE FROM directory_activities WHERE user_id = ?1 AND kind = ?2 AND id <= (SELECT id FROM "
                                "directory_activities WHERE user_id = ?1 AND kind = ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3)",
                                activity.user, to_text(activity.kind), static_cast<std::int64_t>(activities_per_kind_max));
            !swept)
            return swept;
        return on.run("DELETE FROM directory_activities WHERE id IN (SELECT id FROM directory_activities WHERE at < ? "
                      "ORDER BY at LIMIT ?)",
                      activity.at - activity_lifetime, static_cast<std::int64_t>(activities_swept));
    });
}

result<std::optional<account_ref>> sqlite_directory::account_of_delivery(delivery_id delivery) {
    return read_one([](const service_name& service, account_id account) { return account_ref{service, account}; },
                    "SELECT service, account_id FROM tollgate_deliveries "
                    "JOIN tollgate_hooks ON tollgate_hooks.id = hook_id WHERE tollgate_deliveries.id = ? AND account_id <> 0",
                    delivery);
}

result<void> sqlite_directory::delete_user(user_id user) {
    return database_.transact([&](sqlite::database& on) -> result<void> {
        if (auto done = on.run("DELETE FROM directory_accounts WHERE user_id = ?", user); !done) return done;
        auto deleted = on.run_counted("DELETE FROM directory_users WHERE id = ?", user);
        if (!deleted) return std::move(deleted).error();
        if (!*deleted) return not_found();
        return {};
    });
}

result<account_id> sqlite_directory::add_account(user_id user, const service_name& service, std::string_view name,
                                                  bool admin) {
    return database_.transact([&](sqlite::database& on) -> result<account_id> {
        auto known = sql::read_value<user_id>(on.prepare("SELECT id FROM directory_users WHERE id = ?", user));
        if (!known) return std::move(known).error();
        if (!*known) return not_found();
        auto owned = sql::read_value<std::int64_t>(
            on.prepare("SELECT count(*) FROM directory_accounts WHERE user_id = ? AND service = ?", user, service));
        if (!owned) return std::move(owned).error();
        if (owned->value_or(0) >= accounts_max) return error{error_kind::conflict, "The user has too many accounts.", {}};
        // Ids are unique over all services: an id of one service's account is never that of another service's.
        // A process of an older version, which does not write the largest id, may use the same file.
        auto next = sql::read_value<account_id>(on.prepare(
            "UPDATE directory_last_account SET id = max(id, (SELECT coalesce(max(id), 0) FROM directory_accounts)) + 1 RETURNING id"));
        if (!next) return std::move(next).error();
        if (!*next) return internal_error("SQLite: no last account id");
        auto done = on.run("INSERT INTO directory_accounts (service, id, user_id, name, admin) VALUES (?, ?, ?, ?, ?)",
                           service, **next, user, name, admin);
        if (!done) return std::move(done).error();
        return **next;
    });
}

}  // namespace reference

#include "sqlite_directory.hpp"

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

}  // namespace

sqlite_directory::sqlite_directory(sqlite_database opened) : database_{std::move(opened)} {}

result<sqlite_directory> sqlite_directory::open(const std::filesystem::path& file) {
    auto opened = sqlite_database::open(file.string());
    if (!opened) return std::move(opened).error();
    if (auto done = opened->migrate(directory_component, sqlite_migrations); !done) return std::move(done).error();
    return sqlite_directory{*std::move(opened)};
}

result<schema_status> sqlite_directory::check_schema(const std::filesystem::path& file) {
    return sqlite_database::check_schema(file.string(), directory_component, sqlite_migrations);
}

result<sqlite_directory::user_row> sqlite_directory::find_user(user_id user) {
    auto found = database_.read([&](sqlite::database& on) {
        return sql::read_one(
            on.prepare("SELECT balance, currency, requests_per_day FROM directory_users WHERE id = ? AND NOT disabled", user),
            [](const decimal& amount, const currency_code& currency, std::optional<std::int64_t> requests) {
                return user_row{amount, currency, requests};
            });
    });
    if (!found) return std::move(found).error();
    if (!*found) return not_found();
    return **found;
}

result<balance> sqlite_directory::balance_of(user_id user) {
    auto found = find_user(user);
    if (!found) return std::move(found).error();
    return balance{user, found->balance, found->currency};
}

result<std::optional<quota>> sqlite_directory::quota_of(user_id user) {
    auto found = find_user(user);
    if (!found) return std::move(found).error();
    return found->own_quota();
}

result<bool> sqlite_directory::is_active(user_id user) {
    auto found = find_user(user);
    if (found) return true;
    if (found.error().kind == error_kind::not_found) return false;
    return std::move(found).error();
}

result<std::vector<account>> sqlite_directory::accounts_of(user_id user, std::string_view service) {
    return database_.read([&](sqlite::database& on) {
        return sql::read_all(
            on.prepare("SELECT id, name, admin FROM directory_accounts WHERE user_id = ? AND service = ? ORDER BY id",
                       user, service),
            [](account_id id, std::string& name, bool admin) { return account{id, std::move(name), admin}; });
    });
}

result<bool> sqlite_directory::has_account(user_id user, const account_ref& account) {
    return database_.read([&](sqlite::database& on) -> result<bool> {
        auto found = sql::read_value<bool>(
            on.prepare("SELECT 1 FROM directory_accounts WHERE service = ? AND id = ? AND user_id = ?", account.service,
                       account.account, user));
        if (!found) return std::move(found).error();
        return found->has_value();
    });
}

result<std::optional<user_id>> sqlite_directory::owner_of(const account_ref& account) {
    return database_.read([&](sqlite::database& on) {
        return sql::read_value<user_id>(on.prepare("SELECT user_id FROM directory_accounts WHERE service = ? AND id = ?",
                                                   account.service, account.account));
    });
}

result<std::optional<user_id>> sqlite_directory::owner_of(token_id token) {
    return database_.read([&](sqlite::database& on) {
        return sql::read_value<user_id>(on.prepare("SELECT user FROM tollgate_personal_tokens WHERE id = ?", token));
    });
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

result<std::vector<activity>> sqlite_directory::activities(std::optional<user_id> user, std::size_t rows_max) {
    const auto rows = static_cast<std::int64_t>(rows_max);
    return database_.read([&](sqlite::database& on) {
        auto found = user ? on.prepare("SELECT kind, user_id, subject, client, at FROM directory_activities "
                                       "WHERE user_id = ? ORDER BY id DESC LIMIT ?",
                                       *user, rows)
                          : on.prepare("SELECT kind, user_id, subject, client, at FROM directory_activities "
                                       "ORDER BY id DESC LIMIT ?",
                                       rows);
        return sql::read_all(std::move(found), to_activity);
    });
}

result<user_id> sqlite_directory::add_user(const new_user& user) {
    return database_.write([&](sqlite::database& on) -> result<user_id> {
        auto done =
            on.run("INSERT INTO directory_users (login, password_hash, currency, balance) VALUES (?, ?, ?, ?)",
                   user.login, user.password_hash, user.currency, user.balance);
        if (!done) return std::move(done).error();
        return user_id{on.last_insert_id()};
    });
}

result<std::string> sqlite_directory::shared_key(std::string_view name, std::string_view proposed) {
    return database_.write([&](sqlite::database& on) -> result<std::string> {
        auto stored = sql::read_value<std::string>(on.prepare(
            "INSERT INTO directory_keys (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value RETURNING value",
            name, proposed));
        if (!stored) return std::move(stored).error();
        return std::move(*stored).value();
    });
}

result<std::optional<known_login>> sqlite_directory::find_login(std::string_view login) {
    return database_.read([&](sqlite::database& on) {
        return sql::read_one(
            on.prepare("SELECT id, password_hash FROM directory_users WHERE login = ? AND NOT disabled", login),
            [](user_id user, std::string& hash) { return known_login{user, std::move(hash)}; });
    });
}

result<std::vector<user_record>> sqlite_directory::users_from(user_id first, std::size_t rows_max) {
    return database_.read([&](sqlite::database& on) {
        return sql::read_all(
            on.prepare("SELECT id, login, currency, balance, requests_per_day, disabled FROM directory_users "
                       "WHERE id >= ? ORDER BY id LIMIT ?",
                       first, static_cast<std::int64_t>(rows_max)),
            to_user_record);
    });
}

result<std::optional<account_ref>> sqlite_directory::account_of_delivery(delivery_id delivery) {
    return database_.read([&](sqlite::database& on) {
        return sql::read_one(
            on.prepare("SELECT service, account FROM tollgate_deliveries "
                       "JOIN tollgate_hooks ON tollgate_hooks.id = hook WHERE tollgate_deliveries.id = ? AND service <> ''",
                       delivery),
            [](const service_name& service, account_id account) { return account_ref{service, account}; });
    });
}

template <class... Values>
result<void> sqlite_directory::change_one(sql::statement_text text, const Values&... values) {
    return database_.write([&](sqlite::database& on) -> result<void> {
        auto changed = on.run_counted(text, values...);
        if (!changed) return std::move(changed).error();
        if (!*changed) return not_found();
        return {};
    });
}

result<void> sqlite_directory::set_password_hash(user_id user, std::string_view hash) {
    return change_one("UPDATE directory_users SET password_hash = ? WHERE id = ?", hash, user);
}

result<void> sqlite_directory::replace_password_hash(user_id user, const renewed_hash& renewed) {
    return change_one("UPDATE directory_users SET password_hash = ? WHERE id = ? AND password_hash = ?", renewed.after,
                      user, renewed.before);
}

result<void> sqlite_directory::set_requests_per_day(user_id user, std::optional<std::uint32_t> requests) {
    return change_one("UPDATE directory_users SET requests_per_day = ? WHERE id = ?",
                      requests ? std::optional{std::int64_t{*requests}} : std::nullopt, user);
}

result<void> sqlite_directory::set_disabled(user_id user, bool disabled) {
    return change_one("UPDATE directory_users SET disabled = ? WHERE id = ?", disabled, user);
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

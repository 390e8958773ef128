#include "postgres_directory.hpp"

namespace reference {

using namespace tollgate;

namespace {

// Logins are case-insensitive for ASCII letters, as on SQLite: lower() in the C locale. Account ids are unique over all
// services, so that an account's id at another service never matches another account by chance.
constexpr postgres::schema_step postgres_migrations[] = {
    {R"sql(
    CREATE TABLE directory_users (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        login text COLLATE "C" NOT NULL,
        password_hash text NOT NULL,
        currency text NOT NULL,
        balance text NOT NULL,
        requests_per_day bigint
    );
    CREATE UNIQUE INDEX directory_users_by_login ON directory_users (lower(login));

    CREATE TABLE directory_accounts (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        service text COLLATE "C" NOT NULL,
        user_id bigint NOT NULL REFERENCES directory_users,
        name text NOT NULL,
        admin boolean NOT NULL
    );
    CREATE INDEX directory_accounts_by_user ON directory_accounts (user_id, service, id);
    )sql"},
    // Nodes that cache balances and quotas are notified of the users whose rows changed, once per statement.
    {R"sql(
    CREATE FUNCTION directory_tell_of_users() RETURNS trigger LANGUAGE plpgsql AS $body$
    DECLARE
        users bigint[];
    BEGIN
        IF TG_OP = 'TRUNCATE' THEN
            PERFORM pg_notify('tollgate_changes', 'all');
            RETURN NULL;
        ELSIF TG_OP = 'DELETE' THEN
            users := ARRAY(SELECT id FROM before LIMIT 101);
        ELSE
            users := ARRAY(SELECT id FROM (
                SELECT id, balance, currency, requests_per_day FROM before EXCEPT
                SELECT id, balance, currency, requests_per_day FROM after) AS changed LIMIT 101);
        END IF;
        IF cardinality(users) > 100 THEN
            PERFORM pg_notify('tollgate_changes', 'all');
        ELSIF cardinality(users) > 0 THEN
            PERFORM pg_notify('tollgate_changes', 'users ' || array_to_string(users, ' '));
        END IF;
        RETURN NULL;
    END $body$;
    CREATE TRIGGER directory_tell_of_deletion AFTER DELETE ON directory_users
        REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION directory_tell_of_users();
    CREATE TRIGGER directory_tell_of_change AFTER UPDATE ON directory_users
        REFERENCING OLD TABLE AS before NEW TABLE AS after
        FOR EACH STATEMENT EXECUTE FUNCTION directory_tell_of_users();
    CREATE TRIGGER directory_tell_of_truncation AFTER TRUNCATE ON directory_users
        FOR EACH STATEMENT EXECUTE FUNCTION directory_tell_of_users();
    )sql"},
    // Nodes that cache users are also notified of those who were disabled.
    {R"sql(
    ALTER TABLE directory_users ADD COLUMN disabled boolean NOT NULL DEFAULT false;
    CREATE OR REPLACE FUNCTION directory_tell_of_users() RETURNS trigger LANGUAGE plpgsql AS $body$
    DECLARE
        users bigint[];
    BEGIN
        IF TG_OP = 'TRUNCATE' THEN
            PERFORM pg_notify('tollgate_changes', 'all');
            RETURN NULL;
        ELSIF TG_OP = 'DELETE' THEN
            users := ARRAY(SELECT id FROM before LIMIT 101);
        ELSE
            users := ARRAY(SELECT id FROM (
                SELECT id, balance, currency, requests_per_day, disabled FROM before EXCEPT
                SELECT id, balance, currency, requests_per_day, disabled FROM after) AS changed LIMIT 101);
        END IF;
        IF cardinality(users) > 100 THEN
            PERFORM pg_notify('tollgate_changes', 'all');
        ELSIF cardinality(users) > 0 THEN
            PERFORM pg_notify('tollgate_changes', 'users ' || array_to_string(users, ' '));
        END IF;
        RETURN NULL;
    END $body$;
    )sql"},
    // The audit log. Entries of a deleted user are kept as long as all others.
    {R"sql(
    CREATE TABLE directory_activities (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        kind text NOT NULL,
        user_id bigint NOT NULL,
        subject text NOT NULL,
        client text NOT NULL,
        at bigint NOT NULL
    );
    CREATE INDEX directory_activities_by_user ON directory_activities (user_id, id);
    CREATE INDEX directory_activities_by_age ON directory_activities (at);
    )sql"},
    {R"sql(
    CREATE TABLE directory_keys (name text COLLATE "C" PRIMARY KEY, value text NOT NULL);
    )sql"},
};

}  // namespace

result<postgres_directory> postgres_directory::open(const std::string& connection_string,
                                                     std::size_t connections_max) {
    auto connections = postgres_database::open(connection_string, {.connections_max = connections_max, .callers_clock = nullptr});
    if (!connections) return std::move(connections).error();
    if (auto done = connections->migrate(directory_component, postgres_migrations); !done) return std::move(done).error();
    return postgres_directory{*std::move(connections)};
}

result<schema_status> postgres_directory::check_schema(const std::string& connection_string) {
    return postgres_database::check_schema(connection_string, directory_component, postgres_migrations);
}

result<postgres_directory::user_row> postgres_directory::find_user(user_id user) {
    auto found = database_.query("SELECT balance, currency, requests_per_day FROM directory_users WHERE id = $1 AND NOT disabled", user);
    if (!found) return std::move(found).error();
    const auto row = found->next<decimal, currency_code, std::optional<std::int64_t>>();
    if (!row) return row.error();
    if (!*row) return not_found();
    const auto& [amount, currency, requests] = **row;
    return user_row{amount, currency, requests};
}

result<balance> postgres_directory::balance_of(user_id user) {
    auto found = find_user(user);
    if (!found) return std::move(found).error();
    return balance{user, found->balance, found->currency};
}

result<std::optional<quota>> postgres_directory::quota_of(user_id user) {
    auto found = find_user(user);
    if (!found) return std::move(found).error();
    return found->own_quota();
}

result<bool> postgres_directory::is_active(user_id user) {
    auto found = find_user(user);
    if (found) return true;
    if (found.error().kind == error_kind::not_found) return false;
    return std::move(found).error();
}

result<std::vector<account>> postgres_directory::accounts_of(user_id user, std::string_view service) {
    if (!postgres::is_storable(service)) return std::vector<account>{};
    auto listed = database_.query(
        "SELECT id, name, admin FROM directory_accounts WHERE user_id = $1 AND service = $2 ORDER BY id", user,
        service);
    if (!listed) return std::move(listed).error();
    std::vector<account> accounts;
    while (true) {
        auto row = listed->next<account_id, std::string, bool>();
        if (!row) return std::move(row).error();
        if (!*row) return accounts;
        auto& [id, name, admin] = **row;
        accounts.push_back({id, std::move(name), admin});
    }
}

result<bool> postgres_directory::has_account(user_id user, const account_ref& account) {
    if (!postgres::is_storable(account.service)) return false;
    auto found = database_.query("SELECT true FROM directory_accounts WHERE id = $1 AND service = $2 AND user_id = $3",
                                  account.account, account.service, user);
    if (!found) return std::move(found).error();
    return found->count() > 0;
}

result<std::optional<user_id>> postgres_directory::owner_of(const account_ref& account) {
    if (!postgres::is_storable(account.service)) return std::optional<user_id>{};
    auto found = database_.query("SELECT user_id FROM directory_accounts WHERE id = $1 AND service = $2", account.account,
                               account.service);
    if (!found) return std::move(found).error();
    return sql::read_value<user_id>(*found);
}

result<std::optional<user_id>> postgres_directory::owner_of(token_id token) {
    auto found = database_.query("SELECT user_id FROM tollgate_personal_tokens WHERE id = $1", token);
    if (!found) return std::move(found).error();
    return sql::read_value<user_id>(*found);
}

result<void> postgres_directory::record(const activity& activity) {
    auto all = database_.make_batch();
    all.add("INSERT INTO directory_activities (kind, user_id, subject, client, at) VALUES ($1, $2, $3, $4, $5)",
            to_text(activity.kind), activity.user, activity.subject, client_text(activity), activity.at);
    all.add("DELETE FROM directory_activities WHERE user_id = $1 AND kind = $2 AND id <= (SELECT id FROM directory_activities "
            "WHERE user_id = $1 AND kind = $2 ORDER BY id DESC LIMIT 1 OFFSET $3)",
            activity.user, to_text(activity.kind), static_cast<std::int64_t>(activities_per_kind_max));
    all.add("DELETE FROM directory_activities WHERE id IN (SELECT id FROM directory_activities WHERE at < $1 "
            "ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED)",
            activity.at - activity_lifetime, static_cast<std::int64_t>(activities_swept));
    auto recorded = database_.run(all);
    if (!recorded) return std::move(recorded).error();
    return {};
}

result<std::vector<activity>> postgres_directory::activities(std::optional<user_id> user, std::size_t rows_max) {
    const auto rows = static_cast<std::int64_t>(rows_max);
    auto found = user ? database_.query("SELECT kind, user_id, subject, client, at FROM directory_activities "
                                      "WHERE user_id = $1 ORDER BY id DESC LIMIT $2",
                                      *user, rows)
                      : database_.query("SELECT kind, user_id, subject, client, at FROM directory_activities "
                                      "ORDER BY id DESC LIMIT $1",
                                      rows);
    if (!found) return std::move(found).error();
    return sql::read_all(*found, to_activity);
}

result<user_id> postgres_directory::add_user(const new_user& user) {
    auto done = database_.execute(
        "INSERT INTO directory_users (login, password_hash, currency, balance) VALUES ($1, $2, $3, $4) RETURNING id",
        user.login, user.password_hash, user.currency, user.balance);
    if (!done) return std::move(done).error();
    const auto row = done->only<user_id>();
    if (!row) return row.error();
    return std::get<0>(*row);
}

result<std::string> postgres_directory::shared_key(std::string_view name, std::string_view proposed) {
    auto done = database_.execute("INSERT INTO directory_keys AS keys (name, value) VALUES ($1, $2) "
                                 "ON CONFLICT (name) DO UPDATE SET value = keys.value RETURNING value",
                                 name, proposed);
    if (!done) return std::move(done).error();
    auto row = done->only<std::string>();
    if (!row) return std::move(row).error();
    return std::get<0>(*std::move(row));
}

result<std::optional<known_login>> postgres_directory::find_login(std::string_view login) {
    if (!postgres::is_storable(login)) return std::optional<known_login>{};
    auto found = database_.query(
        "SELECT id, password_hash FROM directory_users WHERE lower(login) = lower($1 COLLATE \"C\") "
        "AND NOT disabled", login);
    if (!found) return std::move(found).error();
    auto row = found->next<user_id, std::string>();
    if (!row) return std::move(row).error();
    if (!*row) return std::optional<known_login>{};
    auto& [user, hash] = **row;
    return std::optional{known_login{user, std::move(hash)}};
}

result<std::vector<user_record>> postgres_directory::users_from(user_id first, std::size_t rows_max) {
    auto listed = database_.query(
        "SELECT id, login, currency, balance, requests_per_day, disabled FROM directory_users "
        "WHERE id >= $1 ORDER BY id LIMIT $2",
        first, static_cast<std::int64_t>(rows_max));
    if (!listed) return std::move(listed).error();
    return sql::read_all(*listed, to_user_record);
}

result<std::optional<account_ref>> postgres_directory::account_of_delivery(delivery_id delivery) {
    auto found = database_.query(
        "SELECT service, account_id FROM tollgate_deliveries "
        "JOIN tollgate_hooks ON tollgate_hooks.id = hook_id WHERE tollgate_deliveries.id = $1 AND account_id <> 0",
        delivery);
    if (!found) return std::move(found).error();
    return sql::read_one(*found, [](const service_name& service, account_id account) { return account_ref{service, account}; });
}

template <class... Values>
result<void> postgres_directory::change_one(sql::statement_text text, const Values&... values) {
    auto done = database_.execute(text, values...);
    if (!done) return std::move(done).error();
    if (done->affected() == 0) return not_found();
    return {};
}

result<void> postgres_directory::set_password_hash(user_id user, std::string_view hash) {
    return change_one("UPDATE directory_users SET password_hash = $1 WHERE id = $2", hash, user);
}

result<void> postgres_directory::replace_password_hash(user_id user, const renewed_hash& renewed) {
    return change_one("UPDATE directory_users SET password_hash = $1 WHERE id = $2 AND password_hash = $3",
                      renewed.after, user, renewed.before);
}

result<void> postgres_directory::set_requests_per_day(user_id user, std::optional<std::uint32_t> requests) {
    return change_one("UPDATE directory_users SET requests_per_day = $1 WHERE id = $2",
                      requests ? std::optional{std::int64_t{*requests}} : std::nullopt, user);
}

result<void> postgres_directory::set_disabled(user_id user, bool disabled) {
    return change_one("UPDATE directory_users SET disabled = $1 WHERE id = $2", disabled, user);
}

result<void> postgres_directory::delete_user(user_id user) {
    auto both = database_.make_batch();
    both.add("DELETE FROM directory_accounts WHERE user_id = $1", user);
    both.add("DELETE FROM directory_users WHERE id = $1", user);
    auto done = database_.run(both);
    if (!done) return std::move(done).error();
    if (done->back().affected() == 0) return not_found();
    return {};
}

result<account_id> postgres_directory::add_account(user_id user, const service_name& service, std::string_view name,
                                                    bool admin) {
    auto both = database_.make_batch();
    // The second statement sees the accounts that commands before this one have added.
    both.add("SELECT id FROM directory_users WHERE id = $1 FOR NO KEY UPDATE", user);
    both.add("INSERT INTO directory_accounts (service, user_id, name, admin) SELECT $1, $2, $3, $4 "
             "WHERE (SELECT count(*) FROM directory_accounts WHERE user_id = $2 AND service = $1) < $5 RETURNING id",
             service, user, name, admin, accounts_max);
    auto done = database_.run(both);
    if (!done) return std::move(done).error();  // not_found if the user does not exist
    auto added = sql::read_value<account_id>(done->back());
    if (!added) return std::move(added).error();
    if (!*added) return error{error_kind::conflict, "The user has too many accounts.", {}};
    return **added;
}

}  // namespace reference

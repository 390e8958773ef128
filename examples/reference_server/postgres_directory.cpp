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

/// The tables and indexes that these steps leave.
constexpr std::string_view postgres_objects[] = {
    "directory_accounts", "directory_accounts_by_user", "directory_activities", "directory_activities_by_age",
    "directory_activities_by_user", "directory_keys", "directory_users", "directory_users_by_login"};

}  // namespace

result<postgres_directory> postgres_directory::open(const std::string& connection_string,
                                                     std::size_t connections_max) {
    auto connections = postgres_database::open(connection_string, {.connections_max = connections_max, .callers_clock = nullptr});
    if (!connections) return std::move(connections).error();
    if (auto done = connections->migrate(directory_component, postgres_migrations); !done) return std::move(done).error();
    return postgres_directory{*std::move(connections)};
}

result<schema_status> postgres_directory::check_schema(const std::string& connection_string) {
    return postgres_database::check_schema(connection_string, directory_component, postgres_migrations, {}, postgres_objects);
}

result<std::optional<user_id>> postgres_directory::owner_of(token_id token) {
    return read_one([](user_id owner) { return owner; }, "SELECT user_id FROM tollgate_personal_tokens WHERE id = $1", token);
}

result<std::vector<application_grant>> postgres_directory::grants_of(application_id application, user_id first, std::size_t rows_max) {
    return read_all(to_application_grant,
                    "SELECT user_id, scopes, created_at, last_used_at FROM tollgate_grants WHERE application_id = $1 AND user_id >= $2 "
                    "ORDER BY user_id LIMIT $3",
                    application, first, static_cast<std::int64_t>(rows_max));
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

result<std::optional<account_ref>> postgres_directory::account_of_delivery(delivery_id delivery) {
    return read_one([](const service_name& service, account_id account) { return account_ref{service, account}; },
                    "SELECT service, account_id FROM tollgate_deliveries "
                    "JOIN tollgate_hooks ON tollgate_hooks.id = hook_id WHERE tollgate_deliveries.id = $1 AND account_id <> 0",
                    delivery);
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

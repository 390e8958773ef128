#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_SCHEMA_HPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_SCHEMA_HPP

#include <tollgate/store/detail/postgres/migrations.hpp>

#include <array>
#include <string_view>

namespace tollgate::inline v0::postgres {

/// The name of the store's component.
inline constexpr std::string_view store_component = "store";

/// The steps of the store's tables.
///
/// SQLite has the same tables and columns; its schema (`sqlite/schema.hpp`) says what they contain.
///
/// The times are those of the server's clock. Ids come from sequences, which never return a number twice. Texts that are looked up are
/// compared bytewise (COLLATE "C"): an index in a language's order becomes invalid when the system's collation changes.
///
/// A host is the scheme, name and port of hooks' targets. Its row is the lock on all deliveries to it. It is written by each `lease` and
/// `complete`, so its page has free space (fillfactor) and is vacuumed early. `has_backlog` means that more deliveries remain to be
/// removed, or to be made due again, than one statement should change: `due_hooks` and sweeps do the rest in steps. Statements that make
/// deliveries due insert a notice, which the next `due_hooks` reads in any case: writing to the hook's row instead would make every event
/// of a hook wait until the previous one is on disk.
///
/// The triggers notify nodes that cache credentials of tokens that are no longer valid; see `listener`. One notification per statement, and
/// none if it only removed expired rows, whose expiry every node knows: transactions that notify are committed one at a time. New tokens
/// are not announced. The functions use no functions of this schema, because a session that changes rows by hand may have another
/// search_path.
inline constexpr std::array store_steps{
    schema_step{R"(
        CREATE TABLE tollgate_personal_tokens (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            user_id bigint NOT NULL CHECK (user_id > 0),
            username text COLLATE "C" NOT NULL UNIQUE,
            secret_digest bytea CHECK (octet_length(secret_digest) = 32) NOT NULL,
            description text NOT NULL,
            scopes text NOT NULL,
            created_at bigint NOT NULL,
            expires_at bigint,
            last_used_at bigint,
            last_used_from text
        );
        CREATE INDEX tollgate_personal_tokens_by_user ON tollgate_personal_tokens (user_id);

        CREATE TABLE tollgate_applications (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            owner_id bigint NOT NULL CHECK (owner_id > 0),
            client_id text COLLATE "C" NOT NULL UNIQUE,
            client_type text NOT NULL CHECK (client_type IN ('confidential', 'public', 'resource_server')),
            secret_digest bytea CHECK (octet_length(secret_digest) = 32) NOT NULL,
            older_secret_digest bytea CHECK (octet_length(older_secret_digest) = 32),
            name text NOT NULL,
            website text NOT NULL,
            description text NOT NULL,
            redirect_urls text NOT NULL,
            acts_for_owner boolean NOT NULL DEFAULT false,
            suspended text CHECK (suspended IN ('operator', 'owner_disabled')),
            registration text NOT NULL DEFAULT 'owner' CHECK (registration IN ('owner', 'itself', 'document')),
            default_scopes text NOT NULL DEFAULT '',
            registration_digest bytea CHECK (octet_length(registration_digest) = 32),
            created_at bigint NOT NULL
        );
        CREATE INDEX tollgate_applications_by_owner ON tollgate_applications (owner_id);
        CREATE INDEX tollgate_applications_unowned ON tollgate_applications (created_at) WHERE registration <> 'owner';

        CREATE TABLE tollgate_grants (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            user_id bigint NOT NULL CHECK (user_id > 0),
            application_id bigint NOT NULL REFERENCES tollgate_applications (id) ON DELETE CASCADE,
            scopes text NOT NULL,
            created_at bigint NOT NULL,
            last_used_at bigint,
            UNIQUE (user_id, application_id)
        );
        CREATE INDEX tollgate_grants_by_application ON tollgate_grants (application_id);

        CREATE TABLE tollgate_codes (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            code_digest bytea CHECK (octet_length(code_digest) = 32) NOT NULL UNIQUE,
            grant_id bigint NOT NULL REFERENCES tollgate_grants (id) ON DELETE CASCADE,
            scopes text NOT NULL,
            redirect text NOT NULL,
            code_challenge text,
            expires_at bigint NOT NULL,
            forget_at bigint NOT NULL,
            refresh_token_id bigint,
            resources text NOT NULL DEFAULT ''
        );
        CREATE INDEX tollgate_codes_by_grant ON tollgate_codes (grant_id, id);
        CREATE INDEX tollgate_codes_by_end ON tollgate_codes (forget_at);

        CREATE TABLE tollgate_refresh_tokens (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            token_digest bytea CHECK (octet_length(token_digest) = 32) NOT NULL UNIQUE,
            grant_id bigint NOT NULL REFERENCES tollgate_grants (id) ON DELETE CASCADE,
            scopes text NOT NULL,
            expires_at bigint NOT NULL,
            ends_at bigint NOT NULL,
            family_digest bytea CHECK (octet_length(family_digest) = 32) UNIQUE,
            replaced_digest bytea CHECK (octet_length(replaced_digest) = 32),
            replaced_at bigint,
            successor_seed bytea CHECK (octet_length(successor_seed) = 32),
            resources text NOT NULL DEFAULT ''
        );
        CREATE INDEX tollgate_refresh_tokens_by_grant ON tollgate_refresh_tokens (grant_id, expires_at);
        CREATE INDEX tollgate_refresh_tokens_by_end ON tollgate_refresh_tokens (expires_at);

        CREATE TABLE tollgate_access_tokens (
            token_digest bytea CHECK (octet_length(token_digest) = 32) PRIMARY KEY,
            user_id bigint NOT NULL CHECK (user_id > 0),
            application_id bigint NOT NULL CHECK (application_id > 0),
            scopes text NOT NULL,
            created_at bigint NOT NULL,
            expires_at bigint NOT NULL,
            refresh_token_id bigint,
            last_used_at bigint,
            resources text NOT NULL DEFAULT ''
        );
        CREATE INDEX tollgate_access_tokens_by_grant ON tollgate_access_tokens (application_id, user_id, expires_at);
        CREATE INDEX tollgate_access_tokens_by_refresh_token ON tollgate_access_tokens (refresh_token_id);
        CREATE INDEX tollgate_access_tokens_by_end ON tollgate_access_tokens (expires_at);

        CREATE TABLE tollgate_device_codes (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            device_digest bytea CHECK (octet_length(device_digest) = 32) NOT NULL UNIQUE,
            user_digest bytea CHECK (octet_length(user_digest) = 32) NOT NULL UNIQUE,
            application_id bigint NOT NULL REFERENCES tollgate_applications (id) ON DELETE CASCADE,
            scopes text NOT NULL,
            requested_from text NOT NULL,
            created_at bigint NOT NULL,
            expires_at bigint NOT NULL,
            state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'denied')),
            answered_by bigint
        );
        CREATE INDEX tollgate_device_codes_by_application ON tollgate_device_codes (application_id, id);
        CREATE INDEX tollgate_device_codes_by_end ON tollgate_device_codes (expires_at);

        CREATE TABLE tollgate_sessions (
            cookie_digest bytea CHECK (octet_length(cookie_digest) = 32) PRIMARY KEY,
            user_id bigint NOT NULL CHECK (user_id > 0),
            login text NOT NULL,
            created_at bigint NOT NULL,
            last_seen_at bigint NOT NULL,
            signed_in_from text NOT NULL,
            user_agent text NOT NULL
        );
        CREATE INDEX tollgate_sessions_by_user ON tollgate_sessions (user_id, last_seen_at);
        CREATE INDEX tollgate_sessions_by_creation ON tollgate_sessions (created_at);
        CREATE INDEX tollgate_sessions_by_last_sight ON tollgate_sessions (last_seen_at);

        CREATE TABLE tollgate_hosts (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name text COLLATE "C" NOT NULL UNIQUE
        ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

        CREATE TABLE tollgate_hooks (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            service text COLLATE "C" NOT NULL,
            account_id bigint NOT NULL CHECK (account_id >= 0),
            event text COLLATE "C" NOT NULL,
            source text NOT NULL CHECK (source IN ('api', 'manual')),
            type text NOT NULL,
            target_url text NOT NULL,
            host_id bigint NOT NULL REFERENCES tollgate_hosts,
            secret text NOT NULL,
            secret_digest bytea CHECK (octet_length(secret_digest) = 32),
            idempotency_key bytea CHECK (octet_length(idempotency_key) = 32),
            created_at bigint NOT NULL,
            disabled_at bigint,
            disable_reason text CHECK (disable_reason IN ('gone', 'failing')),
            failing_since bigint,
            last_failure_at bigint,
            ready_at bigint,
            has_backlog boolean NOT NULL DEFAULT false,
            CHECK ((disabled_at IS NULL) = (disable_reason IS NULL))
        ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
        CREATE INDEX tollgate_hooks_by_account ON tollgate_hooks (service, account_id, event);
        CREATE UNIQUE INDEX tollgate_hooks_by_idempotency ON tollgate_hooks (idempotency_key) WHERE idempotency_key IS NOT NULL;
        CREATE INDEX tollgate_hooks_ready ON tollgate_hooks (ready_at, id) WHERE ready_at IS NOT NULL;
        CREATE INDEX tollgate_hooks_by_host ON tollgate_hooks (host_id);
        CREATE INDEX tollgate_hooks_with_backlog ON tollgate_hooks (id) WHERE has_backlog;

        CREATE TABLE tollgate_hook_secrets (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            hook_id bigint NOT NULL REFERENCES tollgate_hooks (id) ON DELETE CASCADE,
            secret text NOT NULL,
            valid_until bigint NOT NULL
        );
        CREATE INDEX tollgate_hook_secrets_by_hook ON tollgate_hook_secrets (hook_id, id);

        CREATE TABLE tollgate_events (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            service text COLLATE "C" NOT NULL,
            account_id bigint NOT NULL CHECK (account_id > 0),
            name text COLLATE "C" NOT NULL,
            data text NOT NULL,
            happened_at bigint NOT NULL,
            seed bytea CHECK (octet_length(seed) = 16) NOT NULL
        );

        CREATE TABLE tollgate_deliveries (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            event_id bigint NOT NULL REFERENCES tollgate_events (id) ON DELETE CASCADE,
            hook_id bigint NOT NULL REFERENCES tollgate_hooks (id) ON DELETE CASCADE,
            host_id bigint NOT NULL,
            created_at bigint NOT NULL,
            state bigint NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 3),
            at bigint NOT NULL,
            is_leased boolean NOT NULL DEFAULT false,
            lease_is_open boolean NOT NULL DEFAULT false,
            lease_number bigint NOT NULL DEFAULT 0,
            attempts_made bigint NOT NULL DEFAULT 0,
            resend_asked boolean NOT NULL DEFAULT false
        );
        CREATE INDEX tollgate_deliveries_by_event ON tollgate_deliveries (event_id);
        CREATE INDEX tollgate_deliveries_by_hook ON tollgate_deliveries (hook_id, id);
        CREATE INDEX tollgate_deliveries_of_hook_pending ON tollgate_deliveries (hook_id, at, id) WHERE state = 0;
        CREATE INDEX tollgate_deliveries_of_hook_that_ended ON tollgate_deliveries (hook_id, id) WHERE state IN (1, 2);
        CREATE INDEX tollgate_deliveries_of_hook_held_by_id ON tollgate_deliveries (hook_id, id) WHERE state = 3;
        CREATE INDEX tollgate_deliveries_that_are_leased ON tollgate_deliveries (host_id, at) WHERE state = 0 AND is_leased;
        CREATE INDEX tollgate_deliveries_that_ended ON tollgate_deliveries (at) WHERE state <> 0;

        CREATE TABLE tollgate_attempts (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            delivery_id bigint NOT NULL REFERENCES tollgate_deliveries (id) ON DELETE CASCADE,
            hook_id bigint NOT NULL,
            at bigint NOT NULL,
            duration bigint NOT NULL,
            ended bigint NOT NULL,
            cause bigint NOT NULL,
            status bigint NOT NULL,
            answer bytea NOT NULL,
            request bytea NOT NULL
        );
        CREATE INDEX tollgate_attempts_by_delivery ON tollgate_attempts (delivery_id, id);

        CREATE TABLE tollgate_due_notices (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            hook_id bigint NOT NULL REFERENCES tollgate_hooks ON DELETE CASCADE,
            due_at bigint NOT NULL
        ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
        CREATE INDEX tollgate_due_notices_by_hook ON tollgate_due_notices (hook_id);

        CREATE FUNCTION tollgate_tell_of_access_tokens() RETURNS trigger LANGUAGE plpgsql AS $body$
        DECLARE
            now_milliseconds CONSTANT bigint := extract(epoch FROM clock_timestamp()) * 1000;
            users bigint[];
        BEGIN
            IF TG_OP = 'DELETE' THEN
                users := ARRAY(SELECT DISTINCT user_id FROM before WHERE expires_at > now_milliseconds LIMIT 101);
            ELSE
                users := ARRAY(SELECT DISTINCT user_id FROM (
                    SELECT token_digest, user_id, application_id, scopes, expires_at FROM before EXCEPT
                    SELECT token_digest, user_id, application_id, scopes, expires_at FROM after) AS changed LIMIT 101);
            END IF;
            IF cardinality(users) > 100 THEN
                PERFORM pg_notify('tollgate_changes', 'all');
            ELSIF cardinality(users) > 0 THEN
                PERFORM pg_notify('tollgate_changes', 'users ' || array_to_string(users, ' '));
            END IF;
            RETURN NULL;
        END $body$;
        CREATE FUNCTION tollgate_tell_of_personal_tokens() RETURNS trigger LANGUAGE plpgsql AS $body$
        DECLARE
            users bigint[];
        BEGIN
            IF TG_OP = 'DELETE' THEN
                users := ARRAY(SELECT DISTINCT user_id FROM before LIMIT 101);
            ELSE
                users := ARRAY(SELECT DISTINCT user_id FROM (
                    SELECT username, user_id, secret_digest, scopes, expires_at FROM before EXCEPT
                    SELECT username, user_id, secret_digest, scopes, expires_at FROM after) AS changed LIMIT 101);
            END IF;
            IF cardinality(users) > 100 THEN
                PERFORM pg_notify('tollgate_changes', 'all');
            ELSIF cardinality(users) > 0 THEN
                PERFORM pg_notify('tollgate_changes', 'users ' || array_to_string(users, ' '));
            END IF;
            RETURN NULL;
        END $body$;
        CREATE FUNCTION tollgate_tell_of_all() RETURNS trigger LANGUAGE plpgsql AS $body$
        BEGIN
            PERFORM pg_notify('tollgate_changes', 'all');
            RETURN NULL;
        END $body$;

        CREATE TRIGGER tollgate_tell_of_deletion AFTER DELETE ON tollgate_access_tokens
            REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION tollgate_tell_of_access_tokens();
        CREATE TRIGGER tollgate_tell_of_change AFTER UPDATE ON tollgate_access_tokens
            REFERENCING OLD TABLE AS before NEW TABLE AS after
            FOR EACH STATEMENT EXECUTE FUNCTION tollgate_tell_of_access_tokens();
        CREATE TRIGGER tollgate_tell_of_truncation AFTER TRUNCATE ON tollgate_access_tokens
            FOR EACH STATEMENT EXECUTE FUNCTION tollgate_tell_of_all();
        CREATE TRIGGER tollgate_tell_of_deletion AFTER DELETE ON tollgate_personal_tokens
            REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION tollgate_tell_of_personal_tokens();
        CREATE TRIGGER tollgate_tell_of_change AFTER UPDATE ON tollgate_personal_tokens
            REFERENCING OLD TABLE AS before NEW TABLE AS after
            FOR EACH STATEMENT EXECUTE FUNCTION tollgate_tell_of_personal_tokens();
        CREATE TRIGGER tollgate_tell_of_truncation AFTER TRUNCATE ON tollgate_personal_tokens
            FOR EACH STATEMENT EXECUTE FUNCTION tollgate_tell_of_all();
    )"},
};

/// The tables and indexes that these steps leave, for `check_schema`.
inline constexpr std::array<std::string_view, 46> store_objects{
    "tollgate_access_tokens", "tollgate_access_tokens_by_end", "tollgate_access_tokens_by_grant", "tollgate_access_tokens_by_refresh_token",
    "tollgate_applications", "tollgate_applications_by_owner", "tollgate_applications_unowned", "tollgate_attempts",
    "tollgate_attempts_by_delivery", "tollgate_codes", "tollgate_codes_by_end", "tollgate_codes_by_grant", "tollgate_deliveries",
    "tollgate_deliveries_by_event", "tollgate_deliveries_by_hook", "tollgate_deliveries_of_hook_held_by_id",
    "tollgate_deliveries_of_hook_pending", "tollgate_deliveries_of_hook_that_ended", "tollgate_deliveries_that_are_leased",
    "tollgate_deliveries_that_ended", "tollgate_device_codes", "tollgate_device_codes_by_application", "tollgate_device_codes_by_end",
    "tollgate_due_notices", "tollgate_due_notices_by_hook", "tollgate_events", "tollgate_grants", "tollgate_grants_by_application",
    "tollgate_hook_secrets", "tollgate_hook_secrets_by_hook", "tollgate_hooks", "tollgate_hooks_by_account", "tollgate_hooks_by_host",
    "tollgate_hooks_by_idempotency", "tollgate_hooks_ready", "tollgate_hooks_with_backlog", "tollgate_hosts", "tollgate_personal_tokens",
    "tollgate_personal_tokens_by_user", "tollgate_refresh_tokens", "tollgate_refresh_tokens_by_end", "tollgate_refresh_tokens_by_grant",
    "tollgate_sessions", "tollgate_sessions_by_creation", "tollgate_sessions_by_last_sight", "tollgate_sessions_by_user",
};

}  // namespace tollgate::postgres

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_SCHEMA_HPP

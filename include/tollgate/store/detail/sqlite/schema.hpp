#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_SCHEMA_HPP
#define TOLLGATE_STORE_DETAIL_SQLITE_SCHEMA_HPP

#include <tollgate/store/detail/sqlite/statement.hpp>

#include <array>
#include <string_view>

namespace tollgate::inline v0::sqlite {

/// The name of the store's component.
inline constexpr std::string_view store_component = "store";

/// The steps of the store's tables.
///
/// SQLite and PostgreSQL have the same tables and columns, so that most statements have one text (`sql/statements.hpp`). Times are
/// milliseconds since 1970.
///
/// A deleted hook belongs to no account (account_id 0) until its deliveries are removed. Access tokens may refer to an application without
/// a row, an integrator's own, so they have no foreign key. In a code, `refresh_token_id` is set when it is redeemed and identifies the
/// token made from it; that token may have been deleted, so it is not a foreign key either. `expires_at` is then the time of the
/// redemption. A refresh token that is replaced keeps its row, so that access tokens and codes need not follow. The token before it, and
/// what its successor was derived from, answer a client that lost the response. Those before are known by their family alone.
///
/// `at` of a delivery is the time until which it waits (state 0) or is leased, or since when it has been delivered (1), given up (2) or
/// held (3). An expired lease stays open until another worker leases the delivery. `ready_at` of a hook is when it may have a due delivery;
/// NULL if nothing waits.
///
/// AUTOINCREMENT: ids are never reused. A delivery stores the name of the host of its last lease. The index of credentials contains all
/// that a look-up reads, so that it does not search the table, too.
inline constexpr std::array store_steps{
    statement_text{R"(
        CREATE TABLE tollgate_personal_tokens (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            user_id INTEGER NOT NULL CHECK (user_id > 0),
            username TEXT NOT NULL UNIQUE,
            secret_digest BLOB CHECK (length(secret_digest) = 32) NOT NULL,
            description TEXT NOT NULL,
            scopes TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            expires_at INTEGER,
            last_used_at INTEGER,
            last_used_from TEXT
        ) STRICT;
        CREATE INDEX tollgate_personal_tokens_by_user ON tollgate_personal_tokens (user_id);
        CREATE INDEX tollgate_personal_tokens_credentials
            ON tollgate_personal_tokens (username, user_id, secret_digest, scopes, expires_at, last_used_at);

        CREATE TABLE tollgate_applications (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            owner_id INTEGER NOT NULL CHECK (owner_id > 0),
            client_id TEXT NOT NULL UNIQUE,
            client_type TEXT NOT NULL CHECK (client_type IN ('confidential', 'public', 'resource_server')),
            secret_digest BLOB CHECK (length(secret_digest) = 32) NOT NULL,
            older_secret_digest BLOB CHECK (length(older_secret_digest) = 32),
            name TEXT NOT NULL,
            website TEXT NOT NULL,
            description TEXT NOT NULL,
            redirect_urls TEXT NOT NULL,
            acts_for_owner INTEGER NOT NULL DEFAULT false,
            suspended TEXT CHECK (suspended IN ('operator', 'owner_disabled')),
            registration TEXT NOT NULL DEFAULT 'owner' CHECK (registration IN ('owner', 'itself', 'document')),
            default_scopes TEXT NOT NULL DEFAULT '',
            registration_digest BLOB CHECK (length(registration_digest) = 32),
            created_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX tollgate_applications_by_owner ON tollgate_applications (owner_id);
        CREATE INDEX tollgate_applications_unowned ON tollgate_applications (created_at) WHERE registration <> 'owner';

        CREATE TABLE tollgate_grants (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            user_id INTEGER NOT NULL CHECK (user_id > 0),
            application_id INTEGER NOT NULL REFERENCES tollgate_applications (id) ON DELETE CASCADE,
            scopes TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            last_used_at INTEGER,
            UNIQUE (user_id, application_id)
        ) STRICT;
        CREATE INDEX tollgate_grants_by_application ON tollgate_grants (application_id);

        CREATE TABLE tollgate_codes (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            code_digest BLOB CHECK (length(code_digest) = 32) NOT NULL UNIQUE,
            grant_id INTEGER NOT NULL REFERENCES tollgate_grants (id) ON DELETE CASCADE,
            scopes TEXT NOT NULL,
            redirect TEXT NOT NULL,
            code_challenge TEXT,
            expires_at INTEGER NOT NULL,
            forget_at INTEGER NOT NULL,
            refresh_token_id INTEGER,
            resources TEXT NOT NULL DEFAULT ''
        ) STRICT;
        CREATE INDEX tollgate_codes_by_grant ON tollgate_codes (grant_id, id);
        CREATE INDEX tollgate_codes_by_end ON tollgate_codes (forget_at);

        CREATE TABLE tollgate_refresh_tokens (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            token_digest BLOB CHECK (length(token_digest) = 32) NOT NULL UNIQUE,
            grant_id INTEGER NOT NULL REFERENCES tollgate_grants (id) ON DELETE CASCADE,
            scopes TEXT NOT NULL,
            expires_at INTEGER NOT NULL,
            ends_at INTEGER NOT NULL,
            family_digest BLOB CHECK (length(family_digest) = 32) UNIQUE,
            replaced_digest BLOB CHECK (length(replaced_digest) = 32),
            replaced_at INTEGER,
            successor_seed BLOB CHECK (length(successor_seed) = 32),
            resources TEXT NOT NULL DEFAULT ''
        ) STRICT;
        CREATE INDEX tollgate_refresh_tokens_by_grant ON tollgate_refresh_tokens (grant_id, expires_at);
        CREATE INDEX tollgate_refresh_tokens_by_end ON tollgate_refresh_tokens (expires_at);

        CREATE TABLE tollgate_access_tokens (
            token_digest BLOB CHECK (length(token_digest) = 32) PRIMARY KEY,
            user_id INTEGER NOT NULL CHECK (user_id > 0),
            application_id INTEGER NOT NULL CHECK (application_id > 0),
            scopes TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            refresh_token_id INTEGER,
            last_used_at INTEGER,
            resources TEXT NOT NULL DEFAULT ''
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX tollgate_access_tokens_by_grant ON tollgate_access_tokens (application_id, user_id, expires_at);
        CREATE INDEX tollgate_access_tokens_by_refresh_token ON tollgate_access_tokens (refresh_token_id);
        CREATE INDEX tollgate_access_tokens_by_end ON tollgate_access_tokens (expires_at);

        CREATE TABLE tollgate_device_codes (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            device_digest BLOB CHECK (length(device_digest) = 32) NOT NULL UNIQUE,
            user_digest BLOB CHECK (length(user_digest) = 32) NOT NULL UNIQUE,
            application_id INTEGER NOT NULL REFERENCES tollgate_applications (id) ON DELETE CASCADE,
            scopes TEXT NOT NULL,
            requested_from TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'denied')),
            answered_by INTEGER
        ) STRICT;
        CREATE INDEX tollgate_device_codes_by_application ON tollgate_device_codes (application_id, id);
        CREATE INDEX tollgate_device_codes_by_end ON tollgate_device_codes (expires_at);

        CREATE TABLE tollgate_sessions (
            cookie_digest BLOB CHECK (length(cookie_digest) = 32) PRIMARY KEY,
            user_id INTEGER NOT NULL CHECK (user_id > 0),
            login TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            last_seen_at INTEGER NOT NULL,
            signed_in_from TEXT NOT NULL,
            user_agent TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX tollgate_sessions_by_user ON tollgate_sessions (user_id, last_seen_at);
        CREATE INDEX tollgate_sessions_by_creation ON tollgate_sessions (created_at);
        CREATE INDEX tollgate_sessions_by_last_sight ON tollgate_sessions (last_seen_at);

        CREATE TABLE tollgate_hooks (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            service TEXT NOT NULL,
            account_id INTEGER NOT NULL CHECK (account_id >= 0),
            event TEXT NOT NULL,
            source TEXT NOT NULL CHECK (source IN ('api', 'manual')),
            type TEXT NOT NULL,
            target_url TEXT NOT NULL,
            secret TEXT NOT NULL,
            secret_digest BLOB CHECK (length(secret_digest) = 32),
            idempotency_key BLOB CHECK (length(idempotency_key) = 32),
            created_at INTEGER NOT NULL,
            disabled_at INTEGER,
            disable_reason TEXT CHECK (disable_reason IN ('gone', 'failing')),
            failing_since INTEGER,
            last_failure_at INTEGER,
            ready_at INTEGER,
            CHECK ((disabled_at IS NULL) = (disable_reason IS NULL))
        ) STRICT;
        CREATE INDEX tollgate_hooks_by_account ON tollgate_hooks (service, account_id, event);
        CREATE UNIQUE INDEX tollgate_hooks_by_idempotency ON tollgate_hooks (idempotency_key) WHERE idempotency_key IS NOT NULL;
        CREATE INDEX tollgate_hooks_ready ON tollgate_hooks (ready_at, id) WHERE ready_at IS NOT NULL;
        CREATE INDEX tollgate_hooks_deleted ON tollgate_hooks (account_id) WHERE account_id = 0;

        CREATE TABLE tollgate_hook_secrets (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            hook_id INTEGER NOT NULL REFERENCES tollgate_hooks (id) ON DELETE CASCADE,
            secret TEXT NOT NULL,
            valid_until INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX tollgate_hook_secrets_by_hook ON tollgate_hook_secrets (hook_id, id);

        CREATE TABLE tollgate_events (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            service TEXT NOT NULL,
            account_id INTEGER NOT NULL CHECK (account_id > 0),
            name TEXT NOT NULL,
            data TEXT NOT NULL,
            happened_at INTEGER NOT NULL,
            seed BLOB CHECK (length(seed) = 16) NOT NULL
        ) STRICT;

        CREATE TABLE tollgate_deliveries (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            event_id INTEGER NOT NULL REFERENCES tollgate_events (id) ON DELETE CASCADE,
            hook_id INTEGER NOT NULL REFERENCES tollgate_hooks (id) ON DELETE CASCADE,
            host TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            state INTEGER NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 3),
            at INTEGER NOT NULL,
            is_leased INTEGER NOT NULL DEFAULT false,
            lease_is_open INTEGER NOT NULL DEFAULT false,
            lease_number INTEGER NOT NULL DEFAULT 0,
            attempts_made INTEGER NOT NULL DEFAULT 0,
            resend_asked INTEGER NOT NULL DEFAULT false
        ) STRICT;
        CREATE INDEX tollgate_deliveries_by_event ON tollgate_deliveries (event_id);
        CREATE INDEX tollgate_deliveries_by_hook ON tollgate_deliveries (hook_id, id);
        CREATE INDEX tollgate_deliveries_of_hook_pending ON tollgate_deliveries (hook_id, at, id) WHERE state = 0;
        CREATE INDEX tollgate_deliveries_of_hook_that_ended ON tollgate_deliveries (hook_id, id) WHERE state IN (1, 2);
        CREATE INDEX tollgate_deliveries_of_hook_held_by_id ON tollgate_deliveries (hook_id, id) WHERE state = 3;
        CREATE INDEX tollgate_deliveries_that_are_leased ON tollgate_deliveries (host, at) WHERE state = 0 AND is_leased;
        CREATE INDEX tollgate_deliveries_that_ended ON tollgate_deliveries (at) WHERE state <> 0;

        CREATE TABLE tollgate_attempts (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            delivery_id INTEGER NOT NULL REFERENCES tollgate_deliveries (id) ON DELETE CASCADE,
            hook_id INTEGER NOT NULL,
            at INTEGER NOT NULL,
            duration INTEGER NOT NULL,
            ended INTEGER NOT NULL,
            cause INTEGER NOT NULL,
            status INTEGER NOT NULL,
            answer BLOB NOT NULL,
            request BLOB NOT NULL
        ) STRICT;
        CREATE INDEX tollgate_attempts_by_delivery ON tollgate_attempts (delivery_id, id);
    )"},
};

/// The tables and indexes that these steps leave, for `check_schema`.
inline constexpr std::array<std::string_view, 43> store_objects{
    "tollgate_access_tokens", "tollgate_access_tokens_by_end", "tollgate_access_tokens_by_grant", "tollgate_access_tokens_by_refresh_token",
    "tollgate_applications", "tollgate_applications_by_owner", "tollgate_applications_unowned", "tollgate_attempts",
    "tollgate_attempts_by_delivery", "tollgate_codes", "tollgate_codes_by_end", "tollgate_codes_by_grant", "tollgate_deliveries",
    "tollgate_deliveries_by_event", "tollgate_deliveries_by_hook", "tollgate_deliveries_of_hook_held_by_id",
    "tollgate_deliveries_of_hook_pending", "tollgate_deliveries_of_hook_that_ended", "tollgate_deliveries_that_are_leased",
    "tollgate_deliveries_that_ended", "tollgate_device_codes", "tollgate_device_codes_by_application", "tollgate_device_codes_by_end",
    "tollgate_events", "tollgate_grants", "tollgate_grants_by_application", "tollgate_hook_secrets", "tollgate_hook_secrets_by_hook",
    "tollgate_hooks", "tollgate_hooks_by_account", "tollgate_hooks_by_idempotency", "tollgate_hooks_deleted", "tollgate_hooks_ready",
    "tollgate_personal_tokens", "tollgate_personal_tokens_by_user", "tollgate_personal_tokens_credentials", "tollgate_refresh_tokens",
    "tollgate_refresh_tokens_by_end", "tollgate_refresh_tokens_by_grant", "tollgate_sessions", "tollgate_sessions_by_creation",
    "tollgate_sessions_by_last_sight", "tollgate_sessions_by_user",
};

}  // namespace tollgate::sqlite

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_SCHEMA_HPP

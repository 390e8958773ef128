#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_SCHEMA_HPP
#define TOLLGATE_STORE_DETAIL_SQLITE_SCHEMA_HPP

#include <tollgate/store/detail/sqlite/statement.hpp>

#include <array>
#include <string_view>

namespace tollgate::inline v0::sqlite {

/// The name of the store's component.
inline constexpr std::string_view store_component = "store";

/// The steps of the store's tables. Times are milliseconds since 1970. AUTOINCREMENT: ids are never reused.
inline constexpr std::array store_steps{
    // 1: personal tokens, access tokens, hooks.
    statement_text{R"(
        CREATE TABLE tollgate_personal_tokens (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            user INTEGER NOT NULL CHECK (user > 0),
            username TEXT NOT NULL UNIQUE,
            secret_digest BLOB NOT NULL CHECK (length(secret_digest) = 32),
            description TEXT NOT NULL,
            scopes TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            last_used_at INTEGER
        ) STRICT;
        CREATE INDEX tollgate_personal_tokens_by_user ON tollgate_personal_tokens (user);

        CREATE TABLE tollgate_access_tokens (
            token_digest BLOB PRIMARY KEY CHECK (length(token_digest) = 32),
            user INTEGER NOT NULL CHECK (user > 0),
            application INTEGER NOT NULL CHECK (application > 0),
            scopes TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE tollgate_hooks (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            service TEXT NOT NULL,
            account INTEGER NOT NULL CHECK (account > 0),
            event TEXT NOT NULL,
            source TEXT NOT NULL CHECK (source IN ('api', 'manual')),
            type TEXT NOT NULL,
            target_url TEXT NOT NULL,
            secret TEXT NOT NULL,
            created_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX tollgate_hooks_by_account ON tollgate_hooks (service, account, event);
    )"},
    // 2: applications, grants, codes, refresh tokens, sessions; a hook's previous secret; last use of access tokens.
    //
    // Access tokens may refer to an application without a row, an integrator's own or one of step 1, so they have no
    // foreign key, and application ids start above theirs (unless one is too large). In a code, `refresh_token` is set
    // when it is redeemed and identifies the token made from it; `expires_at` is then the time of the redemption.
    statement_text{R"(
        CREATE TABLE tollgate_applications (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            owner INTEGER NOT NULL CHECK (owner > 0),
            client_id TEXT NOT NULL UNIQUE,
            secret_digest BLOB NOT NULL CHECK (length(secret_digest) = 32),
            name TEXT NOT NULL,
            website TEXT NOT NULL,
            description TEXT NOT NULL,
            redirect_url TEXT,
            created_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX tollgate_applications_by_owner ON tollgate_applications (owner);
        INSERT INTO sqlite_sequence (name, seq)
            SELECT 'tollgate_applications', coalesce(max(application), 0) FROM tollgate_access_tokens
            WHERE application < 4611686018427387904;

        CREATE TABLE tollgate_grants (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            user INTEGER NOT NULL CHECK (user > 0),
            application INTEGER NOT NULL REFERENCES tollgate_applications (id) ON DELETE CASCADE,
            scopes TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            last_used_at INTEGER,
            UNIQUE (user, application)
        ) STRICT;
        CREATE INDEX tollgate_grants_by_application ON tollgate_grants (application);

        CREATE TABLE tollgate_codes (
            id INTEGER PRIMARY KEY,
            code_digest BLOB NOT NULL UNIQUE CHECK (length(code_digest) = 32),
            access_grant INTEGER NOT NULL REFERENCES tollgate_grants (id) ON DELETE CASCADE,
            scopes TEXT NOT NULL,
            redirect TEXT NOT NULL,
            code_challenge TEXT,
            expires_at INTEGER NOT NULL,
            forget_at INTEGER NOT NULL,
            refresh_token INTEGER
        ) STRICT;
        CREATE INDEX tollgate_codes_by_grant ON tollgate_codes (access_grant);
        CREATE INDEX tollgate_codes_by_end ON tollgate_codes (forget_at);

        CREATE TABLE tollgate_refresh_tokens (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            token_digest BLOB NOT NULL UNIQUE CHECK (length(token_digest) = 32),
            access_grant INTEGER NOT NULL REFERENCES tollgate_grants (id) ON DELETE CASCADE,
            scopes TEXT NOT NULL,
            expires_at INTEGER NOT NULL,
            ends_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX tollgate_refresh_tokens_by_grant ON tollgate_refresh_tokens (access_grant, expires_at);
        CREATE INDEX tollgate_refresh_tokens_by_end ON tollgate_refresh_tokens (expires_at);

        ALTER TABLE tollgate_access_tokens ADD COLUMN refresh_token INTEGER;
        ALTER TABLE tollgate_access_tokens ADD COLUMN last_used_at INTEGER;
        CREATE INDEX tollgate_access_tokens_by_grant ON tollgate_access_tokens (application, user, expires_at);
        CREATE INDEX tollgate_access_tokens_by_refresh_token ON tollgate_access_tokens (refresh_token);
        CREATE INDEX tollgate_access_tokens_by_end ON tollgate_access_tokens (expires_at);

        ALTER TABLE tollgate_hooks ADD COLUMN previous_secret TEXT;
        ALTER TABLE tollgate_hooks ADD COLUMN previous_secret_until INTEGER;

        CREATE TABLE tollgate_sessions (
            cookie_digest BLOB PRIMARY KEY CHECK (length(cookie_digest) = 32),
            user INTEGER NOT NULL CHECK (user > 0),
            login TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            last_seen_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX tollgate_sessions_by_user ON tollgate_sessions (user, last_seen_at);
        CREATE INDEX tollgate_sessions_by_creation ON tollgate_sessions (created_at);
        CREATE INDEX tollgate_sessions_by_last_sight ON tollgate_sessions (last_seen_at);
    )"},
    // 3: the outbox.
    //
    // Exactly one of due_at (it waits), leased_until (it is in flight) and ended_at (delivered, given up or held) is
    // set. Each has a partial index, so the cost of finding due deliveries does not depend on the history. A delivery
    // stores the name of its hook's host, so that rows of hosts can be deleted.
    //
    // Hosts are in one of two queues, slow or other, ordered by when they may have something to lease; `turn` orders
    // those with the same time. A host with nothing waiting or leased is in neither and is idle.
    statement_text{R"(
        ALTER TABLE tollgate_hooks ADD COLUMN disabled_at INTEGER;
        ALTER TABLE tollgate_hooks ADD COLUMN disable_reason TEXT CHECK (disable_reason IN ('gone', 'failing'));
        ALTER TABLE tollgate_hooks ADD COLUMN failing_since INTEGER;

        CREATE TABLE tollgate_events (
            id INTEGER PRIMARY KEY,
            service TEXT NOT NULL,
            account INTEGER NOT NULL CHECK (account > 0),
            name TEXT NOT NULL,
            data TEXT NOT NULL,
            happened_at INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE tollgate_deliveries (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            hook INTEGER NOT NULL REFERENCES tollgate_hooks (id) ON DELETE CASCADE,
            event INTEGER NOT NULL REFERENCES tollgate_events (id) ON DELETE CASCADE,
            host TEXT NOT NULL,
            message_id TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'given_up', 'held')),
            due_at INTEGER,
            leased_until INTEGER,
            ended_at INTEGER,
            lease_open INTEGER NOT NULL DEFAULT 0,
            lease_number INTEGER NOT NULL DEFAULT 0,
            attempts_made INTEGER NOT NULL DEFAULT 0,
            CHECK ((due_at IS NOT NULL) + (leased_until IS NOT NULL) + (ended_at IS NOT NULL) = 1),
            CHECK ((state = 'waiting') = (ended_at IS NULL))
        ) STRICT;
        CREATE INDEX tollgate_deliveries_by_hook ON tollgate_deliveries (hook);
        CREATE INDEX tollgate_deliveries_by_event ON tollgate_deliveries (event);
        CREATE INDEX tollgate_deliveries_due ON tollgate_deliveries (host, due_at) WHERE due_at IS NOT NULL;
        CREATE INDEX tollgate_deliveries_leased ON tollgate_deliveries (host, leased_until)
            WHERE leased_until IS NOT NULL;
        CREATE INDEX tollgate_deliveries_ended ON tollgate_deliveries (ended_at) WHERE ended_at IS NOT NULL;

        CREATE TABLE tollgate_attempts (
            id INTEGER PRIMARY KEY,
            delivery INTEGER NOT NULL REFERENCES tollgate_deliveries (id) ON DELETE CASCADE,
            hook INTEGER NOT NULL,
            began_at INTEGER NOT NULL,
            duration INTEGER NOT NULL,
            outcome TEXT NOT NULL,
            status INTEGER NOT NULL,
            answer BLOB NOT NULL
        ) STRICT;
        CREATE INDEX tollgate_attempts_by_delivery ON tollgate_attempts (delivery);
        CREATE INDEX tollgate_attempts_by_hook ON tollgate_attempts (hook);

        CREATE TABLE tollgate_delivery_hosts (
            name TEXT PRIMARY KEY,
            slow INTEGER NOT NULL DEFAULT 0,
            answered_once INTEGER NOT NULL DEFAULT 0,
            ready_at INTEGER,
            turn INTEGER NOT NULL DEFAULT 0,
            idle_since INTEGER,
            CHECK ((ready_at IS NULL) <> (idle_since IS NULL))
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX tollgate_delivery_hosts_in_line ON tollgate_delivery_hosts (slow, ready_at, turn)
            WHERE ready_at IS NOT NULL;
        CREATE INDEX tollgate_delivery_hosts_idle ON tollgate_delivery_hosts (idle_since) WHERE idle_since IS NOT NULL;
    )"},
    // 4: one row per replaced secret; the last failure of a failing hook; resends requested during an attempt; an index
    // of a hook's ended deliveries.
    statement_text{R"(
        CREATE TABLE tollgate_hook_secrets (
            id INTEGER PRIMARY KEY,
            hook INTEGER NOT NULL REFERENCES tollgate_hooks (id) ON DELETE CASCADE,
            secret TEXT NOT NULL,
            valid_until INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX tollgate_hook_secrets_by_hook ON tollgate_hook_secrets (hook);
        INSERT INTO tollgate_hook_secrets (hook, secret, valid_until)
            SELECT id, previous_secret, previous_secret_until FROM tollgate_hooks
            WHERE previous_secret IS NOT NULL AND previous_secret_until IS NOT NULL;
        ALTER TABLE tollgate_hooks DROP COLUMN previous_secret;
        ALTER TABLE tollgate_hooks DROP COLUMN previous_secret_until;

        ALTER TABLE tollgate_hooks ADD COLUMN last_failure_at INTEGER;
        UPDATE tollgate_hooks SET last_failure_at = coalesce(
            (SELECT max(began_at) FROM tollgate_attempts WHERE hook = tollgate_hooks.id), failing_since)
            WHERE failing_since IS NOT NULL;

        ALTER TABLE tollgate_deliveries ADD COLUMN resend_asked INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX tollgate_deliveries_of_hook_ended ON tollgate_deliveries (hook)
            WHERE ended_at IS NOT NULL AND state <> 'held';
    )"},
    // 5: a hook stores when it may have a due delivery (`ready_at`; NULL if nothing waits), instead of its host. The
    // scheduler above the store decides which hooks are served, so hosts need no rows any more.
    statement_text{R"(
        ALTER TABLE tollgate_hooks ADD COLUMN ready_at INTEGER;
        UPDATE tollgate_hooks SET ready_at = (SELECT min(coalesce(due_at, leased_until)) FROM tollgate_deliveries
            WHERE hook = tollgate_hooks.id AND ended_at IS NULL) WHERE service <> '';
        CREATE INDEX tollgate_hooks_ready ON tollgate_hooks (ready_at, id) WHERE ready_at IS NOT NULL;
        DROP INDEX tollgate_deliveries_due;
        CREATE INDEX tollgate_deliveries_pending ON tollgate_deliveries (hook, coalesce(due_at, leased_until), id)
            WHERE ended_at IS NULL;
        DROP TABLE tollgate_delivery_hosts;
    )"},
    // 6: public clients and resource servers, several redirect URLs (one a line) and two secrets of an application;
    // refresh tokens that are replaced by their use; device codes; the end of personal tokens, and from where they are used.
    //
    // A refresh token that is replaced keeps its row, so that access tokens and codes need not follow. The token before it,
    // and what its successor was derived from, answer a client that lost the response. Those before are known by their
    // family alone.
    statement_text{R"(
        ALTER TABLE tollgate_applications RENAME COLUMN redirect_url TO redirect_urls;
        UPDATE tollgate_applications SET redirect_urls = '' WHERE redirect_urls IS NULL;
        ALTER TABLE tollgate_applications ADD COLUMN client_type TEXT NOT NULL DEFAULT 'confidential'
            CHECK (client_type IN ('confidential', 'public', 'resource_server'));
        ALTER TABLE tollgate_applications ADD COLUMN older_secret_digest BLOB CHECK (length(older_secret_digest) = 32);
        ALTER TABLE tollgate_applications ADD COLUMN acts_for_owner INTEGER NOT NULL DEFAULT 0;

        ALTER TABLE tollgate_refresh_tokens ADD COLUMN family_digest BLOB CHECK (length(family_digest) = 32);
        ALTER TABLE tollgate_refresh_tokens ADD COLUMN replaced_digest BLOB CHECK (length(replaced_digest) = 32);
        ALTER TABLE tollgate_refresh_tokens ADD COLUMN replaced_at INTEGER;
        ALTER TABLE tollgate_refresh_tokens ADD COLUMN successor_seed BLOB CHECK (length(successor_seed) = 32);
        CREATE UNIQUE INDEX tollgate_refresh_tokens_by_family ON tollgate_refresh_tokens (family_digest);

        CREATE TABLE tollgate_device_codes (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            device_digest BLOB NOT NULL UNIQUE CHECK (length(device_digest) = 32),
            user_digest BLOB NOT NULL UNIQUE CHECK (length(user_digest) = 32),
            application INTEGER NOT NULL REFERENCES tollgate_applications (id) ON DELETE CASCADE,
            scopes TEXT NOT NULL,
            requested_from TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'denied'))
        ) STRICT;
        CREATE INDEX tollgate_device_codes_by_application ON tollgate_device_codes (application, id);
        CREATE INDEX tollgate_device_codes_by_end ON tollgate_device_codes (expires_at);

        ALTER TABLE tollgate_personal_tokens ADD COLUMN expires_at INTEGER;
        ALTER TABLE tollgate_personal_tokens ADD COLUMN last_used_from TEXT;
    )"},
    // 7: from where and with which browser a session began.
    statement_text{R"(
        ALTER TABLE tollgate_sessions ADD COLUMN signed_in_from TEXT NOT NULL DEFAULT '';
        ALTER TABLE tollgate_sessions ADD COLUMN user_agent TEXT NOT NULL DEFAULT '';
    )"},
    // 8: the beginning of the request of each attempt.
    statement_text{"ALTER TABLE tollgate_attempts ADD COLUMN request BLOB NOT NULL DEFAULT x''"},
    // 9: why an application is suspended; NULL if it is not.
    statement_text{"ALTER TABLE tollgate_applications ADD COLUMN suspended TEXT CHECK (suspended IN ('operator', 'owner_disabled'))"},
    // 10: who answered the request of a device; the digest of a hook's secret, NULL until it is set again; the key of a form that is
    // submitted twice.
    statement_text{R"(
        ALTER TABLE tollgate_device_codes ADD COLUMN answered_by INTEGER;
        ALTER TABLE tollgate_hooks ADD COLUMN secret_digest BLOB CHECK (length(secret_digest) = 32);
        ALTER TABLE tollgate_hooks ADD COLUMN idempotency_key BLOB CHECK (length(idempotency_key) = 32);
        CREATE UNIQUE INDEX tollgate_hooks_by_idempotency ON tollgate_hooks (idempotency_key)
            WHERE idempotency_key IS NOT NULL;
    )"},
    // 11: why each attempt failed.
    statement_text{"ALTER TABLE tollgate_attempts ADD COLUMN cause TEXT NOT NULL DEFAULT 'none'"},
    // 12: applications that no user registered; the resources that codes and tokens are for.
    statement_text{R"(
        ALTER TABLE tollgate_applications ADD COLUMN registration TEXT NOT NULL DEFAULT 'owner'
            CHECK (registration IN ('owner', 'itself', 'document'));
        ALTER TABLE tollgate_applications ADD COLUMN default_scopes TEXT NOT NULL DEFAULT '';
        ALTER TABLE tollgate_applications ADD COLUMN registration_digest BLOB CHECK (length(registration_digest) = 32);
        CREATE INDEX tollgate_applications_unowned ON tollgate_applications (created_at) WHERE registration <> 'owner';
        ALTER TABLE tollgate_codes ADD COLUMN resources TEXT NOT NULL DEFAULT '';
        ALTER TABLE tollgate_refresh_tokens ADD COLUMN resources TEXT NOT NULL DEFAULT '';
        ALTER TABLE tollgate_access_tokens ADD COLUMN resources TEXT NOT NULL DEFAULT '';
    )"},
};

/// The tables and indexes that these steps leave, for `check_schema`.
inline constexpr std::array<std::string_view, 42> store_objects{
    "tollgate_access_tokens", "tollgate_access_tokens_by_end", "tollgate_access_tokens_by_grant", "tollgate_access_tokens_by_refresh_token",
    "tollgate_applications", "tollgate_applications_by_owner", "tollgate_applications_unowned",
    "tollgate_attempts", "tollgate_attempts_by_delivery",
    "tollgate_attempts_by_hook", "tollgate_codes", "tollgate_codes_by_end", "tollgate_codes_by_grant", "tollgate_deliveries",
    "tollgate_deliveries_by_event", "tollgate_deliveries_by_hook", "tollgate_deliveries_ended", "tollgate_deliveries_leased",
    "tollgate_deliveries_of_hook_ended", "tollgate_deliveries_pending", "tollgate_device_codes", "tollgate_device_codes_by_application",
    "tollgate_device_codes_by_end", "tollgate_events", "tollgate_grants", "tollgate_grants_by_application", "tollgate_hook_secrets",
    "tollgate_hook_secrets_by_hook", "tollgate_hooks", "tollgate_hooks_by_account", "tollgate_hooks_by_idempotency",
    "tollgate_hooks_ready", "tollgate_personal_tokens", "tollgate_personal_tokens_by_user", "tollgate_refresh_tokens",
    "tollgate_refresh_tokens_by_end", "tollgate_refresh_tokens_by_family",
    "tollgate_refresh_tokens_by_grant", "tollgate_sessions", "tollgate_sessions_by_creation", "tollgate_sessions_by_last_sight",
    "tollgate_sessions_by_user"};

}  // namespace tollgate::sqlite

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_SCHEMA_HPP

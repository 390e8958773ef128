#pragma once

#include <tollgate/store/sqlite/statement.hpp>

#include <array>
#include <string_view>

namespace tollgate::sqlite {

/// The name of the store's tables among the components of a file.
inline constexpr std::string_view store_component = "store";

/// The store's tables, step by step. Times are milliseconds since 1970. AUTOINCREMENT: an id is never used again.
inline constexpr std::array store_steps{
    // 1: personal tokens, access tokens, hooks.
    sql{R"(
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
    // 2: applications, grants, codes, refresh tokens, sessions; a hook's secret before its last; access tokens' use.
    //
    // Access tokens may name an application that has no row: an integrator's own, and those of step 1. So no foreign
    // key leads from them, and ids of applications begin above theirs (unless one is so large that none would be left).
    // `refresh_token` in a code is set when it is redeemed, and says from then on what was made of it.
    sql{R"(
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
};

}  // namespace tollgate::sqlite

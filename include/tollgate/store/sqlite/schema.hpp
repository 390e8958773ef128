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
};

}  // namespace tollgate::sqlite

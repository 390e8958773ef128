#pragma once

#include <tollgate/store/sqlite/access_tokens.hpp>
#include <tollgate/store/sqlite/columns.hpp>

namespace tollgate::sqlite {

TOLLGATE_DECL outcome<std::optional<token_credential>> access_tokens::find(const digest& token) {
    return credentials_.find(token, [&] { return read(token); });
}

TOLLGATE_DECL outcome<std::optional<token_credential>> access_tokens::read(const digest& token) {
    auto connection = connections_.reader();
    if (!connection) return std::move(connection).error();
    auto row = (*connection)
                   ->prepare("SELECT user, application, scopes, expires_at FROM tollgate_access_tokens "
                             "WHERE token_digest = ?",
                             token)
                   .next<user_id, application_id, scope_set, instant>();
    if (!row) return std::move(row).error();
    if (!*row) return std::optional<token_credential>{};
    const auto& [user, application, scopes, expires_at] = **row;
    return std::optional{token_credential{user, token, scopes, expires_at, application}};
}

TOLLGATE_DECL outcome<void> access_tokens::create(const new_access_token& made) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    auto done = (*connection)
                    ->run(
                        "INSERT INTO tollgate_access_tokens "
                        "(token_digest, user, application, scopes, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
                        made.token_digest, made.user, made.application, made.scopes, made.created_at, made.expires_at);
    if (!done && done.error().kind == problem_kind::conflict)
        done.error().message = "This access token exists already.";
    return done;
}

TOLLGATE_DECL outcome<bool> access_tokens::revoke(const digest& token) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    if (auto done = (*connection)->run("DELETE FROM tollgate_access_tokens WHERE token_digest = ?", token); !done)
        return std::move(done).error();
    return (*connection)->changes() > 0;
}

}  // namespace tollgate::sqlite

#pragma once

#include <tollgate/store/detail/sqlite/access_tokens.hpp>
#include <tollgate/store/detail/sqlite/columns.hpp>
#include <tollgate/store/detail/sqlite/insert_access_token.hpp>

namespace tollgate::inline v0::sqlite {

TOLLGATE_DECL result<std::optional<token_credential>> access_tokens::find(const digest& token) {
    return credentials_.find(token, [&] { return read(token); });
}

TOLLGATE_DECL result<std::optional<token_credential>> access_tokens::read(const digest& token) {
    auto connection = connections_.reader();
    if (!connection) return std::move(connection).error();
    auto row = (*connection)
                   ->prepare("SELECT user, application, scopes, expires_at, last_used_at FROM tollgate_access_tokens "
                             "WHERE token_digest = ?",
                             token)
                   .next<user_id, application_id, scope_set, instant, std::optional<instant>>();
    if (!row) return std::move(row).error();
    if (!*row) return std::optional<token_credential>{};
    const auto& [user, application, scopes, expires_at, last_used_at] = **row;
    return std::optional{token_credential{user, token, scopes, expires_at, application, last_used_at}};
}

TOLLGATE_DECL result<void> access_tokens::create(const new_access_token& made) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    auto change = transaction::begin(**connection);
    if (!change) return std::move(change).error();
    if (auto done = insert_access_token(**connection, made, std::nullopt); !done) return done;
    return change->commit();
}

TOLLGATE_DECL result<bool> access_tokens::revoke(const digest& token) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    if (auto done = (*connection)->run("DELETE FROM tollgate_access_tokens WHERE token_digest = ?", token); !done)
        return std::move(done).error();
    return (*connection)->changes() > 0;
}

TOLLGATE_DECL result<void> access_tokens::record_use(const digest& token, instant now) {
    auto connection = connections_.writer_soon();
    if (!connection) return std::move(connection).error();
    auto change = transaction::begin(**connection);
    if (!change) return std::move(change).error();
    if (auto done = (*connection)
                        ->run("UPDATE tollgate_access_tokens SET last_used_at = ? WHERE token_digest = ?", now, token);
        !done)
        return done;
    if (auto done = (*connection)
                        ->run("UPDATE tollgate_grants SET last_used_at = ? WHERE (user, application) = "
                              "(SELECT user, application FROM tollgate_access_tokens WHERE token_digest = ?)",
                              now, token);
        !done)
        return done;
    return change->commit();
}

}  // namespace tollgate::sqlite

#pragma once

#include <tollgate/store/sqlite/columns.hpp>
#include <tollgate/store/sqlite/personal_tokens.hpp>

#include <string>

namespace tollgate::sqlite {

TOLLGATE_DECL outcome<std::optional<token_credential>> personal_tokens::find(std::string_view username) {
    const auto name = token_username::from(username);
    if (!name) return std::optional<token_credential>{};  // longer than any that there is
    return credentials_.find(*name, [&] { return read(*name); });
}

TOLLGATE_DECL outcome<std::optional<token_credential>> personal_tokens::read(const token_username& username) {
    auto connection = connections_.reader();
    if (!connection) return std::move(connection).error();
    auto row =
        (*connection)
            ->prepare("SELECT user, secret_digest, scopes FROM tollgate_personal_tokens WHERE username = ?", username)
            .next<user_id, digest, scope_set>();
    if (!row) return std::move(row).error();
    if (!*row) return std::optional<token_credential>{};
    const auto& [user, secret_digest, scopes] = **row;
    return std::optional{token_credential{user, secret_digest, scopes, std::nullopt, std::nullopt}};
}

TOLLGATE_DECL outcome<token_id> personal_tokens::create(const new_personal_token& made) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    auto done = (*connection)
                    ->run("INSERT INTO tollgate_personal_tokens "
                          "(user, username, secret_digest, description, scopes, created_at) VALUES (?, ?, ?, ?, ?, ?)",
                          made.user, made.username, made.secret_digest, made.description, made.scopes, made.created_at);
    if (!done) {
        auto why = std::move(done).error();
        if (why.kind == problem_kind::conflict) why.message = "A personal token of this username exists already.";
        return why;
    }
    return token_id{(*connection)->last_insert_id()};
}

TOLLGATE_DECL outcome<std::vector<personal_token>> personal_tokens::of(user_id user) {
    auto connection = connections_.reader();
    if (!connection) return std::move(connection).error();
    auto rows = (*connection)
                    ->prepare("SELECT id, username, description, scopes, created_at, last_used_at "
                              "FROM tollgate_personal_tokens WHERE user = ? ORDER BY id",
                              user);
    std::vector<personal_token> found;
    for (;;) {
        auto row = rows.next<token_id, token_username, std::string, scope_set, instant, std::optional<instant>>();
        if (!row) return std::move(row).error();
        if (!*row) return found;
        auto& [id, username, description, scopes, created_at, last_used_at] = **row;
        found.push_back({id, user, username, std::move(description), scopes, created_at, last_used_at});
    }
}

TOLLGATE_DECL outcome<bool> personal_tokens::revoke(token_id id) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    if (auto done = (*connection)->run("DELETE FROM tollgate_personal_tokens WHERE id = ?", id); !done)
        return std::move(done).error();
    return (*connection)->changes() > 0;
}

}  // namespace tollgate::sqlite

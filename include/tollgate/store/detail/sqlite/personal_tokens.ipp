#pragma once

#include <tollgate/store/detail/refusals.hpp>
#include <tollgate/store/detail/sqlite/columns.hpp>
#include <tollgate/store/detail/sqlite/personal_tokens.hpp>

#include <string>

namespace tollgate::inline v0::sqlite {

TOLLGATE_DECL result<std::optional<token_credential>> personal_tokens::find(std::string_view username) {
    const auto name = token_username::from(username);
    if (!name) return std::optional<token_credential>{};  // longer than any that there is
    return credentials_.find(*name, [&] { return read(*name); });
}

TOLLGATE_DECL lookup<token_credential> personal_tokens::cached(std::string_view username) const noexcept {
    const auto name = token_username::from(username);
    if (!name) return lookup<token_credential>::unknown();
    return credentials_.cached(*name);
}

TOLLGATE_DECL result<std::optional<token_credential>> personal_tokens::read(const token_username& username) {
    auto connection = connections_.reader();
    if (!connection) return std::move(connection).error();
    auto row =
        (*connection)
            ->prepare("SELECT user, secret_digest, scopes, last_used_at FROM tollgate_personal_tokens "
                      "WHERE username = ?",
                      username)
            .next<user_id, digest, scope_set, std::optional<instant>>();
    if (!row) return std::move(row).error();
    if (!*row) return std::optional<token_credential>{};
    const auto& [user, secret_digest, scopes, last_used_at] = **row;
    return std::optional{token_credential{user, secret_digest, scopes, std::nullopt, std::nullopt, last_used_at}};
}

TOLLGATE_DECL result<token_id> personal_tokens::create(const new_personal_token& made,
                                                        std::size_t tokens_per_user_max) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    // One statement is one transaction, and it holds the write lock from its start: nobody else can count in between.
    auto done = (*connection)
                    ->run("INSERT INTO tollgate_personal_tokens "
                          "(user, username, secret_digest, description, scopes, created_at) "
                          "SELECT ?1, ?2, ?3, ?4, ?5, ?6 "
                          "WHERE ?7 > (SELECT count(*) FROM tollgate_personal_tokens WHERE user = ?1)",
                          made.user, made.username, made.secret_digest, made.description, made.scopes, made.created_at,
                          tokens_per_user_max);
    if (!done) {
        auto why = std::move(done).error();
        if (why.kind == error_kind::conflict) why.message = "A personal token of this username exists already.";
        return why;
    }
    if ((*connection)->changes() == 0) return too_many_personal_tokens(tokens_per_user_max);
    return token_id{(*connection)->last_insert_id()};
}

TOLLGATE_DECL result<std::vector<personal_token>> personal_tokens::of(user_id user) {
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

TOLLGATE_DECL result<bool> personal_tokens::revoke(token_id id) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    if (auto done = (*connection)->run("DELETE FROM tollgate_personal_tokens WHERE id = ?", id); !done)
        return std::move(done).error();
    return (*connection)->changes() > 0;
}

TOLLGATE_DECL result<void> personal_tokens::record_use(std::string_view username, instant now) {
    auto connection = connections_.writer_soon();
    if (!connection) return std::move(connection).error();
    return (*connection)->run("UPDATE tollgate_personal_tokens SET last_used_at = ? WHERE username = ?", now, username);
}

}  // namespace tollgate::sqlite

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_PERSONAL_TOKENS_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_PERSONAL_TOKENS_IPP

#include <tollgate/store/detail/sql/rows.hpp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>

namespace tollgate::inline v0 {

TOLLGATE_DECL std::string sqlite_store::impl::compose_owner_query(std::string_view integrators) {
    // On its own line: the query may end with a comment.
    return std::string{"WITH known (requests, window_seconds, balance, currency) AS (\n"}.append(integrators).append(
        "\n) SELECT requests, window_seconds, CAST(balance AS TEXT), CAST(currency AS TEXT) FROM known");
}

TOLLGATE_DECL result<std::optional<known_user>> sqlite_store::impl::owner_of(sqlite::database& on, user_id user) const {
    if (owner_query.empty()) return std::optional<known_user>{};
    const auto read = sql::read_one(
        on.prepare(sql::statement_text::composed(owner_query), user),
        [](std::optional<std::int64_t> requests, std::optional<std::int64_t> window_seconds, std::optional<std::string>& balance,
           std::optional<std::string>& currency) { return sql::owner_columns{requests, window_seconds, balance, currency}; });
    if (!read) return read.error();
    if (!*read) return std::optional<known_user>{};
    return sql::to_known_user(user, **read).transform([](const known_user& known) { return std::optional{known}; });
}

TOLLGATE_DECL result<token_id> sqlite_store::create_personal_token(const new_personal_token& token,
                                                                   std::size_t tokens_per_user_max) noexcept {
    return impl_->database.write([&](sqlite::database& on) -> result<token_id> {
        const auto existing = sql::read_value<token_id>(
            on.prepare("SELECT id FROM tollgate_personal_tokens WHERE username = ? AND user = ? AND secret_digest = ?", token.username,
                       token.user, token.secret_digest));
        if (!existing) return existing.error();
        if (*existing) return **existing;  // the call is repeated
        // One statement holds the write lock from its start, so no row can be inserted between counting and inserting.
        auto done = on.run(
            "INSERT INTO tollgate_personal_tokens "
            "(user, username, secret_digest, description, scopes, created_at, expires_at) "
            "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 "
            "WHERE ?8 > (SELECT count(*) FROM tollgate_personal_tokens WHERE user = ?1)",
            token.user, token.username, token.secret_digest, token.description, token.scopes, token.created_at,
            token.expires_at, tokens_per_user_max);
        if (!done) return personal_token_exists(std::move(done).error());
        if (on.changes() == 0) return too_many_personal_tokens(tokens_per_user_max);
        return token_id{on.last_insert_id()};
    });
}

TOLLGATE_DECL result<std::vector<personal_token>> sqlite_store::personal_tokens_of(user_id user) noexcept {
    return impl_->read_all(sql::to_personal_token(user),
                           "SELECT id, username, description, scopes, created_at, last_used_at, expires_at, last_used_from, secret_digest "
                           "FROM tollgate_personal_tokens WHERE user = ? ORDER BY id",
                           user);
}

TOLLGATE_DECL result<bool> sqlite_store::renew_personal_token(user_id user, token_id id,
                                                              const personal_token_renewal& renewed) noexcept {
    return impl_->change("UPDATE tollgate_personal_tokens SET secret_digest = ?1, created_at = ?2, expires_at = ?3 "
                         "WHERE id = ?4 AND user = ?5 AND secret_digest IN (coalesce(?6, secret_digest), ?1)",
                         renewed.secret_digest, renewed.created_at, renewed.expires_at, id, user, renewed.replaced);
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_PERSONAL_TOKENS_IPP

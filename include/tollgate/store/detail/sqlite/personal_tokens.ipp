#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_PERSONAL_TOKENS_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_PERSONAL_TOKENS_IPP

#include <tollgate/store/detail/sql/rows.hpp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>

namespace tollgate::inline v0 {

TOLLGATE_DECL std::string sqlite_detail::store_state::compose_owner_query(std::string_view integrators) {
    // On its own line: the query may end with a comment.
    return std::string{"WITH known (requests, window_seconds, balance, currency) AS (\n"}.append(integrators).append(
        "\n) SELECT requests, window_seconds, CAST(balance AS TEXT), CAST(currency AS TEXT) FROM known");
}

TOLLGATE_DECL result<std::optional<known_user>> sqlite_detail::store_state::owner_of(sqlite::database& on, user_id user) const {
    if (owner_query.empty()) return std::optional<known_user>{};
    const auto read = sql::read_one(
        on.prepare(sql::statement_text::composed(owner_query), user),
        [](std::optional<std::int64_t> requests, std::optional<std::int64_t> window_seconds, std::optional<std::string>& balance,
           std::optional<std::string>& currency) { return sql::owner_columns{requests, window_seconds, balance, currency}; });
    if (!read) return read.error();
    if (!*read) return std::optional<known_user>{};
    return sql::to_known_user(user, **read).transform([](const known_user& known) { return std::optional{known}; });
}

namespace sqlite_detail {

/// Verbs of `token_store`.
struct personal_token_verbs : verbs {
    using verbs::verbs;

    result<token_id> create_personal_token(const new_personal_token& token, std::size_t tokens_per_user_max) noexcept {
        return impl_->database.transact([&](sqlite::database& on) -> result<token_id> {
            const auto existing = sql::read_value<token_id>(
                on.prepare(sql::statements::find_repeated_personal_token, token.username, token.user, token.secret_digest));
            if (!existing) return existing.error();
            if (*existing) return **existing;  // the call is repeated
            const auto id = sql::read_value<token_id>(on.prepare(sql::statements::insert_personal_token, token.user, token.username,
                                                                 token.secret_digest, token.description, token.scopes, token.created_at,
                                                                 token.expires_at, tokens_per_user_max));
            if (!id) return personal_token_exists(id.error());
            if (!*id) return too_many_personal_tokens(tokens_per_user_max);
            return **id;
        });
    }

    result<bool> renew_personal_token(user_id user, token_id id, const personal_token_renewal& renewed) noexcept {
        return impl_->change(sql::statements::renew_personal_token, renewed.secret_digest, renewed.created_at, renewed.expires_at, id, user,
                             renewed.replaced);
    }
};

}  // namespace sqlite_detail

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_PERSONAL_TOKENS_IPP

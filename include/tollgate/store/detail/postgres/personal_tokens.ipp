#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_PERSONAL_TOKENS_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_PERSONAL_TOKENS_IPP

#include <tollgate/store/detail/postgres/store_impl.ipp>

#include <string>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<token_id> postgres_store::create_personal_token(const new_personal_token& token,
                                                                     std::size_t tokens_per_user_max) noexcept {
    return impl_->with_batch([&](postgres::batch& batch) -> result<token_id> {
        postgres::lock_until_commit(batch, "personal_tokens " + std::to_string(token.user.value()));
        const auto existing = batch.add(
            "SELECT id FROM tollgate_personal_tokens WHERE username = $1 AND user_id = $2 AND secret_digest = $3",
            token.username, token.user, token.secret_digest);
        batch.add(
            "INSERT INTO tollgate_personal_tokens "
            "(user_id, username, secret_digest, description, scopes, created_at, expires_at) "
            "SELECT $1, $2, $3, $4, $5, $6, $7 "
            "WHERE $8 > (SELECT count(*) FROM tollgate_personal_tokens WHERE user_id = $1) AND NOT EXISTS (SELECT "
            "FROM tollgate_personal_tokens WHERE username = $2 AND user_id = $1 AND secret_digest = $3) RETURNING id",
            token.user, token.username, token.secret_digest, token.description, token.scopes, token.created_at,
            token.expires_at, tokens_per_user_max);
        auto results = impl_->database.run(batch);
        if (!results) return personal_token_exists(std::move(results).error());
        const bool is_repeated = (*results)[existing].count() > 0;
        const auto id = sql::read_value<token_id>(is_repeated ? (*results)[existing] : results->back());
        if (!id) return id.error();
        if (!*id) return too_many_personal_tokens(tokens_per_user_max);
        impl_->changes->forget_key(impl_->personal_tokens.hash_of(token.username));
        return **id;
    });
}

TOLLGATE_DECL result<std::vector<personal_token>> postgres_store::personal_tokens_of(user_id user) noexcept {
    return impl_->read_all(sql::to_personal_token(user),
                           "SELECT id, username, description, scopes, created_at, last_used_at, expires_at, last_used_from, secret_digest "
                           "FROM tollgate_personal_tokens "
                           "WHERE user_id = $1 ORDER BY id",
                           user);
}

TOLLGATE_DECL result<bool> postgres_store::renew_personal_token(user_id user, token_id id,
                                                                const personal_token_renewal& renewed) noexcept {
    return detail::without_exceptions([&]() -> result<bool> {
        auto done = impl_->database.execute(
            "UPDATE tollgate_personal_tokens SET secret_digest = $1, created_at = $2, expires_at = $3 "
            "WHERE id = $4 AND user_id = $5 AND secret_digest IN (coalesce($6, secret_digest), $1)",
            renewed.secret_digest, renewed.created_at, renewed.expires_at, id, user, renewed.replaced);
        if (!done) return impl_->forget_all_after(std::move(done).error());
        impl_->changes->forget(user);
        return done->affected() > 0;
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_PERSONAL_TOKENS_IPP

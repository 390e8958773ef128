#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/postgres/store_impl.ipp>

namespace tollgate::inline v0 {

TOLLGATE_DECL std::size_t postgres::add_access_token(batch& to, const new_access_token& token,
                                                      const std::optional<digest>& refresh_token) {
    to.add(
        "INSERT INTO tollgate_access_tokens "
        "(token_digest, user_id, application_id, scopes, created_at, expires_at, refresh_token_id) "
        "VALUES ($1, $2, $3, $4, $5, $6, (SELECT id FROM tollgate_refresh_tokens WHERE token_digest = $7))",
        token.token_digest, token.user, token.application, token.scopes, token.created_at, token.expires_at, refresh_token);
    return trim_access_tokens(to, token.token_digest);
}

TOLLGATE_DECL std::size_t postgres::trim_access_tokens(batch& to, const digest& newest) {
    return to.add(
        "DELETE FROM tollgate_access_tokens WHERE token_digest = ANY (ARRAY("
        "SELECT older.token_digest FROM tollgate_access_tokens AS newest JOIN tollgate_access_tokens AS older "
        "USING (application_id, user_id) WHERE newest.token_digest = $1 AND older.token_digest <> $1 "
        "ORDER BY older.expires_at DESC OFFSET $2))",
        newest, limits::access_tokens_per_grant_max - 1);
}

TOLLGATE_DECL result<std::optional<token_credential>> postgres_store::find_access_token(const digest& token) noexcept {
    return detail::without_exceptions([&]() -> result<std::optional<token_credential>> {
        return impl_->access_tokens.find(token, [&] {
            return impl_->access_lookups.find(impl_->database, impl_->lookup.access(), token,
                                              postgres::credential_lookup::read_access);
        });
    });
}

TOLLGATE_DECL lookup<token_credential> postgres_store::cached_access_token(const digest& token) const noexcept {
    return impl_->access_tokens.cached(token);
}

TOLLGATE_DECL result<void> postgres_store::create_access_token(const new_access_token& token) noexcept {
    return impl_->with_batch([&](postgres::batch& batch) -> result<void> {
        postgres::add_access_token(batch, token, std::nullopt);
        auto done = impl_->database.run(batch);
        if (!done) return token_exists(std::move(done).error());
        impl_->access_token_created(token.token_digest, token.user, done->back().affected() > 0);
        return {};
    });
}

TOLLGATE_DECL result<bool> postgres_store::create_owner_token(const new_access_token& token) noexcept {
    return impl_->with_batch([&](postgres::batch& batch) -> result<bool> {
        // Waits for verbs that delete the application or take its right away.
        batch.add("SELECT id FROM tollgate_applications WHERE id = $1 FOR SHARE", token.application);
        batch.add(
            "INSERT INTO tollgate_access_tokens (token_digest, user_id, application_id, scopes, created_at, expires_at) "
            "SELECT $1, $2, $3, $4, $5, $6 FROM tollgate_applications "
            "WHERE id = $3 AND owner_id = $2 AND acts_for_owner AND client_type = 'confidential'",
            token.token_digest, token.user, token.application, token.scopes, token.created_at, token.expires_at);
        postgres::trim_access_tokens(batch, token.token_digest);
        auto done = impl_->database.run(batch);
        if (!done) return token_exists(std::move(done).error());
        impl_->access_token_created(token.token_digest, token.user, done->back().affected() > 0);
        return (*done)[1].affected() > 0;
    });
}

TOLLGATE_DECL result<bool> postgres_store::revoke_access_token(const digest& token) noexcept {
    return detail::without_exceptions([&]() -> result<bool> {
        auto done = impl_->database.execute("DELETE FROM tollgate_access_tokens WHERE token_digest = $1", token);
        if (!done) return impl_->forget_all_after(std::move(done).error());
        impl_->changes->forget_key(impl_->access_tokens.hash_of(token));
        return done->affected() > 0;
    });
}

TOLLGATE_DECL result<void> postgres_store::record_access_token_use(const digest& token, instant now) noexcept {
    return impl_->with_batch([&](postgres::batch& batch) -> result<void> {
        postgres::make_best_effort(batch);
        // The grant is locked first, as in the verbs that revoke its tokens.
        batch.add(
            "UPDATE tollgate_grants SET last_used_at = $1 FROM tollgate_access_tokens AS tokens "
            "WHERE tokens.token_digest = $2 AND tollgate_grants.user_id = tokens.user_id "
            "AND tollgate_grants.application_id = tokens.application_id",
            now, token);
        batch.add("UPDATE tollgate_access_tokens SET last_used_at = $1 WHERE token_digest = $2", now, token);
        auto done = impl_->database.run(batch, postgres::repeat::never, postgres::short_connection_wait);
        if (!done) return std::move(done).error();
        // Otherwise the cached row would show the use as unrecorded.
        impl_->changes->forget_key(impl_->access_tokens.hash_of(token));
        return {};
    });
}

}  // namespace tollgate

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_CREDENTIALS_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_CREDENTIALS_IPP

#include <tollgate/base/detail/overloaded.hpp>
#include <tollgate/store/detail/postgres/store_impl.ipp>
#include <tollgate/store/detail/sql/grants.hpp>

#include <variant>

// The verbs on personal tokens and access tokens alike.
//
// A verb that creates or removes a grant's codes or tokens first locks the grant's row with a separate statement (`create_code` after
// the lock of its code). For one user and one application these verbs are thus serialized, and each statement after the lock sees what
// earlier verbs did. FOR NO KEY UPDATE, so that foreign key checks of others do not wait.

namespace tollgate::inline v0 {

namespace postgres::detail {

/// Locks the grant of a refresh token that is named by itself or by its family. `application`: empty for any.
inline void lock_grant_of(batch& to, std::optional<application_id> application, const digest& token,
                          const std::optional<digest>& family) {
    to.add(
        "SELECT grants.id FROM tollgate_grants AS grants JOIN tollgate_refresh_tokens AS tokens "
        "ON grants.id = tokens.grant_id WHERE (token_digest = $1 OR family_digest = $2) AND application_id = coalesce($3, application_id) "
        "FOR NO KEY UPDATE OF grants",
        token, family, application);
}

/// Revokes a refresh token and the access tokens that were created with it.
inline void add_revocation(batch& to, sql::row_number refresh_token) {
    to.add("DELETE FROM tollgate_access_tokens WHERE refresh_token_id = $1", refresh_token);
    to.add("DELETE FROM tollgate_refresh_tokens WHERE id = $1", refresh_token);
}

/// Revokes what a user granted an application, with all codes and tokens. The grant's deletion comes last.
inline void add_revocation(batch& to, user_id user, application_id application) {
    // This includes tokens without a grant: the application must lose all access.
    to.add("DELETE FROM tollgate_access_tokens WHERE application_id = $1 AND user_id = $2", application, user);
    to.add("DELETE FROM tollgate_grants WHERE user_id = $1 AND application_id = $2", user, application);
}

}  // namespace postgres::detail

TOLLGATE_DECL result<std::optional<token_credential>> postgres_store::find_credential(const credential_key& key) noexcept {
    return detail::without_exceptions([&]() -> result<std::optional<token_credential>> {
        if (const auto* const access = std::get_if<access_token_key>(&key)) {
            const digest& token = access->token_digest;
            return impl_->access_tokens.find(token, [&] {
                return impl_->access_lookups.find(impl_->database, impl_->lookup.access(), token,
                                                  postgres::credential_lookup::read_access);
            });
        }
        const auto username = std::get<personal_token_key>(key).username;
        const auto name = token_username::from(username);
        // no such token can exist
        if (!name || !postgres::is_storable(username)) return std::optional<token_credential>{};
        return impl_->personal_tokens.find(*name, [&] {
            return impl_->personal_lookups.find(impl_->database, impl_->lookup.personal(), *name,
                                                postgres::credential_lookup::read_personal);
        });
    });
}

TOLLGATE_DECL lookup<token_credential> postgres_store::cached_credential(const credential_key& key) const noexcept {
    if (const auto* const access = std::get_if<access_token_key>(&key)) return impl_->access_tokens.cached(access->token_digest);
    const auto name = token_username::from(std::get<personal_token_key>(key).username);
    if (!name) return lookup<token_credential>::unknown();
    return impl_->personal_tokens.cached(*name);
}

TOLLGATE_DECL result<void> postgres_store::record_use(const credential_key& key, instant now, std::string_view from) noexcept {
    return impl_->with_batch([&](postgres::batch& batch) -> result<void> {
        postgres::make_best_effort(batch);
        std::visit(detail::overloaded{
                       [&](const personal_token_key& personal) {
                           batch.add("UPDATE tollgate_personal_tokens SET last_used_at = $1, last_used_from = $2 WHERE username = $3", now,
                                     from, personal.username);
                       },
                       [&](const access_token_key& access) {
                           // The grant is locked first, as in the verbs that revoke its tokens.
                           batch.add(
                               "UPDATE tollgate_grants SET last_used_at = $1 FROM tollgate_access_tokens AS tokens "
                               "WHERE tokens.token_digest = $2 AND tollgate_grants.user_id = tokens.user_id "
                               "AND tollgate_grants.application_id = tokens.application_id",
                               now, access.token_digest);
                           batch.add("UPDATE tollgate_access_tokens SET last_used_at = $1 WHERE token_digest = $2", now,
                                     access.token_digest);
                       },
                   },
                   key);
        auto done = impl_->database.run(batch, postgres::repeat::never, postgres::short_connection_wait);
        if (!done) return std::move(done).error();
        // Otherwise the cached row would show the use as unrecorded.
        std::visit(detail::overloaded{
                       [&](const personal_token_key& personal) {
                           if (const auto name = token_username::from(personal.username))
                               impl_->changes->forget_key(impl_->personal_tokens.hash_of(*name));
                       },
                       [&](const access_token_key& access) {
                           impl_->changes->forget_key(impl_->access_tokens.hash_of(access.token_digest));
                       },
                   },
                   key);
        return {};
    });
}

TOLLGATE_DECL result<bool> postgres_store::revoke(const revocation& revoked) noexcept {
    return impl_->with_batch([&](postgres::batch& batch) -> result<bool> {
        std::visit(
            detail::overloaded{
                [&](const personal_token_revocation& personal) {
                    batch.add("DELETE FROM tollgate_personal_tokens WHERE id = $1 RETURNING user_id", personal.token);
                },
                [&](const oauth_token_revocation& token) {
                    postgres::detail::lock_grant_of(batch, token.application, token.token_digest, token.token_digest);
                    batch.add(
                        "WITH refresh AS (DELETE FROM tollgate_refresh_tokens AS tokens USING tollgate_grants AS grants "
                        "WHERE grants.id = grant_id AND (token_digest = $1 OR family_digest = $1) "
                        "AND application_id = coalesce($2, application_id) RETURNING tokens.id, user_id), "
                        "access AS (DELETE FROM tollgate_access_tokens WHERE refresh_token_id = (SELECT id FROM refresh) "
                        "OR (token_digest = $1 AND application_id = coalesce($2, application_id)) RETURNING user_id) "
                        "SELECT user_id FROM refresh UNION SELECT user_id FROM access",
                        token.token_digest, token.application);
                },
                [&](const grant_revocation& given) {
                    batch.add("SELECT id FROM tollgate_grants WHERE user_id = $1 AND application_id = $2 FOR UPDATE", given.user,
                              given.application);
                    batch.add("DELETE FROM tollgate_access_tokens WHERE application_id = $1 AND user_id = $2", given.application,
                              given.user);
                    batch.add("DELETE FROM tollgate_grants WHERE user_id = $1 AND application_id = $2 RETURNING user_id", given.user,
                              given.application);
                },
            },
            revoked);
        auto done = impl_->database.run(batch);
        if (!done) return impl_->forget_all_after(std::move(done).error());
        if (const auto* const given = std::get_if<grant_revocation>(&revoked)) impl_->changes->forget(given->user);
        const auto user = sql::read_value<user_id>(done->back());  // all rows have the same one
        if (!user) return impl_->forget_all_after(user.error());
        if (*user) impl_->changes->forget(**user);
        if (const auto* const token = std::get_if<oauth_token_revocation>(&revoked))
            impl_->changes->forget_key(impl_->access_tokens.hash_of(token->token_digest));
        return user->has_value();
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_CREDENTIALS_IPP

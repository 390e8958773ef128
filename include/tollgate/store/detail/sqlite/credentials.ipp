#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_CREDENTIALS_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_CREDENTIALS_IPP

#include <tollgate/base/detail/overloaded.hpp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>

#include <variant>

// The verbs on personal tokens and access tokens alike.

namespace tollgate::inline v0 {

namespace sqlite::detail {

/// Revokes a refresh token and the access tokens that were created with it. Returns true if there were any.
inline result<bool> revoke_refresh_token(database& on, sql::row_number refresh_token) {
    auto access = on.run_counted("DELETE FROM tollgate_access_tokens WHERE refresh_token = ?", refresh_token);
    if (!access) return access;
    const auto refresh = on.run_counted("DELETE FROM tollgate_refresh_tokens WHERE id = ?", refresh_token);
    return refresh ? result<bool>{*access || *refresh} : refresh;
}

/// Revokes what a user granted an application, with all codes and tokens. Whether there was a grant.
inline result<bool> revoke_grant(database& on, user_id user, application_id application) {
    // This includes tokens without a grant: the application must lose all access.
    if (auto done = on.run("DELETE FROM tollgate_access_tokens WHERE application = ? AND user = ?", application, user);
        !done)
        return std::move(done).error();
    return on.run_counted("DELETE FROM tollgate_grants WHERE user = ? AND application = ?", user, application);
}

}  // namespace sqlite::detail

TOLLGATE_DECL result<std::optional<token_credential>> sqlite_store::find_credential(const credential_key& key) noexcept {
    if (const auto* const access = std::get_if<access_token_key>(&key)) {
        const digest& token = access->token_digest;
        return impl_->access_tokens.find(token, [&] {
            return impl_->read_credential(
                [&](user_id user, application_id application, const scope_set& scopes, instant expires_at,
                    std::optional<instant> last_used_at) {
                    return token_credential{user, token, scopes, expires_at, application, last_used_at};
                },
                "SELECT user, application, scopes, expires_at, last_used_at FROM tollgate_access_tokens WHERE token_digest = ?", token);
        });
    }
    const auto name = token_username::from(std::get<personal_token_key>(key).username);
    if (!name) return std::optional<token_credential>{};  // longer than any username
    return impl_->personal_tokens.find(*name, [&] {
        return impl_->read_credential(
            [](user_id user, const digest& secret, const scope_set& scopes, std::optional<instant> expires_at,
               std::optional<instant> last_used_at, token_id id) {
                return token_credential{user, secret, scopes, expires_at, std::nullopt, last_used_at, std::nullopt, id};
            },
            "SELECT user, secret_digest, scopes, expires_at, last_used_at, id FROM tollgate_personal_tokens WHERE username = ?", *name);
    });
}

TOLLGATE_DECL lookup<token_credential> sqlite_store::cached_credential(const credential_key& key) const noexcept {
    if (const auto* const access = std::get_if<access_token_key>(&key)) return impl_->access_tokens.cached(access->token_digest);
    const auto name = token_username::from(std::get<personal_token_key>(key).username);
    if (!name) return lookup<token_credential>::unknown();
    return impl_->personal_tokens.cached(*name);
}

TOLLGATE_DECL result<void> sqlite_store::record_use(const credential_key& key, instant now, std::string_view from) noexcept {
    return impl_->database.transact(
        [&](sqlite::database& on) -> result<void> {
            if (const auto* const personal = std::get_if<personal_token_key>(&key))
                return on.run("UPDATE tollgate_personal_tokens SET last_used_at = ?, last_used_from = ? WHERE username = ?", now, from,
                              personal->username);
            const digest& token = std::get<access_token_key>(key).token_digest;
            if (auto done = on.run("UPDATE tollgate_access_tokens SET last_used_at = ? WHERE token_digest = ?", now, token); !done)
                return done;
            return on.run(
                "UPDATE tollgate_grants SET last_used_at = ? WHERE (user, application) = "
                "(SELECT user, application FROM tollgate_access_tokens WHERE token_digest = ?)",
                now, token);
        },
        impl_->use_deadline());
}

TOLLGATE_DECL result<bool> sqlite_store::revoke(const revocation& revoked) noexcept {
    return impl_->database.transact([&](sqlite::database& on) {
        return std::visit(
            detail::overloaded{
                [&](const personal_token_revocation& personal) {
                    return on.run_counted("DELETE FROM tollgate_personal_tokens WHERE id = ?", personal.token);
                },
                [&](const oauth_token_revocation& token) -> result<bool> {
                    const auto refresh_token = sql::read_value<sql::row_number>(
                        on.prepare("SELECT tokens.id FROM tollgate_refresh_tokens AS tokens JOIN tollgate_grants "
                                   "ON access_grant = tollgate_grants.id "
                                   "WHERE (token_digest = ?1 OR family_digest = ?1) AND application = coalesce(?2, application)",
                                   token.token_digest, token.application));
                    if (!refresh_token) return refresh_token.error();
                    if (*refresh_token) return sqlite::detail::revoke_refresh_token(on, **refresh_token);
                    return on.run_counted(
                        "DELETE FROM tollgate_access_tokens WHERE token_digest = ? AND application = coalesce(?, application)",
                        token.token_digest, token.application);
                },
                [&](const grant_revocation& given) { return sqlite::detail::revoke_grant(on, given.user, given.application); },
            },
            revoked);
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_CREDENTIALS_IPP

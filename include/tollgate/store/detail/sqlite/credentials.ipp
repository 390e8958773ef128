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
    auto access = on.run_counted(sql::statements::delete_access_tokens_of_refresh_token, refresh_token);
    if (!access) return access;
    const auto refresh = on.run_counted(sql::statements::delete_refresh_token, refresh_token);
    return refresh ? result<bool>{*access || *refresh} : refresh;
}

/// Revokes what a user granted an application, with all codes and tokens. Whether there was a grant.
inline result<bool> revoke_grant(database& on, user_id user, application_id application) {
    // This includes tokens without a grant: the application must lose all access.
    if (auto done = on.run(sql::statements::delete_access_tokens_of_grant, application, user); !done) return std::move(done).error();
    return on.run_counted(sql::statements::delete_grant, user, application);
}

}  // namespace sqlite::detail

namespace sqlite_detail {

/// Verbs of `credential_source`, `credential_cache` and `use_recorder`.
struct credential_verbs : verbs {
    using verbs::verbs;

    result<std::optional<token_credential>> find_credential(const credential_key& key) noexcept {
        if (const auto* const access = std::get_if<access_token_key>(&key)) {
            const digest& token = access->token_digest;
            return impl_->access_tokens.find(token, [&] {
                return impl_->read_credential(
                    [&](user_id user, application_id application, const scope_set& scopes, instant expires_at,
                        std::optional<instant> last_used_at, const resource_set& resources) {
                        return token_credential{user,         token,        scopes,       expires_at, application,
                                                last_used_at, std::nullopt, std::nullopt, resources};
                    },
                    "SELECT user_id, application_id, scopes, expires_at, last_used_at, resources "
                    "FROM tollgate_access_tokens WHERE token_digest = ?",
                    token);
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
                "SELECT user_id, secret_digest, scopes, expires_at, last_used_at, id FROM tollgate_personal_tokens "
                "INDEXED BY tollgate_personal_tokens_credentials WHERE username = ?",
                *name);
        });
    }

    result<void> record_use(const credential_key& key, instant now, std::string_view from) noexcept {
        return impl_->database.transact(
            [&](sqlite::database& on) -> result<void> {
                if (const auto* const personal = std::get_if<personal_token_key>(&key))
                    return on.run(sql::statements::record_personal_token_use, now, from, personal->username);
                const digest& token = std::get<access_token_key>(key).token_digest;
                if (auto done = on.run(sql::statements::record_access_token_use, now, token); !done) return done;
                return on.run(sql::statements::record_grant_use, now, token);
            },
            impl_->use_deadline());
    }

    result<bool> revoke(const revocation& revoked) noexcept {
        return impl_->database.transact([&](sqlite::database& on) {
            return std::visit(
                detail::overloaded{
                    [&](const personal_token_revocation& personal) {
                        return on.run_counted(sql::statements::delete_personal_token, personal.token);
                    },
                    [&](const oauth_token_revocation& token) -> result<bool> {
                        bool any = false;
                        for (const sql::statement_text each :
                             {sql::statements::delete_access_tokens_of_named_refresh_token, sql::statements::delete_named_refresh_token,
                              sql::statements::delete_access_token}) {
                            const auto deleted = on.run_counted(each, token.token_digest, token.application);
                            if (!deleted) return deleted.error();
                            any = any || *deleted;
                        }
                        return any;
                    },
                    [&](const grant_revocation& given) { return sqlite::detail::revoke_grant(on, given.user, given.application); },
                },
                revoked);
        });
    }
};

}  // namespace sqlite_detail

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_CREDENTIALS_IPP

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_ACCESS_TOKENS_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_ACCESS_TOKENS_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<void> sqlite::insert_access_token(database& on, const new_access_token& token,
                                                       std::optional<sql::row_number> refresh_token) {
    // If so many others expire later, this is when there is room again.
    const auto room_at = sql::read_value<instant>(on.prepare(
        "SELECT expires_at FROM tollgate_access_tokens WHERE application = ? AND user = ? ORDER BY expires_at DESC LIMIT 1 OFFSET ?",
        token.application, token.user, limits::access_tokens_per_grant_max - 1));
    if (!room_at) return room_at.error();
    if (*room_at && token.created_at < **room_at) return too_many_access_tokens(**room_at);
    auto done = on.run(
        "INSERT INTO tollgate_access_tokens "
        "(token_digest, user, application, scopes, created_at, expires_at, refresh_token) VALUES (?, ?, ?, ?, ?, ?, ?)",
        token.token_digest, token.user, token.application, token.scopes, token.created_at, token.expires_at, refresh_token);
    if (!done) return token_exists(std::move(done).error());
    return on.run(
        "DELETE FROM tollgate_access_tokens WHERE token_digest IN "
        "(SELECT token_digest FROM tollgate_access_tokens WHERE application = ?1 AND user = ?2 AND token_digest <> ?3 "
        "ORDER BY expires_at DESC LIMIT -1 OFFSET ?4) AND expires_at <= ?5",
        token.application, token.user, token.token_digest, limits::access_tokens_per_grant_max - 1, token.created_at);
}

TOLLGATE_DECL result<bool> sqlite_store::create_access_token(const new_access_token& token) noexcept {
    return impl_->database.transact([&](sqlite::database& on) -> result<bool> {
        if (token.for_owner) {
            const auto allowed = sql::read_value<application_id>(
                on.prepare("SELECT id FROM tollgate_applications WHERE id = ? AND owner = ? AND acts_for_owner = 1 "
                           "AND client_type = 'confidential' AND suspended IS NULL",
                           token.application, token.user));
            if (!allowed) return allowed.error();
            if (!*allowed) return false;
        }
        const auto is_repeated = sql::read_value<bool>(
            on.prepare("SELECT user = ? AND application = ? AND refresh_token IS NULL FROM tollgate_access_tokens WHERE token_digest = ?",
                       token.user, token.application, token.token_digest));
        if (!is_repeated) return is_repeated.error();
        if (is_repeated->value_or(false)) return true;
        return sqlite::insert_access_token(on, token, std::nullopt).transform([] { return true; });
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_ACCESS_TOKENS_IPP

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_ACCESS_TOKENS_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_ACCESS_TOKENS_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/postgres/store_impl.ipp>

#include <string>

namespace tollgate::inline v0 {

TOLLGATE_DECL std::size_t postgres::add_access_token(batch& to, const new_access_token& token, const std::optional<digest>& refresh_token) {
    to.add(
        "INSERT INTO tollgate_access_tokens "
        "(token_digest, user_id, application_id, scopes, created_at, expires_at, refresh_token_id) "
        "VALUES ($1, $2, $3, $4, $5, $6, (SELECT id FROM tollgate_refresh_tokens WHERE token_digest = $7))",
        token.token_digest, token.user, token.application, token.scopes, token.created_at, token.expires_at, refresh_token);
    return trim_access_tokens(to, token);
}

TOLLGATE_DECL std::size_t postgres::trim_access_tokens(batch& to, const new_access_token& newest) {
    return to.add(
        "DELETE FROM tollgate_access_tokens WHERE token_digest = ANY (ARRAY("
        "SELECT older.token_digest FROM tollgate_access_tokens AS newest JOIN tollgate_access_tokens AS older "
        "USING (application_id, user_id) WHERE newest.token_digest = $1 AND older.token_digest <> $1 "
        "ORDER BY older.expires_at DESC OFFSET $2)) AND expires_at <= $3",
        newest.token_digest, limits::access_tokens_per_grant_max - 1, newest.created_at);
}

/// Makes this transaction the only one that creates access tokens of the user and the application, so that the bound is exact. Those
/// that redeem a code or use a refresh token have locked the grant.
TOLLGATE_DECL void postgres::lock_access_tokens(batch& in, user_id user, application_id application) {
    lock_until_commit(in, "access tokens " + std::to_string(application.value()) + ' ' + std::to_string(user.value()));
    in.add("SELECT id FROM tollgate_grants WHERE user_id = $1 AND application_id = $2 FOR NO KEY UPDATE", user, application);
}

TOLLGATE_DECL std::size_t postgres::add_room_query(batch& to, user_id user, application_id application) {
    return to.add(
        "SELECT expires_at FROM tollgate_access_tokens WHERE application_id = $1 AND user_id = $2 "
        "ORDER BY expires_at DESC OFFSET $3 LIMIT 1",
        application, user, limits::access_tokens_per_grant_max - 1);
}

TOLLGATE_DECL result<void> postgres::check_room(rows& found, instant now) {
    const auto room_at = sql::read_value<instant>(found);
    if (!room_at) return room_at.error();
    if (*room_at && now < **room_at) return too_many_access_tokens(**room_at);
    return {};
}

TOLLGATE_DECL result<bool> postgres_store::create_access_token(const new_access_token& token) noexcept {
    return detail::without_exceptions([&]() -> result<bool> {
        return impl_->database.transact([&](postgres::transaction& on) -> result<bool> {
            auto reading = impl_->database.make_batch();
            reading.add("BEGIN");
            // Waits for verbs that delete the application or take its right away, which then wait for this one.
            const auto allowed = !token.for_owner ? 0
                                                  : reading.add("SELECT id FROM tollgate_applications WHERE id = $1 AND owner_id = $2 "
                                                                "AND acts_for_owner AND client_type = 'confidential' "
                                                                "AND suspended IS NULL FOR SHARE",
                                                                token.application, token.user);
            postgres::lock_access_tokens(reading, token.user, token.application);
            const auto existing = reading.add(
                "SELECT user_id = $2 AND application_id = $3 AND refresh_token_id IS NULL FROM tollgate_access_tokens "
                "WHERE token_digest = $1",
                token.token_digest, token.user, token.application);
            const auto room = postgres::add_room_query(reading, token.user, token.application);
            auto read = on.run(reading);
            if (!read) return std::move(read).error();
            if (token.for_owner && (*read)[allowed].count() == 0) return false;
            const auto is_repeated = sql::read_value<bool>((*read)[existing]);
            if (!is_repeated) return is_repeated.error();
            if (is_repeated->value_or(false)) return true;
            if (auto checked = postgres::check_room((*read)[room], token.created_at); !checked) return std::move(checked).error();
            postgres::batch writing{reading.shift()};
            const auto trimming = postgres::add_access_token(writing, token, std::nullopt);
            auto written = on.commit(std::move(writing));
            if (!written) return token_exists(std::move(written).error());
            impl_->access_token_created(token.token_digest, token.user, (*written)[trimming].affected() > 0);
            return true;
        });
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_ACCESS_TOKENS_IPP

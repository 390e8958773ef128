#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/sqlite/columns.hpp>
#include <tollgate/store/detail/sqlite/insert_access_token.hpp>

#include <utility>

namespace tollgate::inline v0::sqlite {

TOLLGATE_DECL result<void> insert_access_token(database& on, const new_access_token& made,
                                                std::optional<std::int64_t> refresh_token) {
    auto done = on.run(
        "INSERT INTO tollgate_access_tokens "
        "(token_digest, user, application, scopes, created_at, expires_at, refresh_token) VALUES (?, ?, ?, ?, ?, ?, ?)",
        made.token_digest, made.user, made.application, made.scopes, made.created_at, made.expires_at, refresh_token);
    if (!done) {
        if (done.error().kind == error_kind::conflict) done.error().message = "This access token exists already.";
        return done;
    }
    return on.run(
        "DELETE FROM tollgate_access_tokens WHERE token_digest IN "
        "(SELECT token_digest FROM tollgate_access_tokens WHERE application = ?1 AND user = ?2 AND token_digest <> ?3 "
        "ORDER BY expires_at DESC LIMIT -1 OFFSET ?4)",
        made.application, made.user, made.token_digest, limits::access_tokens_per_grant_max - 1);
}

}  // namespace tollgate::sqlite

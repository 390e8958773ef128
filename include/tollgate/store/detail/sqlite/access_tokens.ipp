#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_ACCESS_TOKENS_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_ACCESS_TOKENS_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<void> sqlite::insert_access_token(database& on, const new_access_token& token,
                                                       const std::optional<digest>& refresh_token) {
    // If so many others expire later, this is when there is room again.
    const auto room_at = sql::read_value<instant>(
        on.prepare(sql::statements::find_room_for_access_token, token.application, token.user, limits::access_tokens_per_grant_max - 1));
    if (!room_at) return room_at.error();
    if (*room_at && token.created_at < **room_at) return too_many_access_tokens(**room_at);
    auto done = on.run(sql::statements::insert_access_token, token.token_digest, token.user, token.application, token.scopes,
                       token.created_at, token.expires_at, refresh_token, token.resources);
    if (!done) return token_exists(std::move(done).error());
    return on.run(sql::statements::trim_access_tokens, token.application, token.user, token.token_digest,
                  limits::access_tokens_per_grant_max - 1, token.created_at);
}

namespace sqlite_detail {

/// Verbs of `access_token_store`.
struct access_token_verbs : verbs {
    using verbs::verbs;

    result<bool> create_access_token(const new_access_token& token) noexcept {
        return impl_->database.transact([&](sqlite::database& on) -> result<bool> {
            if (token.for_owner) {
                const auto allowed = sql::read_value<application_id>(
                    on.prepare(sql::statements::lock_application_of_owner_token, token.application, token.user));
                if (!allowed) return allowed.error();
                if (!*allowed) return false;
            }
            const auto is_repeated = sql::read_value<bool>(
                on.prepare(sql::statements::find_repeated_access_token, token.user, token.application, token.token_digest));
            if (!is_repeated) return is_repeated.error();
            if (is_repeated->value_or(false)) return true;
            return sqlite::insert_access_token(on, token, std::nullopt).transform([] { return true; });
        });
    }
};

}  // namespace sqlite_detail

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_ACCESS_TOKENS_IPP

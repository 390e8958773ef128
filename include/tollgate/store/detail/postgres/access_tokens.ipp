#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/postgres/access_tokens.hpp>
#include <tollgate/store/detail/postgres/columns.hpp>
#include <tollgate/store/detail/postgres/locks.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace tollgate::inline v0::postgres {

TOLLGATE_DECL void trim_access_tokens(batch& in, const digest& newest) {
    in.add(
        "DELETE FROM tollgate_access_tokens WHERE token_digest = ANY (ARRAY("
        "SELECT older.token_digest FROM tollgate_access_tokens AS newest JOIN tollgate_access_tokens AS older "
        "USING (application_id, user_id) WHERE newest.token_digest = $1 AND older.token_digest <> $1 "
        "ORDER BY older.expires_at DESC OFFSET $2))",
        newest, limits::access_tokens_per_grant_max - 1);
}

TOLLGATE_DECL error token_exists(error why) {
    if (why.kind == error_kind::conflict) why.message = "This token exists already.";
    return why;
}

TOLLGATE_DECL error forget_all_after(error why, cache_invalidation_feed& changes) noexcept {
    // Others are the caller's mistake, or the database's word that nothing was done.
    if (why.kind == error_kind::unavailable || why.kind == error_kind::internal) changes.forget_all();
    return why;
}

TOLLGATE_DECL result<std::optional<token_credential>> access_tokens::find(const digest& token) {
    return credentials_.find(token, [&] { return read(token); });
}

TOLLGATE_DECL result<std::optional<token_credential>> access_tokens::read(const digest& token) {
    auto found = connections_.ask(lookup_.access(), token);
    if (!found) return std::move(found).error();
    const auto row = found->next<user_id, application_id, scope_set, instant, std::optional<instant>, bool,
                                 std::optional<std::int64_t>, std::optional<std::int64_t>>();
    if (!row) return row.error();
    if (!*row) return std::optional<token_credential>{};
    const auto& [user, application, scopes, expires_at, last_used_at, is_told, requests, window_seconds] = **row;
    auto own = credential_lookup::to_quota({is_told, requests, window_seconds});
    if (!own) return std::move(own).error();
    return std::optional{token_credential{user, token, scopes, expires_at, application, last_used_at, *own}};
}

TOLLGATE_DECL result<void> access_tokens::create(const new_access_token& made) {
    auto asked = connections_.make_batch();
    asked.add(
        "INSERT INTO tollgate_access_tokens (token_digest, user_id, application_id, scopes, created_at, expires_at) "
        "VALUES ($1, $2, $3, $4, $5, $6)",
        made.token_digest, made.user, made.application, made.scopes, made.created_at, made.expires_at);
    trim_access_tokens(asked, made.token_digest);
    auto done = connections_.run(asked);
    if (!done) return token_exists(std::move(done).error());
    changes_.forget_key(credentials_.hash_of(made.token_digest));
    if (done->back().touched() > 0) changes_.forget(made.user);
    return {};
}

TOLLGATE_DECL result<bool> access_tokens::revoke(const digest& token) {
    auto done = connections_.change("DELETE FROM tollgate_access_tokens WHERE token_digest = $1", token);
    if (!done) return forget_all_after(std::move(done).error(), changes_);
    changes_.forget_key(credentials_.hash_of(token));
    return done->touched() > 0;
}

TOLLGATE_DECL result<void> access_tokens::record_use(const digest& token, instant now) {
    auto asked = connections_.make_batch();
    wait_for_no_disk(asked);
    // The grant first, as whoever takes a grant's tokens away does.
    asked.add(
        "UPDATE tollgate_grants SET last_used_at = $1 FROM tollgate_access_tokens AS tokens "
        "WHERE tokens.token_digest = $2 AND tollgate_grants.user_id = tokens.user_id "
        "AND tollgate_grants.application_id = tokens.application_id",
        now, token);
    asked.add("UPDATE tollgate_access_tokens SET last_used_at = $1 WHERE token_digest = $2", now, token);
    auto done = connections_.run(asked, repeat::never, connection_wait_of_little_use);
    if (!done) return std::move(done).error();
    changes_.forget_key(credentials_.hash_of(token));  // or it would seem to be unrecorded for as long
    return {};
}

}  // namespace tollgate::postgres

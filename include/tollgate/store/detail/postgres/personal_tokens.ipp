#pragma once

#include <tollgate/store/detail/postgres/access_tokens.hpp>
#include <tollgate/store/detail/postgres/columns.hpp>
#include <tollgate/store/detail/postgres/locks.hpp>
#include <tollgate/store/detail/postgres/personal_tokens.hpp>
#include <tollgate/store/detail/refusals.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tollgate::inline v0::postgres {

TOLLGATE_DECL result<std::optional<token_credential>> personal_tokens::find(std::string_view username) {
    const auto name = token_username::from(username);
    if (!name || !is_keepable(username)) return std::optional<token_credential>{};  // there is none
    return credentials_.find(*name, [&] { return read(*name); });
}

TOLLGATE_DECL lookup<token_credential> personal_tokens::cached(std::string_view username) const noexcept {
    const auto name = token_username::from(username);
    if (!name) return lookup<token_credential>::unknown();
    return credentials_.cached(*name);
}

TOLLGATE_DECL result<std::optional<token_credential>> personal_tokens::read(const token_username& username) {
    auto found = connections_.ask(lookup_.personal(), username);
    if (!found) return std::move(found).error();
    const auto row = found->next<user_id, digest, scope_set, std::optional<instant>, bool, std::optional<std::int64_t>,
                                 std::optional<std::int64_t>>();
    if (!row) return row.error();
    if (!*row) return std::optional<token_credential>{};
    const auto& [user, secret_digest, scopes, last_used_at, is_told, requests, window_seconds] = **row;
    auto own = credential_lookup::to_quota({is_told, requests, window_seconds});
    if (!own) return std::move(own).error();
    return std::optional{token_credential{user, secret_digest, scopes, std::nullopt, std::nullopt, last_used_at, *own}};
}

TOLLGATE_DECL result<token_id> personal_tokens::create(const new_personal_token& made,
                                                        std::size_t tokens_per_user_max) {
    auto asked = connections_.make_batch();
    lock_for_counting(asked, "personal_tokens " + std::to_string(made.user.value()));
    asked.add(
        "INSERT INTO tollgate_personal_tokens (user_id, username, secret_digest, description, scopes, created_at) "
        "SELECT $1, $2, $3, $4, $5, $6 "
        "WHERE $7 > (SELECT count(*) FROM tollgate_personal_tokens WHERE user_id = $1) RETURNING id",
        made.user, made.username, made.secret_digest, made.description, made.scopes, made.created_at,
        tokens_per_user_max);
    auto answered = connections_.run(asked);
    if (!answered) {
        auto why = std::move(answered).error();
        if (why.kind == error_kind::conflict) why.message = "A personal token of this username exists already.";
        return why;
    }
    const auto row = answered->back().next<token_id>();
    if (!row) return row.error();
    if (!*row) return too_many_personal_tokens(tokens_per_user_max);
    changes_.forget_key(credentials_.hash_of(made.username));
    return std::get<0>(**row);
}

TOLLGATE_DECL result<std::vector<personal_token>> personal_tokens::of(user_id user) {
    auto listed = connections_.ask(
        "SELECT id, username, description, scopes, created_at, last_used_at FROM tollgate_personal_tokens "
        "WHERE user_id = $1 ORDER BY id",
        user);
    if (!listed) return std::move(listed).error();
    std::vector<personal_token> found;
    for (;;) {
        auto row = listed->next<token_id, token_username, std::string, scope_set, instant, std::optional<instant>>();
        if (!row) return std::move(row).error();
        if (!*row) return found;
        auto& [id, username, description, scopes, created_at, last_used_at] = **row;
        found.push_back({id, user, username, std::move(description), scopes, created_at, last_used_at});
    }
}

TOLLGATE_DECL result<bool> personal_tokens::revoke(token_id id) {
    auto done = connections_.change("DELETE FROM tollgate_personal_tokens WHERE id = $1 RETURNING user_id", id);
    if (!done) return forget_all_after(std::move(done).error(), changes_);
    const auto row = done->next<user_id>();
    if (!row) return forget_all_after(row.error(), changes_);
    if (!*row) return false;
    changes_.forget(std::get<0>(**row));
    return true;
}

TOLLGATE_DECL result<void> personal_tokens::record_use(std::string_view username, instant now) {
    auto asked = connections_.make_batch();
    wait_for_no_disk(asked);
    asked.add("UPDATE tollgate_personal_tokens SET last_used_at = $1 WHERE username = $2", now, username);
    auto done = connections_.run(asked, repeat::never, connection_wait_of_little_use);
    if (!done) return std::move(done).error();
    // Or it would seem to be unrecorded for as long as it is remembered.
    if (const auto name = token_username::from(username)) changes_.forget_key(credentials_.hash_of(*name));
    return {};
}

}  // namespace tollgate::postgres

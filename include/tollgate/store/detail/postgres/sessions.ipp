#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/postgres/columns.hpp>
#include <tollgate/store/detail/postgres/sessions.hpp>

#include <string>
#include <utility>

namespace tollgate::inline v0::postgres {

TOLLGATE_DECL result<void> sessions::create(const stored_session& made) {
    auto asked = connections_.make_batch();
    asked.add(
        "INSERT INTO tollgate_sessions (cookie_digest, user_id, login, created_at, last_seen_at) "
        "VALUES ($1, $2, $3, $4, $5)",
        made.cookie_digest, made.user, made.login, made.created_at, made.last_seen_at);
    asked.add(
        "DELETE FROM tollgate_sessions WHERE cookie_digest = ANY (ARRAY(SELECT cookie_digest FROM tollgate_sessions "
        "WHERE user_id = $1 AND cookie_digest <> $2 ORDER BY last_seen_at DESC OFFSET $3))",
        made.user, made.cookie_digest, limits::sessions_per_user_max - 1);
    auto done = connections_.run(asked);
    if (!done) {
        auto why = std::move(done).error();
        if (why.kind == error_kind::conflict) why.message = "This session exists already.";
        return why;
    }
    return {};
}

TOLLGATE_DECL result<std::optional<stored_session>> sessions::find(const digest& cookie) {
    auto found = connections_.ask(
        "SELECT user_id, login, created_at, last_seen_at FROM tollgate_sessions WHERE cookie_digest = $1", cookie);
    if (!found) return std::move(found).error();
    auto row = found->next<user_id, std::string, instant, instant>();
    if (!row) return std::move(row).error();
    if (!*row) return std::optional<stored_session>{};
    auto& [user, login, created_at, last_seen_at] = **row;
    return std::optional{stored_session{cookie, user, std::move(login), created_at, last_seen_at}};
}

TOLLGATE_DECL result<void> sessions::touch(const digest& cookie, instant now) {
    auto done =
        connections_.change("UPDATE tollgate_sessions SET last_seen_at = $1 WHERE cookie_digest = $2", now, cookie);
    if (!done) return std::move(done).error();
    return {};
}

TOLLGATE_DECL result<bool> sessions::end(const digest& cookie) {
    auto done = connections_.change("DELETE FROM tollgate_sessions WHERE cookie_digest = $1", cookie);
    if (!done) return std::move(done).error();
    return done->touched() > 0;
}

TOLLGATE_DECL result<void> sessions::end_all_of(user_id user) {
    auto done = connections_.change("DELETE FROM tollgate_sessions WHERE user_id = $1", user);
    if (!done) return std::move(done).error();
    return {};
}

TOLLGATE_DECL result<std::size_t> sessions::sweep(instant created_before, instant seen_before, std::size_t rows_max) {
    if (rows_max == 0) return std::size_t{0};
    // Of nodes that sweep at once each takes other rows.
    auto swept = connections_.change(
        "WITH over AS (DELETE FROM tollgate_sessions WHERE cookie_digest = ANY (ARRAY("
        "SELECT cookie_digest FROM tollgate_sessions WHERE created_at < $1 ORDER BY created_at LIMIT $3 "
        "FOR UPDATE SKIP LOCKED)) RETURNING cookie_digest), "
        "idle AS (DELETE FROM tollgate_sessions WHERE cookie_digest = ANY (ARRAY("
        "SELECT cookie_digest FROM tollgate_sessions WHERE last_seen_at < $2 AND created_at >= $1 ORDER BY "
        "last_seen_at "
        "LIMIT $3 - (SELECT count(*) FROM over) FOR UPDATE SKIP LOCKED)) RETURNING cookie_digest) "
        "SELECT (SELECT count(*) FROM over) + (SELECT count(*) FROM idle)",
        created_before, seen_before, rows_max);
    if (!swept) return std::move(swept).error();
    const auto row = swept->only<std::int64_t>();
    if (!row) return row.error();
    return static_cast<std::size_t>(std::get<0>(*row));
}

}  // namespace tollgate::postgres

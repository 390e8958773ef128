#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/sqlite/columns.hpp>
#include <tollgate/store/detail/sqlite/sessions.hpp>

#include <string>
#include <utility>

namespace tollgate::inline v0::sqlite {

TOLLGATE_DECL result<void> sessions::create(const stored_session& made) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    database& on = **connection;
    auto change = transaction::begin(on);
    if (!change) return std::move(change).error();
    auto done = on.run(
        "INSERT INTO tollgate_sessions (cookie_digest, user, login, created_at, last_seen_at) VALUES (?, ?, ?, ?, ?)",
        made.cookie_digest, made.user, made.login, made.created_at, made.last_seen_at);
    if (!done) {
        if (done.error().kind == error_kind::conflict) done.error().message = "This session exists already.";
        return done;
    }
    done = on.run(
        "DELETE FROM tollgate_sessions WHERE cookie_digest IN "
        "(SELECT cookie_digest FROM tollgate_sessions WHERE user = ?1 AND cookie_digest <> ?2 "
        "ORDER BY last_seen_at DESC LIMIT -1 OFFSET ?3)",
        made.user, made.cookie_digest, limits::sessions_per_user_max - 1);
    if (!done) return done;
    return change->commit();
}

TOLLGATE_DECL result<std::optional<stored_session>> sessions::find(const digest& cookie) {
    auto connection = connections_.reader();
    if (!connection) return std::move(connection).error();
    auto row = (*connection)
                   ->prepare(
                       "SELECT user, login, created_at, last_seen_at FROM tollgate_sessions "
                       "WHERE cookie_digest = ?",
                       cookie)
                   .next<user_id, std::string, instant, instant>();
    if (!row) return std::move(row).error();
    if (!*row) return std::optional<stored_session>{};
    auto& [user, login, created_at, last_seen_at] = **row;
    return std::optional{stored_session{cookie, user, std::move(login), created_at, last_seen_at}};
}

TOLLGATE_DECL result<void> sessions::touch(const digest& cookie, instant now) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    return (*connection)->run("UPDATE tollgate_sessions SET last_seen_at = ? WHERE cookie_digest = ?", now, cookie);
}

TOLLGATE_DECL result<bool> sessions::end(const digest& cookie) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    if (auto done = (*connection)->run("DELETE FROM tollgate_sessions WHERE cookie_digest = ?", cookie); !done)
        return std::move(done).error();
    return (*connection)->changes() > 0;
}

TOLLGATE_DECL result<void> sessions::end_all_of(user_id user) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    return (*connection)->run("DELETE FROM tollgate_sessions WHERE user = ?", user);
}

TOLLGATE_DECL result<std::size_t> sessions::sweep(instant created_before, instant seen_before, std::size_t rows_max) {
    if (rows_max == 0) return std::size_t{0};
    {
        // Asked without the write lock first: often there is nothing.
        auto connection = connections_.reader();
        if (!connection) return std::move(connection).error();
        auto any = (*connection)
                       ->prepare(
                           "SELECT EXISTS (SELECT 1 FROM tollgate_sessions WHERE created_at < ?) "
                           "OR EXISTS (SELECT 1 FROM tollgate_sessions WHERE last_seen_at < ?)",
                           created_before, seen_before)
                       .next<bool>();
        if (!any) return std::move(any).error();
        if (*any && !std::get<0>(**any)) return std::size_t{0};
    }
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    database& on = **connection;
    auto change = transaction::begin(on);
    if (!change) return std::move(change).error();
    if (auto done = on.run("DELETE FROM tollgate_sessions WHERE cookie_digest IN (SELECT cookie_digest "
                           "FROM tollgate_sessions WHERE created_at < ? ORDER BY created_at LIMIT ?)",
                           created_before, rows_max);
        !done)
        return std::move(done).error();
    auto swept = static_cast<std::size_t>(on.changes());
    if (auto done = on.run("DELETE FROM tollgate_sessions WHERE cookie_digest IN (SELECT cookie_digest "
                           "FROM tollgate_sessions WHERE last_seen_at < ? ORDER BY last_seen_at LIMIT ?)",
                           seen_before, rows_max - swept);
        !done)
        return std::move(done).error();
    swept += static_cast<std::size_t>(on.changes());
    if (auto done = change->commit(); !done) return std::move(done).error();
    return swept;
}

}  // namespace tollgate::sqlite

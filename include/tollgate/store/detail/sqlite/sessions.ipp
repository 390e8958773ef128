#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_SESSIONS_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_SESSIONS_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>

#include <variant>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<void> sqlite_store::create_session(const stored_session& session) noexcept {
    return impl_->database.transact([&](sqlite::database& on) -> result<void> {
        // Of a session that exists, nothing is changed: the call is repeated, or a conflict.
        auto done = on.run_counted(
            "INSERT INTO tollgate_sessions (cookie_digest, user, login, created_at, last_seen_at, signed_in_from, user_agent) "
            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (cookie_digest) DO UPDATE SET login = tollgate_sessions.login "
            "WHERE user = ?2 AND created_at = ?4",
            session.cookie_digest, session.user, session.login, session.created_at, session.last_seen_at,
            session.signed_in_from, session.user_agent);
        if (!done) return std::move(done).error();
        if (!*done) return session_exists();
        return on.run(
            "DELETE FROM tollgate_sessions WHERE cookie_digest IN "
            "(SELECT cookie_digest FROM tollgate_sessions WHERE user = ?1 AND cookie_digest <> ?2 "
            "ORDER BY last_seen_at DESC LIMIT -1 OFFSET ?3)",
            session.user, session.cookie_digest, limits::sessions_per_user_max - 1);
    });
}

TOLLGATE_DECL result<std::optional<stored_session>> sqlite_store::find_session(const digest& cookie) noexcept {
    return impl_->read_one(sql::to_session,
                           "SELECT cookie_digest, user, login, created_at, last_seen_at, signed_in_from, user_agent "
                           "FROM tollgate_sessions WHERE cookie_digest = ?",
                           cookie);
}

TOLLGATE_DECL result<void> sqlite_store::touch_session(const digest& cookie, instant now) noexcept {
    return impl_->change("UPDATE tollgate_sessions SET last_seen_at = ? WHERE cookie_digest = ?", now, cookie).transform([](bool) {});
}

TOLLGATE_DECL result<std::vector<stored_session>> sqlite_store::sessions_of(user_id user) noexcept {
    return impl_->read_all(sql::to_session,
                           "SELECT cookie_digest, user, login, created_at, last_seen_at, signed_in_from, user_agent "
                           "FROM tollgate_sessions WHERE user = ? ORDER BY last_seen_at DESC",
                           user);
}

TOLLGATE_DECL result<bool> sqlite_store::end_sessions(const session_selection& ended) noexcept {
    if (const auto* const cookie = std::get_if<digest>(&ended))
        return impl_->change("DELETE FROM tollgate_sessions WHERE cookie_digest = ?", *cookie);
    const auto& of = std::get<sessions_of_user>(ended);
    return impl_->change("DELETE FROM tollgate_sessions WHERE user = ?1 AND cookie_digest IS NOT ?2", of.user, of.except);
}

TOLLGATE_DECL result<std::size_t> sqlite_store::impl::sweep_sessions(const session_ends& ends, std::size_t rows_max) noexcept {
    const auto sweep = [&](sqlite::database& on) -> result<std::size_t> {
        if (auto done = on.run("DELETE FROM tollgate_sessions WHERE cookie_digest IN (SELECT cookie_digest "
                               "FROM tollgate_sessions WHERE created_at < ? ORDER BY created_at LIMIT ?)",
                               ends.created_before, rows_max);
            !done)
            return std::move(done).error();
        const auto too_old = static_cast<std::size_t>(on.changes());
        if (auto done = on.run("DELETE FROM tollgate_sessions WHERE cookie_digest IN (SELECT cookie_digest "
                               "FROM tollgate_sessions WHERE last_seen_at < ? ORDER BY last_seen_at LIMIT ?)",
                               ends.seen_before, rows_max - too_old);
            !done)
            return std::move(done).error();
        return too_old + static_cast<std::size_t>(on.changes());
    };
    return change_if("SELECT EXISTS (SELECT 1 FROM tollgate_sessions WHERE created_at < ?) "
                     "OR EXISTS (SELECT 1 FROM tollgate_sessions WHERE last_seen_at < ?)",
                     sweep, ends.created_before, ends.seen_before);
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_SESSIONS_IPP

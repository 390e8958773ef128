#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_SESSIONS_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_SESSIONS_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/postgres/store_impl.ipp>

#include <variant>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<void> postgres_store::create_session(const stored_session& session) noexcept {
    return impl_->with_batch([&](postgres::batch& batch) -> result<void> {
        // Of a session that exists, nothing is changed: the call is repeated, or a conflict.
        batch.add(
            "INSERT INTO tollgate_sessions (cookie_digest, user_id, login, created_at, last_seen_at, signed_in_from, user_agent) "
            "VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (cookie_digest) DO UPDATE SET login = tollgate_sessions.login "
            "WHERE tollgate_sessions.user_id = $2 AND tollgate_sessions.created_at = $4",
            session.cookie_digest, session.user, session.login, session.created_at, session.last_seen_at,
            session.signed_in_from, session.user_agent);
        batch.add(
            "DELETE FROM tollgate_sessions WHERE cookie_digest = ANY (ARRAY(SELECT cookie_digest FROM tollgate_sessions "
            "WHERE user_id = $1 AND cookie_digest <> $2 ORDER BY last_seen_at DESC OFFSET $3))",
            session.user, session.cookie_digest, limits::sessions_per_user_max - 1);
        auto done = impl_->database.run(batch);
        if (!done) return std::move(done).error();
        if (done->front().affected() == 0) return session_exists();
        return {};
    });
}

TOLLGATE_DECL result<std::optional<stored_session>> postgres_store::find_session(const digest& cookie) noexcept {
    return impl_->read_one(sql::to_session,
                           "SELECT cookie_digest, user_id, login, created_at, last_seen_at, signed_in_from, user_agent "
                           "FROM tollgate_sessions WHERE cookie_digest = $1",
                           cookie);
}

TOLLGATE_DECL result<void> postgres_store::touch_session(const digest& cookie, instant now) noexcept {
    return impl_->change("UPDATE tollgate_sessions SET last_seen_at = $1 WHERE cookie_digest = $2", now, cookie).transform([](bool) {});
}

TOLLGATE_DECL result<std::vector<stored_session>> postgres_store::sessions_of(user_id user) noexcept {
    return impl_->read_all(sql::to_session,
                           "SELECT cookie_digest, user_id, login, created_at, last_seen_at, signed_in_from, user_agent "
                           "FROM tollgate_sessions WHERE user_id = $1 ORDER BY last_seen_at DESC",
                           user);
}

TOLLGATE_DECL result<bool> postgres_store::end_sessions(const session_selection& ended) noexcept {
    if (const auto* const cookie = std::get_if<digest>(&ended))
        return impl_->change("DELETE FROM tollgate_sessions WHERE cookie_digest = $1", *cookie);
    const auto& of = std::get<sessions_of_user>(ended);
    return impl_->change("DELETE FROM tollgate_sessions WHERE user_id = $1 AND cookie_digest IS DISTINCT FROM $2", of.user, of.except);
}

TOLLGATE_DECL result<std::size_t> postgres_store::impl::sweep_sessions(const session_ends& ends, std::size_t rows_max) noexcept {
    return detail::without_exceptions([&]() -> result<std::size_t> {
        // Nodes that sweep at the same time take different rows.
        auto swept = database.execute(
            "WITH over AS (DELETE FROM tollgate_sessions WHERE cookie_digest = ANY (ARRAY("
            "SELECT cookie_digest FROM tollgate_sessions WHERE created_at < $1 ORDER BY created_at LIMIT $3 "
            "FOR UPDATE SKIP LOCKED)) RETURNING cookie_digest), "
            "idle AS (DELETE FROM tollgate_sessions WHERE cookie_digest = ANY (ARRAY("
            "SELECT cookie_digest FROM tollgate_sessions WHERE last_seen_at < $2 AND created_at >= $1 ORDER BY "
            "last_seen_at "
            "LIMIT $3 - (SELECT count(*) FROM over) FOR UPDATE SKIP LOCKED)) RETURNING cookie_digest) "
            "SELECT (SELECT count(*) FROM over) + (SELECT count(*) FROM idle)",
            ends.created_before, ends.seen_before, rows_max);
        if (!swept) return std::move(swept).error();
        return postgres::read_count(*swept);
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_SESSIONS_IPP

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_SESSIONS_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_SESSIONS_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/sql/sweeps.hpp>
#include <tollgate/store/detail/postgres/store_impl.ipp>

#include <variant>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<void> postgres_store::create_session(const stored_session& session) noexcept {
    return impl_->with_batch([&](postgres::batch& batch) -> result<void> {
        // Of a session that exists, nothing is changed: the call is repeated, or a conflict.
        batch.add(
            sql::statements::insert_session,
            session.cookie_digest, session.user, session.login, session.created_at, session.last_seen_at,
            session.signed_in_from, session.user_agent);
        batch.add(
            sql::statements::trim_sessions, session.user, session.cookie_digest, limits::sessions_per_user_max - 1);
        auto done = impl_->database.run(batch);
        if (!done) return std::move(done).error();
        if (done->front().affected() == 0) return session_exists();
        return {};
    });
}

TOLLGATE_DECL result<std::optional<stored_session>> postgres_store::find_session(const digest& cookie) noexcept {
    return impl_->read_one(sql::to_session,
                           sql::statements::find_session,
                           cookie);
}

TOLLGATE_DECL result<void> postgres_store::touch_session(const digest& cookie, instant now) noexcept {
    return impl_->change(sql::statements::touch_session, now, cookie).transform([](bool) {});
}

TOLLGATE_DECL result<std::vector<stored_session>> postgres_store::sessions_of(user_id user) noexcept {
    return impl_->read_all(sql::to_session,
                           sql::statements::list_sessions,
                           user);
}

TOLLGATE_DECL result<bool> postgres_store::end_sessions(const session_selection& ended) noexcept {
    if (const auto* const cookie = std::get_if<digest>(&ended))
        return impl_->change(sql::statements::end_session, *cookie);
    const auto& of = std::get<sessions_of_user>(ended);
    return impl_->change(sql::statements::end_sessions_of_user, of.user, of.except);
}

TOLLGATE_DECL result<std::size_t> postgres_store::impl::sweep_sessions(const session_ends& ends, std::size_t rows_max) noexcept {
    // Nodes that sweep at the same time take different rows.
    return sql::sweep_sessions(ends, rows_max, [this](auto... statement) { return remove(statement...); });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_SESSIONS_IPP

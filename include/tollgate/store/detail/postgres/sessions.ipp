#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_SESSIONS_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_SESSIONS_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/sql/sweeps.hpp>
#include <tollgate/store/detail/postgres/store_impl.ipp>

#include <variant>

namespace tollgate::inline v0::postgres_detail {

/// Verbs of `session_store`.
struct session_verbs : verbs {
    using verbs::verbs;

    result<void> create_session(const stored_session& session) noexcept {
        return impl_->with_batch([&](postgres::batch& batch) -> result<void> {
            // Of a session that exists, nothing is changed: the call is repeated, or a conflict.
            batch.add(sql::statements::insert_session, session.cookie_digest, session.user, session.login, session.created_at,
                      session.last_seen_at, session.signed_in_from, session.user_agent);
            batch.add(sql::statements::trim_sessions, session.user, session.cookie_digest, limits::sessions_per_user_max - 1);
            auto done = impl_->database.run(batch);
            if (!done) return std::move(done).error();
            if (done->front().affected() == 0) return session_exists();
            return {};
        });
    }

    result<std::size_t> sweep_sessions(const session_ends& ends, std::size_t rows_max) noexcept {
        // Nodes that sweep at the same time take different rows.
        return sql::sweep_sessions(ends, rows_max, [this](auto... statement) { return impl_->remove(statement...); });
    }
};

}  // namespace tollgate::postgres_detail

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_SESSIONS_IPP

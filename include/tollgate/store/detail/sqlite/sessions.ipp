#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_SESSIONS_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_SESSIONS_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/sql/sweeps.hpp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>

#include <variant>

namespace tollgate::inline v0::sqlite_detail {

/// Verbs of `session_store`.
struct session_verbs : verbs {
    using verbs::verbs;

    result<void> create_session(const stored_session& session) noexcept {
        return impl_->database.transact([&](sqlite::database& on) -> result<void> {
            // Of a session that exists, nothing is changed: the call is repeated, or a conflict.
            auto done = on.run_counted(sql::statements::insert_session, session.cookie_digest, session.user, session.login,
                                       session.created_at, session.last_seen_at, session.signed_in_from, session.user_agent);
            if (!done) return std::move(done).error();
            if (!*done) return session_exists();
            return on.run(sql::statements::trim_sessions, session.user, session.cookie_digest, limits::sessions_per_user_max - 1);
        });
    }

    result<std::size_t> sweep_sessions(const session_ends& ends, std::size_t rows_max) noexcept {
        const auto sweep = [&](sqlite::database& on) -> result<std::size_t> {
            return sql::sweep_sessions(ends, rows_max, [&](auto... statement) { return on.remove(statement...); });
        };
        return impl_->change_if("SELECT EXISTS (SELECT 1 FROM tollgate_sessions WHERE created_at < ?) "
                         "OR EXISTS (SELECT 1 FROM tollgate_sessions WHERE last_seen_at < ?)",
                         sweep, ends.created_before, ends.seen_before);
    }
};

}  // namespace tollgate::sqlite_detail

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_SESSIONS_IPP

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_SESSIONS_IPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_SESSIONS_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/key_value/records.hpp>
#include <tollgate/store/detail/key_value/rows.hpp>
#include <tollgate/store/detail/key_value/sessions.hpp>
#include <tollgate/store/key_value.hpp>

#include <algorithm>
#include <utility>
#include <variant>

namespace tollgate::inline v0 {

namespace key_value_detail {

inline void write_session(rows& all, const digest& cookie, const session_record& session) {
    all.put(session_key(cookie), session);
    all.put(key{table::sessions_of_user}.id(session.user).at(session.last_seen_at).bytes(cookie), "");
    all.put(key{table::sessions_by_creation}.at(session.created_at).bytes(cookie), "");
    all.put(key{table::sessions_by_use}.at(session.last_seen_at).bytes(cookie), "");
}

[[nodiscard]] inline stored_session describe(const digest& cookie, session_record&& session) {
    return {cookie, session.user, std::move(session.login), session.created_at, session.last_seen_at, std::move(session.signed_in_from),
            std::move(session.user_agent)};
}

}  // namespace key_value_detail

TOLLGATE_DECL result<void> record_store::create_session(const stored_session& session) noexcept {
    using namespace key_value_detail;
    return change(database_, [&](rows& all) -> result<void> {
        if (const auto existing = all.get<session_record>(session_key(session.cookie_digest))) {
            if (existing->user == session.user && existing->created_at == session.created_at) return {};  // the call is repeated
            return session_exists();
        }
        const auto siblings = all.digests(key{table::sessions_of_user}.id(session.user));
        if (siblings.size() >= limits::sessions_per_user_max) forget_session(all, siblings.front());
        if (auto claimed = claim_row(all, bounded_sessions); !claimed) return claimed;
        write_session(all, session.cookie_digest,
                      {session.user, session.login, session.signed_in_from, session.user_agent, session.created_at, session.last_seen_at});
        return {};
    });
}

TOLLGATE_DECL result<std::optional<stored_session>> record_store::find_session(const digest& cookie) noexcept {
    using namespace key_value_detail;
    return read(database_, [&](rows& all) {
        auto found = all.get<session_record>(session_key(cookie));
        return found ? std::optional{describe(cookie, *std::move(found))} : std::nullopt;
    });
}

TOLLGATE_DECL result<void> record_store::touch_session(const digest& cookie, instant now) noexcept {
    using namespace key_value_detail;
    return change(database_, [&](rows& all) {
        auto session = forget_session(all, cookie);
        if (!session) return;
        session->last_seen_at = now;
        count_row(all, bounded_sessions, {}, 1);  // it is written again
        write_session(all, cookie, *session);
    });
}

TOLLGATE_DECL result<bool> record_store::end_sessions(const session_selection& ended) noexcept {
    using namespace key_value_detail;
    return change(database_, [&](rows& all) {
        if (const auto* const cookie = std::get_if<digest>(&ended)) return forget_session(all, *cookie).has_value();
        const auto& selected = std::get<tollgate::sessions_of_user>(ended);
        bool has_ended = false;
        for (const digest& each : all.digests(key{table::sessions_of_user}.id(selected.user)))
            if (each != selected.except) has_ended = forget_session(all, each).has_value() || has_ended;
        return has_ended;
    });
}

TOLLGATE_DECL result<std::vector<stored_session>> record_store::sessions_of(user_id user) noexcept {
    using namespace key_value_detail;
    return read(database_, [&](rows& all) {
        std::vector<stored_session> found;
        for (const digest& each : all.digests(key{table::sessions_of_user}.id(user)))
            found.push_back(describe(each, all.existing<session_record>(session_key(each))));
        std::reverse(found.begin(), found.end());  // the last used first
        return found;
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_SESSIONS_IPP

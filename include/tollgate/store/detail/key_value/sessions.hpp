#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_SESSIONS_HPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_SESSIONS_HPP

#include <tollgate/model/sweep.hpp>
#include <tollgate/store/detail/key_value/bounds.hpp>
#include <tollgate/store/detail/key_value/records.hpp>
#include <tollgate/store/detail/key_value/rows.hpp>

#include <cstddef>
#include <optional>
#include <utility>

namespace tollgate::inline v0::key_value_detail {

[[nodiscard]] inline key session_key(const digest& cookie) noexcept { return key{table::sessions}.bytes(cookie); }

inline std::optional<session_record> forget_session(rows& all, const digest& cookie) {
    auto session = all.get<session_record>(session_key(cookie));
    if (!session) return session;
    all.erase(session_key(cookie));
    all.erase(key{table::sessions_of_user}.id(session->user).at(session->last_seen_at).bytes(cookie));
    all.erase(key{table::sessions_by_creation}.at(session->created_at).bytes(cookie));
    all.erase(key{table::sessions_by_use}.at(session->last_seen_at).bytes(cookie));
    release_row(all, bounded_sessions);
    return session;
}

inline std::size_t sweep_sessions(rows& all, const session_ends& ends, std::size_t rows_max) {
    std::size_t swept = 0;
    for (const auto& [listed, before] :
         {std::pair{table::sessions_by_creation, ends.created_before}, std::pair{table::sessions_by_use, ends.seen_before}})
        for (const digest& each : all.digests(key{listed}, key{listed}.at(before), rows_max - swept)) {
            forget_session(all, each);
            ++swept;
        }
    return swept;
}

}  // namespace tollgate::key_value_detail

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_SESSIONS_HPP

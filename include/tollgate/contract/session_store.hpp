#pragma once

#include <tollgate/base/result.hpp>
#include <tollgate/model/detail/session.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <vector>

namespace tollgate::inline v0 {

/// Stores sessions. Only `cookie_sessions` needs it.
///
/// Thread rule: callable from many threads at once. Blocking: allowed if the store declares
/// `static constexpr bool blocking = true`. Errors: an `error`; never throws.
///
/// One user cannot fill a store by signing in repeatedly: beyond `limits::sessions_per_user_max` sessions of one user,
/// a store may delete the least recently used; the stores of this library do.
///
/// Exemplars: `memory_store`, `sqlite_store`, `postgres_store`. An adapter is correct if it passes `tollgate/testing/store_suite.hpp`.
template <class S>
concept session_store = requires(S& s, const stored_session& made, const digest& cookie, const std::optional<digest>& kept,
                                 user_id user, instant now, instant created_before, instant seen_before, std::size_t rows_max) {
    // error_kind::conflict if the digest exists.
    { s.create_session(made) } -> std::same_as<result<void>>;
    // Empty if there is none.
    { s.find_session(cookie) } -> std::same_as<result<std::optional<stored_session>>>;
    // Records that the session was used now. Not an error if it does not exist.
    { s.touch_session(cookie, now) } -> std::same_as<result<void>>;
    // Whether there was one. It is invalid as soon as this returns.
    { s.end_session(cookie) } -> std::same_as<result<bool>>;
    // The user's sessions, the last used first; none if there is no such user. Those that are over are listed until a sweep.
    { s.sessions_of(user) } -> std::same_as<result<std::vector<stored_session>>>;
    // Ends all sessions of one user but `kept`, for instance after a password change.
    { s.end_sessions_of(user, kept) } -> std::same_as<result<void>>;
    // Deletes sessions created before `created_before` or last used before `seen_before`, at most `rows_max`; returns
    // how many.
    { s.sweep_sessions(created_before, seen_before, rows_max) } -> std::same_as<result<std::size_t>>;
};

}  // namespace tollgate

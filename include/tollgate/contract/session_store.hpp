#pragma once

#include <tollgate/base/result.hpp>
#include <tollgate/model/detail/session.hpp>

#include <concepts>
#include <cstddef>
#include <optional>

namespace tollgate::inline v0 {

/// Keeps who is signed in. Only `cookie_sessions` needs one; an integrator with sessions of their own has none.
///
/// Thread rule: callable from many threads at once. Blocking: allowed if the store declares
/// `static constexpr bool blocking = true`. Errors: an `error`; nothing is thrown.
///
/// One person who signs in again and again cannot fill a store: of more than `limits::sessions_per_user_max` sessions of one
/// user, the one unused for the longest time may go, and in ours does.
///
/// Exemplar: `memory_store`, `sqlite_store`. An adapter of one's own is right when it passes
/// `tollgate/testing/store_suite.hpp`.
template <class S>
concept session_store = requires(S& s, const stored_session& made, const digest& cookie, user_id user, instant now,
                                 instant created_before, instant seen_before, std::size_t rows_max) {
    // error_kind::conflict when the digest is there already.
    { s.create_session(made) } -> std::same_as<result<void>>;
    // As it stands; none when there is none.
    { s.find_session(cookie) } -> std::same_as<result<std::optional<stored_session>>>;
    // Says that the session was used now. No problem when it is gone.
    { s.touch_session(cookie, now) } -> std::same_as<result<void>>;
    // Whether there was one; it lets nobody in from the moment this returns.
    { s.end_session(cookie) } -> std::same_as<result<bool>>;
    // All of one user's: for a new password.
    { s.end_sessions_of(user) } -> std::same_as<result<void>>;
    // Forgets sessions that began before one moment or were last used before another, at most `rows_max`; how many.
    { s.sweep_sessions(created_before, seen_before, rows_max) } -> std::same_as<result<std::size_t>>;
};

}  // namespace tollgate

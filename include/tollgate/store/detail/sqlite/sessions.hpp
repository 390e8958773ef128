#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/session.hpp>
#include <tollgate/store/detail/sqlite/pool.hpp>

#include <cstddef>
#include <optional>

namespace tollgate::inline v0::sqlite {

/// The verbs of `session_store`, on SQLite.
class sessions {
public:
    explicit sessions(pool& connections) : connections_{connections} {}

    TOLLGATE_DECL result<void> create(const stored_session& made);
    TOLLGATE_DECL result<std::optional<stored_session>> find(const digest& cookie);
    TOLLGATE_DECL result<void> touch(const digest& cookie, instant now);
    TOLLGATE_DECL result<bool> end(const digest& cookie);
    TOLLGATE_DECL result<void> end_all_of(user_id user);
    TOLLGATE_DECL result<std::size_t> sweep(instant created_before, instant seen_before, std::size_t rows_max);

private:
    pool& connections_;
};

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/sessions.ipp>
#endif

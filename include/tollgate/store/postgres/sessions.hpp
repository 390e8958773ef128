#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/outcome.hpp>
#include <tollgate/domain/session.hpp>
#include <tollgate/store/postgres/pool.hpp>

#include <cstddef>
#include <optional>

namespace tollgate::postgres {

/// The verbs of `session_store`, on PostgreSQL. Each is one round trip.
class sessions {
public:
    explicit sessions(pool& connections) : connections_{connections} {}

    TOLLGATE_DECL outcome<void> create(const stored_session& made);
    TOLLGATE_DECL outcome<std::optional<stored_session>> find(const digest& cookie);
    TOLLGATE_DECL outcome<void> touch(const digest& cookie, instant now);
    TOLLGATE_DECL outcome<bool> end(const digest& cookie);
    TOLLGATE_DECL outcome<void> end_all_of(user_id user);
    TOLLGATE_DECL outcome<std::size_t> sweep(instant created_before, instant seen_before, std::size_t rows_max);

private:
    pool& connections_;
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/postgres/sessions.ipp>
#endif

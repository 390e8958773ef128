#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/outcome.hpp>
#include <tollgate/domain/session.hpp>
#include <tollgate/store/memory/dated_digest.hpp>

#include <cstddef>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace tollgate::memory {

/// The verbs of `session_store`, in memory.
class sessions {
public:
    explicit sessions(std::size_t sessions_max) : sessions_max_{sessions_max} {}

    TOLLGATE_DECL outcome<void> create(const stored_session& made);
    [[nodiscard]] TOLLGATE_DECL outcome<std::optional<stored_session>> find(const digest& cookie) const;
    TOLLGATE_DECL outcome<void> touch(const digest& cookie, instant now);
    TOLLGATE_DECL outcome<bool> end(const digest& cookie);
    TOLLGATE_DECL outcome<void> end_all_of(user_id user);
    TOLLGATE_DECL outcome<std::size_t> sweep(instant created_before, instant seen_before, std::size_t rows_max);

private:
    TOLLGATE_DECL void remove(const digest& cookie) noexcept;

    const std::size_t sessions_max_;

    mutable std::mutex mutex_;
    std::unordered_map<digest, stored_session> rows_;
    digests_by_time by_creation_;
    digests_by_time by_last_sight_;
    std::unordered_map<user_id, digests_by_time> of_user_;  // by when they were last seen
};

}  // namespace tollgate::memory

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/memory/sessions.ipp>
#endif

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_SESSIONS_HPP
#define TOLLGATE_STORE_DETAIL_MEMORY_SESSIONS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/session.hpp>
#include <tollgate/model/sweep.hpp>
#include <tollgate/store/detail/memory/dated_digest.hpp>

#include <cstddef>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tollgate::inline v0::memory {

/// The verbs of `session_store`, in memory.
class sessions {
public:
    explicit sessions(std::size_t sessions_max) : sessions_max_{sessions_max} {}

    TOLLGATE_DECL result<void> create(const stored_session& session);
    [[nodiscard]] TOLLGATE_DECL std::optional<stored_session> find(const digest& cookie) const;
    TOLLGATE_DECL void touch(const digest& cookie, instant now);
    TOLLGATE_DECL bool end(const session_selection& ended);
    [[nodiscard]] TOLLGATE_DECL std::vector<stored_session> of(user_id user) const;
    TOLLGATE_DECL std::size_t sweep(const session_ends& ends, std::size_t rows_max);

private:
    TOLLGATE_DECL void remove(digest cookie) noexcept;

    const std::size_t sessions_max_;

    mutable std::mutex mutex_;
    std::unordered_map<digest, stored_session> rows_;
    digests_by_time by_creation_;
    digests_by_time by_last_seen_;
    std::unordered_map<user_id, digests_by_time> of_user_;  // ordered by the time of the last use
};

}  // namespace tollgate::memory

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/memory/sessions.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_SESSIONS_HPP

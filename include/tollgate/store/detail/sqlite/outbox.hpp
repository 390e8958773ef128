#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/store/sqlite_database.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace tollgate::inline v0::sqlite {

/// The verbs of `outbox` that a worker calls: due hooks, leases and results.
class outbox {
public:
    explicit outbox(sqlite_database& connections) : connections_{connections} {}

    TOLLGATE_DECL result<std::size_t> append(const event& happened, const message_seed& seed, instant now);
    [[nodiscard]] TOLLGATE_DECL result<due_hook_page> list_due_hooks(instant now, std::size_t rows_max);
    TOLLGATE_DECL result<std::vector<due_delivery>> lease(std::span<const lease_request> requests, const lease_time& time);
    TOLLGATE_DECL result<std::vector<completion>> complete(std::span<const attempt_result> ended, instant now);

    /// For `changes_seen` of the store.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::uint64_t> changes_seen() const noexcept;

private:
    sqlite_database& connections_;
    /// Per hook, deliveries that ended since its history was last trimmed. Guarded by the connection that writes.
    std::unordered_map<hook_id, unsigned> ended_;
};

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/outbox.ipp>
#endif

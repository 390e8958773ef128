#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/hook.hpp>
#include <tollgate/store/postgres_database.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tollgate::inline v0::postgres {

/// Deliveries that one transaction changes or removes besides its own work; tens of milliseconds
inline constexpr std::size_t backlog_rows_max = 1000;

/// Removes deliveries with their attempts, and events without deliveries. Two round trips each; nodes that remove at
/// the same time take different rows. Returns how many deliveries were removed.
class removal {
public:
    explicit removal(postgres_database& connections) : connections_{connections} {}

    /// Delivered, given up or held before `then`, oldest first.
    TOLLGATE_DECL result<std::size_t> ended_before(instant then, std::size_t rows_max);
    /// Delivered or given up by a hook, beyond the newest `rows_kept`.
    TOLLGATE_DECL result<std::size_t> ended_beyond(hook_id hook, std::size_t rows_kept, std::size_t rows_max);
    /// Deliveries of this hook or, without one, of any deleted hook, whose row is removed with its last delivery.
    TOLLGATE_DECL result<std::size_t> of_deleted(std::optional<hook_id> which, std::size_t rows_max);

private:
    /// `listing` begins a transaction; its last statement lists the deliveries and their events.
    TOLLGATE_DECL result<std::size_t> remove(const batch& listing, bool of_deleted);
    TOLLGATE_DECL result<std::size_t> remove_once(const batch& listing, bool of_deleted, bool& may_be_tried_again);

    postgres_database& connections_;
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/removal.ipp>
#endif

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_REMOVE_DELIVERIES_HPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_REMOVE_DELIVERIES_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/hook.hpp>
#include <tollgate/store/detail/postgres/batch.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tollgate::inline v0 {

class postgres_database;

namespace postgres {

/// Deliveries that one transaction changes besides its own work: tens of milliseconds.
inline constexpr std::size_t changed_rows_max = 1000;
/// Deliveries that one transaction removes: with `limits::attempts_per_delivery_max` attempts each, some tenths of a second.
inline constexpr std::size_t removed_rows_max = 100;

// These remove deliveries with their attempts, and events without deliveries, in transactions of two round trips; nodes that remove
// at the same time take different rows. Each returns how many deliveries it removed. What was removed before an error stays removed.

/// Removes deliveries that were delivered, given up or held before `then`, oldest first.
TOLLGATE_DECL result<std::size_t> remove_ended_before(postgres_database& on, instant then, std::size_t rows_max);

/// Removes delivered and given up deliveries of a hook beyond the newest `rows_kept`.
TOLLGATE_DECL result<std::size_t> remove_ended_beyond(postgres_database& on, hook_id hook, std::size_t rows_kept, std::size_t rows_max);

/// Removes deliveries of this hook or, without one, of any deleted hook, whose row is removed with its last delivery.
TOLLGATE_DECL result<std::size_t> remove_deliveries_of_deleted(postgres_database& on, std::optional<hook_id> which, std::size_t rows_max);

/// Adds the statements that remove a deleted hook without deliveries, and its host if no other hook has it. The last one returns a row
/// if it did. Without `which`, the hook is that of the transaction's setting `tollgate.deleted_hook`.
TOLLGATE_DECL void add_removal_of_deleted_hook(batch& to, std::optional<hook_id> which);

}  // namespace postgres

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/remove_deliveries.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_REMOVE_DELIVERIES_HPP

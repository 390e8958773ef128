#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_REMOVE_DELIVERIES_HPP
#define TOLLGATE_STORE_DETAIL_SQLITE_REMOVE_DELIVERIES_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/hook.hpp>
#include <tollgate/store/detail/sqlite/database.hpp>

#include <cstddef>

namespace tollgate::inline v0::sqlite {

/// Deliveries that one transaction changes besides its own work: milliseconds, during which no other one writes.
inline constexpr std::size_t changed_rows_max = 1000;
/// Deliveries that one transaction removes, with their attempts.
inline constexpr std::size_t removed_rows_max = 1000;

// These remove deliveries with their attempts, and events without deliveries, within the caller's transaction.

/// Removes a deleted hook's leased deliveries, so that others can use the leases.
TOLLGATE_DECL result<void> remove_leased_deliveries(database& on, hook_id deleted);

/// Removes deliveries of deleted hooks, and the rows of deleted hooks without deliveries. Returns how many deliveries.
///
/// Until then the row of a deleted hook has an empty service name, so that no verb finds it by its account.
TOLLGATE_DECL result<std::size_t> remove_deliveries_of_deleted(database& on, std::size_t rows_max);

/// Removes deliveries that ended before `then`, oldest first; returns how many.
TOLLGATE_DECL result<std::size_t> remove_ended_before(database& on, instant then, std::size_t rows_max);

/// Removes ended deliveries of a hook beyond the newest `rows_kept`.
TOLLGATE_DECL result<void> remove_ended_beyond(database& on, hook_id hook, std::size_t rows_kept, std::size_t rows_max);

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/remove_deliveries.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_REMOVE_DELIVERIES_HPP

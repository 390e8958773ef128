#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/hook.hpp>
#include <tollgate/store/detail/sqlite/database.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tollgate::inline v0::sqlite {

/// How many deliveries one transaction removes: a few ms, which others wait for.
inline constexpr std::size_t removed_at_once_max = 1000;

/// A delivery, its attempts, and its event if it was the last that had it. Within the caller's transaction, as are those
/// below.
TOLLGATE_DECL result<void> remove_delivery(database& on, delivery_id id, std::int64_t event);

/// Those that a deleted hook of the host has under way, so that others get their leases.
TOLLGATE_DECL result<void> remove_leased_deliveries(database& on, hook_id deleted, const std::string& host);

/// Deliveries of hooks that were deleted, and the rows of hooks that have none left. How many deliveries.
///
/// A deleted hook's row is no service's (the empty name) until then, so that no verb finds it by its account.
TOLLGATE_DECL result<std::size_t> remove_deliveries_of_deleted(database& on, std::size_t rows_max);

/// Those that ended before then, the first to end first; how many.
TOLLGATE_DECL result<std::size_t> remove_ended_before(database& on, instant then, std::size_t rows_max);

/// What a hook has that ended, beyond what is kept of it.
TOLLGATE_DECL result<void> remove_ended_beyond(database& on, hook_id of, std::size_t kept, std::size_t rows_max);

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/remove_deliveries.ipp>
#endif

#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/store/postgres_database.hpp>

#include <cstddef>

namespace tollgate::inline v0::postgres {

/// Continues what a verb on a hook has left: removes a deleted hook's deliveries, holds a disabled one's, or makes the
/// held ones of an enabled hook due. One hook and at most `backlog_rows_max` deliveries per call; returns how many it
/// removed.
[[nodiscard]] TOLLGATE_DECL result<std::size_t> work_on_backlog(postgres_database& on, std::size_t removed_max, instant now);

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/backlog.ipp>
#endif

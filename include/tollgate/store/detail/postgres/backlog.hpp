#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/store/postgres_database.hpp>

#include <cstddef>

namespace tollgate::inline v0::postgres {

/// Goes on with what a hook's verb began and left: to remove a deleted one's deliveries, to hold a disabled one's, to
/// make due what was held for one that was enabled. One hook, and at most `backlog_rows_max` deliveries; how many it
/// removed.
[[nodiscard]] TOLLGATE_DECL result<std::size_t> work_on_backlog(postgres_database& on, std::size_t removed_max, instant now);

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/backlog.ipp>
#endif

#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/store/detail/sqlite/database.hpp>

#include <cstddef>

namespace tollgate::inline v0::sqlite {

/// Whether an event goes to any hook; when not, there is nothing to write.
[[nodiscard]] TOLLGATE_DECL result<bool> has_listeners(database& on, const event& happened);

/// What `append_event` of `event_sink` does, within the caller's transaction. A problem leaves some of it done: the
/// caller rolls back.
[[nodiscard]] TOLLGATE_DECL result<std::size_t> append_event(database& on, const event& happened,
                                                              const message_seed& seed, instant now);

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/append_event.ipp>
#endif

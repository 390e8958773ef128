#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/store/detail/sqlite/database.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tollgate::inline v0::sqlite {

/// Whether any hook subscribes to the event; if not, there is nothing to write.
[[nodiscard]] TOLLGATE_DECL result<bool> has_listeners(database& on, const event& reported);

/// Makes a hook listed as due from `ready_at` at the latest. Within the caller's transaction.
[[nodiscard]] TOLLGATE_DECL result<void> queue_no_later_than(database& on, hook_id which, instant ready_at);

/// A hook that an event is delivered to.
struct listening_hook {
    hook_id hook;
    std::string host;
};

/// One delivery of the event for each of these hooks. Within the caller's transaction.
[[nodiscard]] TOLLGATE_DECL result<void> append_event_to(database& on, const std::vector<listening_hook>& listening,
                                                         const event& reported, const message_seed& seed, instant now);

/// `append_event` of `event_sink`, within the caller's transaction. After an error the caller rolls back.
[[nodiscard]] TOLLGATE_DECL result<std::size_t> append_event(database& on, const event& reported,
                                                              const message_seed& seed, instant now);

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/append_event.ipp>
#endif

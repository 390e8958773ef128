#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_APPEND_EVENT_HPP
#define TOLLGATE_STORE_DETAIL_SQLITE_APPEND_EVENT_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/store/detail/sqlite/database.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace tollgate::inline v0::sqlite {

/// Returns true if a hook is disabled, or an empty optional if the account has no such hook.
[[nodiscard]] TOLLGATE_DECL result<std::optional<bool>> is_hook_disabled(database& on, const account_ref& account, hook_id hook);

/// Makes a hook listed as due from `ready_at` at the latest. Within the caller's transaction.
[[nodiscard]] TOLLGATE_DECL result<void> queue_no_later_than(database& on, hook_id which, instant ready_at);

/// Adds a delivery of the event for each of these hooks, within the caller's transaction.
[[nodiscard]] TOLLGATE_DECL result<void> append_event_to(database& on, const std::vector<hook_id>& listening,
                                                         const event& reported, const message_seed& seed, instant now);

/// `append_event` of `event_sink`, within the caller's transaction. After an error the caller rolls back.
[[nodiscard]] TOLLGATE_DECL result<std::size_t> append_event(database& on, const event& reported, const message_seed& seed, instant now);

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/append_event.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_APPEND_EVENT_HPP

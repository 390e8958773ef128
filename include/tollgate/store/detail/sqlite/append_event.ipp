#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_APPEND_EVENT_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_APPEND_EVENT_IPP

#include <tollgate/store/detail/sql/delivery_columns.hpp>
#include <tollgate/store/detail/sqlite/append_event.hpp>
#include <tollgate/store/detail/sqlite/statement.hpp>

#include <utility>
#include <vector>

namespace tollgate::inline v0::sqlite {

TOLLGATE_DECL result<std::optional<bool>> is_hook_disabled(database& on, const account_ref& account, hook_id hook) {
    return sql::read_value<bool>(
        on.prepare("SELECT disabled_at IS NOT NULL FROM tollgate_hooks WHERE id = ? AND service = ? AND account_id = ?", hook,
                   account.service, account.account));
}

TOLLGATE_DECL result<void> queue_no_later_than(database& on, hook_id which, instant ready_at) {
    return on.run("UPDATE tollgate_hooks SET ready_at = ?2 WHERE id = ?1 AND account_id <> 0 "
                  "AND (ready_at IS NULL OR ready_at > ?2)",
                  which, ready_at);
}

TOLLGATE_DECL result<std::size_t> append_event(database& on, const event& reported, const message_seed& seed, instant now) {
    const auto listening = sql::read_all(
        on.prepare("SELECT id FROM tollgate_hooks WHERE service = ? AND account_id = ? AND event = ? "
                   "AND disabled_at IS NULL ORDER BY id",
                   reported.account.service, reported.account.account, reported.name),
        [](hook_id id) { return id; });
    if (!listening) return listening.error();
    if (listening->empty()) return std::size_t{0};
    return append_event_to(on, *listening, reported, seed, now).transform([&] { return listening->size(); });
}

TOLLGATE_DECL result<void> append_event_to(database& on, const std::vector<hook_id>& listening, const event& reported,
                                           const message_seed& seed, instant now) {
    if (auto done =
            on.run("INSERT INTO tollgate_events (service, account_id, name, data, happened_at, seed) VALUES (?, ?, ?, ?, ?, ?)",
                   reported.account.service, reported.account.account, reported.name, reported.data, reported.at, seed);
        !done)
        return std::move(done).error();
    const std::int64_t stored = on.last_insert_id();
    for (const hook_id each : listening) {
        // `lease` sets the host: the hook's target may change until then.
        if (auto done = on.run("INSERT INTO tollgate_deliveries (hook_id, event_id, host, created_at, at) VALUES (?1, ?2, '', ?3, ?3)",
                               each, stored, now);
            !done)
            return std::move(done).error();
        if (auto done = queue_no_later_than(on, each, now); !done) return std::move(done).error();
    }
    return {};
}

}  // namespace tollgate::sqlite

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_APPEND_EVENT_IPP

#pragma once

#include <tollgate/store/detail/sqlite/append_event.hpp>
#include <tollgate/store/detail/sqlite/statement.hpp>

#include <string>
#include <utility>
#include <vector>

namespace tollgate::inline v0::sqlite {

TOLLGATE_DECL result<bool> has_listeners(database& on, const event& reported) {
    auto row = on.prepare(
                     "SELECT EXISTS (SELECT 1 FROM tollgate_hooks WHERE service = ? AND account = ? AND event = ? "
                     "AND disabled_at IS NULL)",
                     reported.account.service, reported.account.account, reported.name)
                   .next<bool>();
    if (!row) return std::move(row).error();
    return std::get<0>(row->value());
}

TOLLGATE_DECL result<void> queue_no_later_than(database& on, hook_id which, instant ready_at) {
    return on.run("UPDATE tollgate_hooks SET ready_at = ?2 WHERE id = ?1 AND service <> '' "
                  "AND (ready_at IS NULL OR ready_at > ?2)",
                  which, ready_at);
}

TOLLGATE_DECL result<std::size_t> append_event(database& on, const event& reported, const message_seed& seed,
                                                instant now) {
    const auto listening = sql::read_all<hook_id, std::string>(
        on.prepare("SELECT id, target_url FROM tollgate_hooks WHERE service = ? AND account = ? AND event = ? "
                   "AND disabled_at IS NULL ORDER BY id",
                   reported.account.service, reported.account.account, reported.name),
        [](hook_id id, const std::string& target_url) { return listening_hook{id, delivery_host(target_url)}; });
    if (!listening) return listening.error();
    if (listening->empty()) return std::size_t{0};
    if (auto done = append_event_to(on, *listening, reported, seed, now); !done) return std::move(done).error();
    return listening->size();
}

TOLLGATE_DECL result<void> append_event_to(database& on, const std::vector<listening_hook>& listening, const event& reported,
                                           const message_seed& seed, instant now) {
    if (auto done =
            on.run("INSERT INTO tollgate_events (service, account, name, data, happened_at) VALUES (?, ?, ?, ?, ?)",
                   reported.account.service, reported.account.account, reported.name, reported.data, reported.at);
        !done)
        return std::move(done).error();
    const std::int64_t stored = on.last_insert_id();
    for (const listening_hook& each : listening) {
        if (auto done = on.run("INSERT INTO tollgate_deliveries (hook, event, host, message_id, created_at, due_at) "
                               "VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
                               each.hook, stored, each.host, message_id_of(seed, each.hook), now);
            !done)
            return std::move(done).error();
        if (auto done = queue_no_later_than(on, each.hook, now); !done) return std::move(done).error();
    }
    return {};
}

}  // namespace tollgate::sqlite

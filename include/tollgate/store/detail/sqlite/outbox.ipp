#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_OUTBOX_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_OUTBOX_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/store_error.hpp>
#include <tollgate/store/detail/sqlite/append_event.hpp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<std::size_t> sqlite_store::append_event(const event& reported, const message_seed& seed, instant now,
                                                             std::optional<hook_id> only_to) noexcept {
    // Looks without the write lock first: most events have no hooks.
    if (!only_to)
        return impl_->change_if("SELECT EXISTS (SELECT 1 FROM tollgate_hooks WHERE service = ? AND account = ? AND event = ? "
                                "AND disabled_at IS NULL)",
                                [&](sqlite::database& on) { return sqlite::append_event(on, reported, seed, now); },
                                reported.account.service, reported.account.account, reported.name);
    return impl_->database.transact([&](sqlite::database& on) -> result<std::size_t> {
        auto is_disabled = sqlite::is_hook_disabled(on, reported.account, *only_to);
        if (!is_disabled) return std::move(is_disabled).error();
        if (!*is_disabled) return std::size_t{0};
        if (**is_disabled) return hook_is_disabled();
        return sqlite::append_event_to(on, {*only_to}, reported, seed, now).transform([] { return std::size_t{1}; });
    });
}

TOLLGATE_DECL result<delivery_backlog> sqlite_store::backlog(instant now, std::size_t rows_max) noexcept {
    // Reads only hooks that may have due deliveries: those that are ready, or whose host is full. The oldest delivery is the
    // first of its hook.
    auto read = impl_->read_one(
        sql::to_backlog,
        "SELECT (SELECT count(*) FROM (SELECT 1 FROM tollgate_hooks AS hooks "
        "JOIN tollgate_deliveries AS deliveries ON hook = hooks.id AND ended_at IS NULL "
        "WHERE hooks.ready_at <= ?3 AND disabled_at IS NULL AND coalesce(due_at, leased_until) <= ?1 LIMIT ?2)), "
        "(SELECT min(first) FROM (SELECT (SELECT min(coalesce(due_at, leased_until)) FROM tollgate_deliveries "
        "WHERE hook = hooks.id AND ended_at IS NULL) AS first FROM tollgate_hooks AS hooks "
        "WHERE ready_at <= ?3 AND disabled_at IS NULL) "
        "WHERE first <= ?1)",
        now, rows_max, now + seconds{limits::full_host_retry_seconds_max});
    if (!read) return std::move(read).error();
    return read->value_or(delivery_backlog{});
}

TOLLGATE_DECL result<due_hook_page> sqlite_store::due_hooks(instant now, std::size_t rows_max) noexcept {
    return impl_->database.read([&](sqlite::database& on) -> result<due_hook_page> {
        // First those whose time was set by a wrong clock: `lease` corrects it, so that they do not delay the others.
        auto listed = sql::read_all(
            on.prepare("SELECT id, service, account, target_url FROM tollgate_hooks WHERE ready_at > ? ORDER BY ready_at, id LIMIT ?",
                       latest_due(now), rows_max),
            [](hook_id id, const service_name& service, account_id account, std::string& target_url) {
                return due_hook{id, {service, account}, std::move(target_url)};
            });
        if (!listed) return std::move(listed).error();
        due_hook_page page{.hooks = *std::move(listed)};
        // A further row contains when the next hook is due.
        auto rows = on.prepare(
            "SELECT id, service, account, target_url, ready_at FROM tollgate_hooks "
            "WHERE ready_at <= ? ORDER BY ready_at, id LIMIT ?",
            latest_due(now), (std::max)(rows_max, rows_max + 1));  // for the largest number, the sum would be 0
        for (;;) {
            auto row = rows.next<hook_id, service_name, account_id, std::string, instant>();
            if (!row) return std::move(row).error();
            if (!*row) return page;
            auto& [id, service, account, target_url, ready_at] = **row;
            if (ready_at > now || page.hooks.size() == rows_max) {
                page.next_at = ready_at;
                return page;
            }
            page.hooks.push_back({id, {service, account}, std::move(target_url)});
        }
    });
}

TOLLGATE_DECL std::optional<std::uint64_t> sqlite_store::changes_seen() const noexcept {
    const auto mark = impl_->database.changes().read();
    if (!mark) return std::nullopt;
    // A change of one word changes the sum, because each step can be undone; other changes do but for a chance of 2^-64.
    std::uint64_t sum = 0;
    for (const std::uint64_t each : {mark->counter, mark->log_end, mark->checksum, mark->salts})
        sum = (sum ^ each) * 0x9e37'79b9'7f4a'7c15U;
    return sum;
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_OUTBOX_IPP

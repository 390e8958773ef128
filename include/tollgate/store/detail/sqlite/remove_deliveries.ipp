#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_REMOVE_DELIVERIES_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_REMOVE_DELIVERIES_IPP

#include <tollgate/store/detail/sqlite/statement.hpp>
#include <tollgate/store/detail/sql/statements.hpp>
#include <tollgate/store/detail/sqlite/remove_deliveries.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tollgate::inline v0::sqlite {

namespace detail {

/// Removes the deliveries listed by `rows` (id and event); returns how many.
inline result<std::size_t> remove_listed(database& on, statement rows) {
    // All are read, and the statement is finished, before anything is removed.
    const auto listed =
        sql::read_all(statement{std::move(rows)}, [](delivery_id id, std::int64_t event) { return std::pair{id, event}; });
    if (!listed) return listed.error();
    for (const auto& [id, event] : *listed) {
        if (auto done = on.run("DELETE FROM tollgate_deliveries WHERE id = ?", id); !done) return std::move(done).error();
        if (auto done = on.run("DELETE FROM tollgate_events WHERE id = ?1 "
                               "AND NOT EXISTS (SELECT 1 FROM tollgate_deliveries WHERE event_id = ?1)",
                               event);
            !done)
            return std::move(done).error();
    }
    return listed->size();
}

}  // namespace detail

TOLLGATE_DECL result<void> remove_leased_deliveries(database& on, hook_id deleted) {
    // Among all leases, which are few; the hook may have any number of deliveries.
    return detail::remove_listed(on, on.prepare("SELECT id, event_id FROM tollgate_deliveries "
                                                "INDEXED BY tollgate_deliveries_that_are_leased "
                                                "WHERE state = 0 AND is_leased AND hook_id = ?",
                                                deleted))
        .transform([](std::size_t) {});
}

TOLLGATE_DECL result<std::size_t> remove_deliveries_of_deleted(database& on, std::size_t rows_max) {
    std::size_t removed = 0;
    while (removed < rows_max) {
        const auto hook = sql::read_value<hook_id>(on.prepare("SELECT id FROM tollgate_hooks WHERE account_id = 0 LIMIT 1"));
        if (!hook) return hook.error();
        if (!*hook) break;
        const std::size_t count = rows_max - removed;
        auto some = detail::remove_listed(
            on, on.prepare("SELECT id, event_id FROM tollgate_deliveries WHERE hook_id = ? LIMIT ?", **hook, count));
        if (!some) return some;
        removed += *some;
        if (*some == count) break;
        if (auto done = on.run("DELETE FROM tollgate_hooks WHERE id = ?", **hook); !done) return std::move(done).error();
    }
    return removed;
}

TOLLGATE_DECL result<std::size_t> remove_ended_before(database& on, instant then, std::size_t rows_max) {
    return detail::remove_listed(on, on.prepare(sql::statements::list_ended_deliveries, then, rows_max));
}

TOLLGATE_DECL result<void> remove_ended_beyond(database& on, hook_id hook, std::size_t rows_kept, std::size_t rows_max) {
    return detail::remove_listed(on, on.prepare("SELECT id, event_id FROM tollgate_deliveries "
                                                "INDEXED BY tollgate_deliveries_of_hook_that_ended "
                                                "WHERE hook_id = ? AND state IN (1, 2) "
                                                "ORDER BY id DESC LIMIT ? OFFSET ?",
                                                hook, rows_max, rows_kept))
        .transform([](std::size_t) {});
}

}  // namespace tollgate::sqlite

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_REMOVE_DELIVERIES_IPP

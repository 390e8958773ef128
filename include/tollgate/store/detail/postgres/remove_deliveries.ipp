#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_REMOVE_DELIVERIES_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_REMOVE_DELIVERIES_IPP

#include <tollgate/store/detail/postgres/remove_deliveries.hpp>
#include <tollgate/store/detail/sql/statements.hpp>
#include <tollgate/store/detail/postgres/statement.hpp>
#include <tollgate/store/postgres_database.hpp>

#include <algorithm>
#include <utility>

namespace tollgate::inline v0::postgres {

namespace detail {

enum class deleted_hook : bool { keep, remove };

/// `listing` begins a transaction; its last statement lists the deliveries and their events.
inline result<std::size_t> remove_listed(postgres_database& on, const batch& listing, deleted_hook hook) {
    return on.transact([&](transaction& session) -> result<std::size_t> {
        auto listed = session.run(listing);
        if (!listed) return std::move(listed).error();
        row_arrays<std::int64_t, std::int64_t> rows;
        const auto read = sql::for_each_row(listed->back(), [&](std::int64_t delivery, std::int64_t event) { rows.add(delivery, event); });
        if (!read) return read.error();
        const auto& [deliveries, events] = rows.column_values();
        auto removing = on.make_batch();
        if (!deliveries.empty()) {
            removing.add("DELETE FROM tollgate_deliveries WHERE id = ANY ($1)", deliveries);
            removing.add(
                "DELETE FROM tollgate_events AS events WHERE id = ANY ($1) "
                "AND NOT EXISTS (SELECT FROM tollgate_deliveries WHERE event_id = events.id)",
                events);
        }
        if (hook == deleted_hook::remove) add_removal_of_deleted_hook(removing, std::nullopt);
        if (auto removed = session.commit(std::move(removing)); !removed) return std::move(removed).error();
        return deliveries.size();
    });
}

/// In each transaction, `add_list(batch, count)` adds statements of which the last one lists at most so many deliveries and their events.
/// It locks an event together with its deliveries, so that of two transactions that remove the last two deliveries, one sees that its
/// delivery is the last.
template <class AddList>
result<std::size_t> remove_in_steps(postgres_database& on, std::size_t rows_max, AddList&& add_list,
                                    deleted_hook hook = deleted_hook::keep) {
    std::size_t removed = 0;
    while (removed < rows_max) {
        const std::size_t count = (std::min)(removed_rows_max, rows_max - removed);
        auto listing = on.make_batch();
        listing.add("BEGIN");
        add_list(listing, count);
        auto some = remove_listed(on, listing, hook);
        if (!some) return some;
        removed += *some;
        if (*some < count) break;
    }
    return removed;
}

}  // namespace detail

TOLLGATE_DECL result<std::size_t> remove_ended_before(postgres_database& on, instant then, std::size_t rows_max) {
    return detail::remove_in_steps(on, rows_max, [&](batch& to, std::size_t count) {
        to.add(sql::statements::list_ended_deliveries, then, count);
    });
}

TOLLGATE_DECL result<std::size_t> remove_ended_beyond(postgres_database& on, hook_id hook, std::size_t rows_kept, std::size_t rows_max) {
    return detail::remove_in_steps(on, rows_max, [&](batch& to, std::size_t count) {
        to.add(
            "SELECT deliveries.id, events.id FROM tollgate_deliveries AS deliveries "
            "JOIN tollgate_events AS events ON events.id = event_id WHERE deliveries.id = ANY (ARRAY("
            "SELECT id FROM tollgate_deliveries WHERE hook_id = $1 AND state IN (1, 2) ORDER BY id DESC OFFSET $2 LIMIT $3)) "
            "AND state IN (1, 2) FOR UPDATE OF deliveries, events SKIP LOCKED",
            hook, rows_kept, count);
    });
}

TOLLGATE_DECL result<std::size_t> remove_deliveries_of_deleted(postgres_database& on, std::optional<hook_id> which, std::size_t rows_max) {
    const auto add_list = [&](batch& to, std::size_t count) {
        // The following statements read the hook from a setting of this transaction. Creating a hook for the same host
        // waits.
        to.add(
            "SELECT set_config('tollgate.deleted_hook', coalesce((SELECT hooks.id::text FROM tollgate_hooks AS hooks "
            "JOIN tollgate_hosts AS hosts ON hosts.id = host_id WHERE has_backlog AND account_id = 0 "
            "AND hooks.id = coalesce($1, hooks.id) ORDER BY random() LIMIT 1 FOR UPDATE OF hosts SKIP LOCKED), '0'), true)",
            which);
        to.add(
            "DELETE FROM tollgate_due_notices WHERE id = ANY (ARRAY(SELECT id FROM tollgate_due_notices "
            "WHERE hook_id = current_setting('tollgate.deleted_hook')::bigint LIMIT $1))",
            changed_rows_max);
        to.add(
            "SELECT deliveries.id, events.id FROM tollgate_deliveries AS deliveries "
            "JOIN tollgate_events AS events ON events.id = event_id "
            "WHERE hook_id = current_setting('tollgate.deleted_hook')::bigint LIMIT $1 "
            "FOR UPDATE OF deliveries, events SKIP LOCKED",
            count);
    };
    return detail::remove_in_steps(on, rows_max, add_list, detail::deleted_hook::remove);
}

TOLLGATE_DECL void add_removal_of_deleted_hook(batch& to, std::optional<hook_id> which) {
    // Transactions that send an event to it have locked its row. It stays for the next time, if there are any; otherwise the next
    // statement sees all deliveries.
    to.add(
        "SELECT set_config('tollgate.deleted_hook', coalesce((SELECT id::text FROM tollgate_hooks "
        "WHERE id = coalesce($1, nullif(current_setting('tollgate.deleted_hook', true), '')::bigint) AND account_id = 0 "
        "FOR UPDATE SKIP LOCKED), '0'), true)",
        which);
    to.add(
        "WITH gone AS (DELETE FROM tollgate_hooks AS hooks WHERE id = current_setting('tollgate.deleted_hook')::bigint "
        "AND NOT EXISTS (SELECT FROM tollgate_deliveries WHERE hook_id = hooks.id) RETURNING id, host_id), "
        "unused AS (DELETE FROM tollgate_hosts AS hosts USING gone WHERE hosts.id = gone.host_id AND NOT EXISTS ("
        "SELECT FROM tollgate_hooks AS others WHERE others.host_id = hosts.id AND others.id <> gone.id)) "
        "SELECT id FROM gone");
}

}  // namespace tollgate::postgres

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_REMOVE_DELIVERIES_IPP

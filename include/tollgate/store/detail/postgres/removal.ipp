#pragma once

#include <tollgate/store/detail/postgres/statement.hpp>
#include <tollgate/store/detail/postgres/removal.hpp>

#include <utility>
#include <vector>

namespace tollgate::inline v0::postgres {

TOLLGATE_DECL result<std::size_t> removal::ended_before(instant then, std::size_t rows_max) {
    if (rows_max == 0) return std::size_t{0};
    auto request = connections_.make_batch();
    request.add("BEGIN");
    // An event is locked together with its deliveries, so that of two transactions that remove the last two deliveries,
    // one sees that its delivery is the last. The same holds below.
    request.add(
        "SELECT deliveries.id, events.id FROM tollgate_deliveries AS deliveries "
        "JOIN tollgate_events AS events ON events.id = event_id WHERE state <> 0 AND at < $1 ORDER BY at LIMIT $2 "
        "FOR UPDATE OF deliveries, events SKIP LOCKED",
        then, rows_max);
    return remove(request, false);
}

TOLLGATE_DECL result<std::size_t> removal::ended_beyond(hook_id hook, std::size_t rows_kept, std::size_t rows_max) {
    auto request = connections_.make_batch();
    request.add("BEGIN");
    request.add(
        "SELECT deliveries.id, events.id FROM tollgate_deliveries AS deliveries "
        "JOIN tollgate_events AS events ON events.id = event_id WHERE deliveries.id = ANY (ARRAY("
        "SELECT id FROM tollgate_deliveries WHERE hook_id = $1 AND state IN (1, 2) ORDER BY id DESC OFFSET $2 LIMIT "
        "$3)) "
        "AND state IN (1, 2) FOR UPDATE OF deliveries, events SKIP LOCKED",
        hook, rows_kept, rows_max);
    return remove(request, false);
}

TOLLGATE_DECL result<std::size_t> removal::of_deleted(std::optional<hook_id> which, std::size_t rows_max) {
    if (rows_max == 0) return std::size_t{0};
    auto request = connections_.make_batch();
    request.add("BEGIN");
    // The following statements read the hook from a setting of this transaction. Creating a hook for the same host
    // waits.
    request.add(
        "SELECT set_config('tollgate.deleted_hook', coalesce((SELECT hooks.id::text FROM tollgate_hooks AS hooks "
        "JOIN tollgate_hosts AS hosts ON hosts.id = host_id WHERE has_backlog AND account_id = 0 "
        "AND hooks.id = coalesce($1, hooks.id) ORDER BY hooks.id LIMIT 1 FOR UPDATE OF hosts SKIP LOCKED), '0'), true)",
        which);
    request.add(
        "SELECT deliveries.id, events.id FROM tollgate_deliveries AS deliveries "
        "JOIN tollgate_events AS events ON events.id = event_id "
        "WHERE hook_id = current_setting('tollgate.deleted_hook')::bigint LIMIT $1 "
        "FOR UPDATE OF deliveries, events SKIP LOCKED",
        rows_max);
    return remove(request, true);
}

TOLLGATE_DECL result<std::size_t> removal::remove(const batch& listing, bool of_deleted) {
    constexpr int tries_max = 3;
    for (int tries = 1;; ++tries) {
        bool may_be_tried_again = false;
        auto removed = remove_once(listing, of_deleted, may_be_tried_again);
        if (removed || !may_be_tried_again || tries == tries_max) return removed;
    }
}

TOLLGATE_DECL result<std::size_t> removal::remove_once(const batch& listing, bool of_deleted,
                                                        bool& may_be_tried_again) {
    auto session = connections_.begin();
    if (!session) return std::move(session).error();
    const auto run = [&](const batch& request) {
        auto response = session->run(request);
        may_be_tried_again = session->may_be_tried_again();
        return response;
    };
    auto response = run(listing);
    if (!response) return std::move(response).error();
    std::vector<std::int64_t> deliveries, events;
    for (;;) {
        const auto row = response->back().next<std::int64_t, std::int64_t>();
        if (!row) return row.error();
        if (!*row) break;
        deliveries.push_back(std::get<0>(**row));
        events.push_back(std::get<1>(**row));
    }
    auto request = connections_.make_batch();
    if (!deliveries.empty()) {
        request.add("DELETE FROM tollgate_deliveries WHERE id = ANY ($1)", deliveries);
        request.add(
            "DELETE FROM tollgate_events AS events WHERE id = ANY ($1) "
            "AND NOT EXISTS (SELECT FROM tollgate_deliveries WHERE event_id = events.id)",
            events);
    }
    if (of_deleted) {
        // Transactions that send an event to it have locked its row. It stays for the next time, if there are any; otherwise the next
        // statement sees all deliveries.
        request.add(
            "SELECT set_config('tollgate.deleted_hook', coalesce((SELECT id::text FROM tollgate_hooks "
            "WHERE id = current_setting('tollgate.deleted_hook')::bigint AND account_id = 0 FOR UPDATE SKIP LOCKED), '0'), true)");
        request.add(
            "WITH gone AS (DELETE FROM tollgate_hooks AS hooks WHERE id = "
            "current_setting('tollgate.deleted_hook')::bigint "
            "AND account_id = 0 AND NOT EXISTS (SELECT FROM tollgate_deliveries WHERE hook_id = hooks.id) "
            "RETURNING id, host_id) "
            "DELETE FROM tollgate_hosts AS hosts USING gone WHERE hosts.id = gone.host_id AND NOT EXISTS ("
            "SELECT FROM tollgate_hooks AS others WHERE others.host_id = hosts.id AND others.id <> gone.id)");
    }
    request.add("COMMIT");
    if (response = run(request); !response) return std::move(response).error();
    session->committed();
    return deliveries.size();
}

}  // namespace tollgate::postgres

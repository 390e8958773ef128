#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_APPEND_EVENT_HPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_APPEND_EVENT_HPP

#include <tollgate/base/time.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/store/detail/postgres/batch.hpp>
#include <tollgate/store/detail/sql/delivery_columns.hpp>

#include <cstddef>

namespace tollgate::inline v0::postgres {

/// Due notices that one statement reads or removes; the rest is left for the next one.
inline constexpr std::size_t notices_max = 1000;

/// Notifies other nodes of due deliveries.
inline constexpr statement_text notify_other_nodes{
    "SELECT pg_notify('tollgate_deliveries', '') WHERE EXISTS (SELECT FROM tollgate_due_notices)"};

/// `append_event` of `event_sink` as one statement; it returns the number of deliveries, see `read_count`.
inline void append_event(batch& to, const event& reported, const message_seed& seed, instant now) {
    to.add(
        "WITH listening AS (SELECT id, host_id FROM tollgate_hooks "
        "WHERE service = $1 AND account_id = $2 AND event = $3 AND disabled_at IS NULL ORDER BY id FOR KEY SHARE), "
        "made AS (INSERT INTO tollgate_events (service, account_id, name, data, happened_at, seed) "
        "SELECT $1, $2, $3, $4, $5, $6 WHERE EXISTS (SELECT FROM listening) RETURNING id), "
        "sent AS (INSERT INTO tollgate_deliveries (event_id, hook_id, host_id, created_at, at) "
        "SELECT made.id, listening.id, host_id, $7, $7 FROM made, listening ORDER BY listening.id RETURNING hook_id), "
        "noticed AS (INSERT INTO tollgate_due_notices (hook_id, due_at) SELECT hook_id, $7 FROM sent) "
        "SELECT count(*) FROM sent",
        reported.account.service, reported.account.account, reported.name, reported.data, reported.at, seed, now);
}

}  // namespace tollgate::postgres

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_APPEND_EVENT_HPP

#pragma once

#include <tollgate/store/detail/postgres/backlog.hpp>
#include <tollgate/store/detail/postgres/statement.hpp>
#include <tollgate/store/detail/postgres/removal.hpp>

#include <utility>

namespace tollgate::inline v0::postgres {

TOLLGATE_DECL result<std::size_t> work_on_backlog(postgres_database& on, std::size_t removed_max, instant now) {
    auto request = on.make_batch();
    request.add(
        "SELECT set_config('tollgate.backlog_of', coalesce((SELECT hooks.id::text FROM tollgate_hooks AS hooks "
        "JOIN tollgate_hosts AS hosts ON hosts.id = host_id WHERE has_backlog AND account_id <> 0 "
        "ORDER BY hooks.id LIMIT 1 FOR NO KEY UPDATE OF hosts SKIP LOCKED), '0'), true)");
    request.add(
        "UPDATE tollgate_deliveries SET state = 3, at = $1, lease_is_open = false WHERE id = ANY (ARRAY("
        "SELECT deliveries.id FROM tollgate_deliveries AS deliveries JOIN tollgate_hooks AS hooks ON hooks.id = "
        "hook_id "
        "WHERE hook_id = current_setting('tollgate.backlog_of')::bigint AND disabled_at IS NOT NULL "
        "AND state = 0 AND NOT is_leased LIMIT $2))",
        now, backlog_rows_max);
    request.add(
        "WITH due AS (UPDATE tollgate_deliveries SET state = 0, at = $1, attempts_made = 0, resend_asked = false, "
        "lease_is_open = false WHERE id = ANY (ARRAY(SELECT deliveries.id FROM tollgate_deliveries AS deliveries "
        "JOIN tollgate_hooks AS hooks ON hooks.id = hook_id "
        "WHERE hook_id = current_setting('tollgate.backlog_of')::bigint AND disabled_at IS NULL AND state = 3 "
        "LIMIT $2)) RETURNING hook_id) "
        "INSERT INTO tollgate_due_notices (hook_id, due_at) SELECT DISTINCT hook_id, $1 FROM due",
        now, backlog_rows_max);
    request.add(
        "UPDATE tollgate_hooks AS hooks SET has_backlog = CASE WHEN disabled_at IS NULL "
        "THEN EXISTS (SELECT FROM tollgate_deliveries WHERE hook_id = hooks.id AND state = 3) "
        "ELSE EXISTS (SELECT FROM tollgate_deliveries WHERE hook_id = hooks.id AND state = 0 AND NOT is_leased) END "
        "WHERE id = current_setting('tollgate.backlog_of')::bigint AND account_id <> 0");
    request.add("SELECT EXISTS (SELECT FROM tollgate_hooks WHERE has_backlog AND account_id = 0)");
    auto response = on.run(request);
    if (!response) return std::move(response).error();
    const auto any_deleted = response->back().only<bool>();
    if (!any_deleted) return any_deleted.error();
    if (!std::get<0>(*any_deleted)) return std::size_t{0};
    return removal{on}.of_deleted(std::nullopt, removed_max);
}

}  // namespace tollgate::postgres

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_LEASES_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_LEASES_IPP

#include <tollgate/store/detail/postgres/append_event.hpp>
#include <tollgate/store/detail/sql/delivery_columns.hpp>
#include <tollgate/store/detail/postgres/remove_deliveries.hpp>
#include <tollgate/store/detail/postgres/store_impl.ipp>
#include <tollgate/store/detail/sql/hook_secrets.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

namespace tollgate::inline v0 {

namespace postgres::detail {

/// The results of `add_lease`.
struct lease_results {
    std::size_t leased, previous_secrets;
};

inline lease_results add_lease(batch& to, std::span<const lease_request> requests, const lease_time& time) {
    row_arrays<hook_id, std::size_t, std::size_t, instant> rows;
    for (const lease_request& each : requests) rows.add(each.hook, each.deliveries_max, each.host_leases_max, each.full_host_retry_at);
    const auto& [hooks, deliveries_max, host_leases_max, retry_at] = rows.column_values();
    // The following statements read the locked hosts from a setting of this transaction.
    to.add(
        "SELECT set_config('tollgate.locked_hosts', coalesce(string_agg(id::text, ','), ''), true) FROM ("
        "SELECT id FROM tollgate_hosts WHERE id = ANY (ARRAY(SELECT host_id FROM tollgate_hooks WHERE id = ANY ($1))) "
        "ORDER BY id FOR NO KEY UPDATE SKIP LOCKED) AS locked",
        hooks);
    // Before deliveries are read: a delivery committed after this has a notice that remains.
    to.add(
        "DELETE FROM tollgate_due_notices WHERE id = ANY (ARRAY(SELECT notices.id FROM tollgate_due_notices AS notices "
        "JOIN tollgate_hooks AS hooks ON hooks.id = notices.hook_id WHERE notices.hook_id = ANY ($1) "
        "AND host_id = ANY (string_to_array(current_setting('tollgate.locked_hosts'), ',')::bigint[]) LIMIT $2))",
        hooks, notices_max);
    // Makes deliveries due whose time was set by a wrong clock (`latest_due`).
    to.add(
        "UPDATE tollgate_deliveries SET at = $2, is_leased = false WHERE id = ANY (ARRAY("
        "SELECT deliveries.id FROM tollgate_hooks AS hooks JOIN tollgate_deliveries AS deliveries ON hook_id = hooks.id "
        "WHERE hooks.id = ANY ($1) AND state = 0 AND at > $4 "
        "AND hooks.host_id = ANY (string_to_array(current_setting('tollgate.locked_hosts'), ',')::bigint[]) LIMIT $3))",
        hooks, time.now, changed_rows_max, latest_due(time.now));
    to.add(
        "UPDATE tollgate_deliveries SET state = 3, at = $2, is_leased = false, lease_is_open = false WHERE id = ANY (ARRAY("
        "SELECT deliveries.id FROM tollgate_hooks AS hooks JOIN tollgate_deliveries AS deliveries ON hook_id = hooks.id "
        "WHERE hooks.id = ANY ($1) AND disabled_at IS NOT NULL AND state = 0 AND at <= $2 "
        "AND hooks.host_id = ANY (string_to_array(current_setting('tollgate.locked_hosts'), ',')::bigint[]) LIMIT $3))",
        hooks, time.now, changed_rows_max);
    const auto leased = to.add(
        "WITH requested AS (SELECT hooks.id, host_id, type, target_url, secret, place, deliveries_max, host_leases_max "
        "FROM unnest($1, $2, $3) WITH ORDINALITY AS requests (hook_id, deliveries_max, host_leases_max, place) "
        "JOIN tollgate_hooks AS hooks ON hooks.id = requests.hook_id WHERE disabled_at IS NULL AND account_id <> 0 "
        "AND host_id = ANY (string_to_array(current_setting('tollgate.locked_hosts'), ',')::bigint[])), "
        "taken AS (SELECT host_id, leases FROM (SELECT DISTINCT host_id FROM requested) AS hosts CROSS JOIN LATERAL ("
        "SELECT count(*) AS leases FROM tollgate_deliveries AS deliveries WHERE deliveries.host_id = hosts.host_id "
        "AND state = 0 AND is_leased AND at > $4 AND at <= $6) AS counted), "
        "due AS (SELECT pending.id, place, host_leases_max, requested.host_id, row_number() OVER ("
        "PARTITION BY requested.host_id ORDER BY place, pending.at, pending.id) AS number FROM requested CROSS JOIN LATERAL ("
        "SELECT id, at FROM tollgate_deliveries WHERE hook_id = requested.id AND state = 0 AND at <= $4 "
        "ORDER BY at, id LIMIT deliveries_max) AS pending), "
        "chosen AS (SELECT id, place, number, due.host_id FROM due JOIN taken ON taken.host_id = due.host_id "
        "WHERE number <= host_leases_max - leases), "
        "leased AS (UPDATE tollgate_deliveries AS deliveries SET at = $5, is_leased = true, lease_is_open = true, "
        "lease_number = lease_number + 1, resend_asked = false, host_id = chosen.host_id FROM chosen WHERE deliveries.id = chosen.id "
        "AND state = 0 AND at <= $4 "
        "RETURNING deliveries.id, lease_number, hook_id, event_id, attempts_made, chosen.place, chosen.number) "
        "SELECT leased.id, lease_number, hook_id, event_id, attempts_made, requested.type, target_url, secret, service, "
        "account_id, name, data, happened_at, seed FROM leased "
        "JOIN requested ON requested.id = hook_id AND requested.place = leased.place "
        "JOIN tollgate_events AS events ON events.id = event_id ORDER BY leased.place, leased.number",
        hooks, deliveries_max, host_leases_max, time.now, time.until, latest_due(time.now));
    to.add(
        "UPDATE tollgate_hooks AS hooks SET ready_at = CASE WHEN first_at IS NULL OR first_at > $4 THEN first_at "
        "WHEN leases >= requests.host_leases_max THEN greatest(requests.retry_at, $4) ELSE $4 END "
        "FROM unnest($1, $2, $3) AS requests (hook_id, host_leases_max, retry_at) "
        "JOIN tollgate_hooks AS old ON old.id = requests.hook_id CROSS JOIN LATERAL ("
        "SELECT min(at) AS first_at FROM tollgate_deliveries WHERE hook_id = old.id AND state = 0) AS pending "
        "CROSS JOIN LATERAL (SELECT count(*) AS leases FROM tollgate_deliveries AS deliveries "
        "WHERE deliveries.host_id = old.host_id AND state = 0 AND is_leased AND at > $4 AND at <= $5) AS taken "
        "WHERE hooks.id = old.id AND old.account_id <> 0 "
        "AND old.host_id = ANY (string_to_array(current_setting('tollgate.locked_hosts'), ',')::bigint[])",
        hooks, host_leases_max, retry_at, time.now, latest_due(time.now));
    const auto previous_secrets = to.add(
        "SELECT hook_id, secret FROM tollgate_hook_secrets WHERE hook_id = ANY ($1) AND valid_until > $2 "
        "ORDER BY hook_id, id DESC",
        hooks, time.now);
    return {leased, previous_secrets};
}

using secrets_by_hook = std::unordered_map<hook_id, std::vector<std::string>>;

inline result<secrets_by_hook> read_previous_secrets(rows& listed) {
    secrets_by_hook secrets;
    return sql::for_each_row(listed, [&](hook_id id, std::string& secret) { secrets[id].push_back(std::move(secret)); })
        .transform([&] { return std::move(secrets); });
}

inline result<std::vector<due_delivery>> read_leased(rows& listed, const secrets_by_hook& previous_secrets) {
    std::vector<due_delivery> leased;
    std::unordered_map<std::int64_t, std::shared_ptr<const event>> events;
    const auto take = [&](delivery_id id, std::int64_t number, hook_id hook, std::int64_t event_number, std::int64_t attempts_made,
                          std::string& type, std::string& target_url, std::string& secret, const service_name& service, account_id account,
                          std::string& name, std::string& data, instant at, const message_seed& seed) {
        auto& shared = events[event_number];
        if (!shared) shared = std::make_shared<const event>(event{{service, account}, std::move(name), std::move(data), at});
        const auto previous = previous_secrets.find(hook);
        leased.push_back({.lease = {id, number},
                          .hook = hook,
                          .event = shared,
                          .message_id = message_id_of(seed, hook),
                          .type = std::move(type),
                          .target_url = std::move(target_url),
                          .secret = std::move(secret),
                          .previous_secrets = previous == previous_secrets.end() ? std::vector<std::string>{} : previous->second,
                          .attempts_made = static_cast<unsigned>(attempts_made)});
    };
    return sql::for_each_row(listed, take).transform([&] { return std::move(leased); });
}

}  // namespace postgres::detail

namespace postgres_detail {

/// Verbs of `outbox`.
struct lease_verbs : verbs {
    using verbs::verbs;

    /// Skips hosts that another transaction has locked; their hooks stay listed.
    result<std::vector<due_delivery>> lease(std::span<const lease_request> requests,
                                                                          const lease_time& lease) noexcept {
        return impl_->with_batch([&](postgres::batch& batch) -> result<std::vector<due_delivery>> {
            if (requests.empty()) return std::vector<due_delivery>{};
            const auto at = postgres::detail::add_lease(batch, requests, lease);
            auto results = impl_->database.run(batch);
            if (!results) return std::move(results).error();
            const auto previous_secrets = postgres::detail::read_previous_secrets((*results)[at.previous_secrets]);
            if (!previous_secrets) return previous_secrets.error();
            auto leased = postgres::detail::read_leased((*results)[at.leased], *previous_secrets);
            if (leased) sql::decrypt_all(impl_->keys, *leased);
            return leased;
        });
    }
};

}  // namespace postgres_detail

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_LEASES_IPP

#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/postgres/delivery_columns.hpp>
#include <tollgate/store/detail/postgres/hooks.hpp>
#include <tollgate/store/detail/postgres/locks.hpp>
#include <tollgate/store/detail/postgres/removal.hpp>
#include <tollgate/store/detail/refusals.hpp>

#include <utility>

namespace tollgate::inline v0::postgres {

template <>
struct column<hook_source> {
    static constexpr wire_type type = wire_text;
    static std::optional<hook_source> read(const cell& from) noexcept {
        const auto text = from.text();
        for (const hook_source each : {hook_source::api, hook_source::manual})
            if (text == to_text(each)) return each;
        return std::nullopt;
    }
    static void write(parameter& to, hook_source value) { to.text(to_text(value)); }
};

TOLLGATE_DECL result<hook_id> hooks::create(const new_hook& made, std::size_t hooks_per_event_max) {
    auto asked = connections_.make_batch();
    const std::string host = delivery_host(made.target_url);
    lock_for_counting(asked, "hooks " + std::string{made.account.service.view()} + " " +
                                 std::to_string(made.account.account.value()) + " " + made.event);
    // Also where it is there: the row is locked now, so that nobody takes it away before the hook is there.
    asked.add(
        "INSERT INTO tollgate_hosts AS hosts (name) SELECT $1 WHERE $5 > (SELECT count(*) FROM tollgate_hooks "
        "WHERE service = $2 AND account_id = $3 AND event = $4) "
        "ON CONFLICT (name) DO UPDATE SET name = excluded.name",
        host, made.account.service, made.account.account, made.event, hooks_per_event_max);
    asked.add(
        "INSERT INTO tollgate_hooks "
        "(service, account_id, event, source, type, target_url, host_id, secret, created_at) "
        "SELECT $1, $2, $3, $4, $5, $6, id, $7, $8 FROM tollgate_hosts WHERE name = $9 AND $10 > ("
        "SELECT count(*) FROM tollgate_hooks WHERE service = $1 AND account_id = $2 AND event = $3) RETURNING id",
        made.account.service, made.account.account, made.event, made.source, made.type, made.target_url, made.secret,
        made.created_at, host, hooks_per_event_max);
    auto answered = connections_.run(asked);
    if (!answered) return std::move(answered).error();
    const auto row = answered->back().next<hook_id>();
    if (!row) return row.error();
    if (!*row) return too_many_hooks(hooks_per_event_max);
    return std::get<0>(**row);
}

TOLLGATE_DECL result<std::vector<hook>> hooks::of(const account_ref& account) {
    auto listed = connections_.ask(
        "SELECT id, event, source, type, target_url, created_at, disabled_at, disable_reason, failing_since "
        "FROM tollgate_hooks WHERE service = $1 AND account_id = $2 ORDER BY id",
        account.service, account.account);
    if (!listed) return std::move(listed).error();
    std::vector<hook> found;
    for (;;) {
        auto row = listed->next<hook_id, std::string, hook_source, std::string, std::string, instant,
                                std::optional<instant>, std::optional<disable_reason>, std::optional<instant>>();
        if (!row) return std::move(row).error();
        if (!*row) return found;
        auto& [id, event, source, type, target_url, created_at, disabled_at, why, failing_since] = **row;
        hook& each = found.emplace_back(hook{id,
                                             account,
                                             std::move(event),
                                             source,
                                             std::move(type),
                                             std::move(target_url),
                                             created_at,
                                             {},
                                             failing_since});
        if (disabled_at && why) each.disabled = hook_disablement{*disabled_at, *why};
    }
}

TOLLGATE_DECL result<std::optional<account_ref>> hooks::account_of(const service_name& service, hook_id id) {
    if (!is_keepable(service)) return std::optional<account_ref>{};
    auto found = connections_.ask(
        "SELECT account_id FROM tollgate_hooks WHERE id = $1 AND service = $2 AND account_id <> 0", id, service);
    if (!found) return std::move(found).error();
    const auto row = found->next<account_id>();
    if (!row) return row.error();
    if (!*row) return std::optional<account_ref>{};
    return std::optional{account_ref{service, std::get<0>(**row)}};
}

TOLLGATE_DECL result<bool> hooks::replace_secret(const account_ref& account, hook_id id, const std::string& secret,
                                                  instant old_valid_until) {
    auto asked = connections_.make_batch();
    asked.add("SELECT id FROM tollgate_hooks WHERE id = $1 AND service = $2 AND account_id = $3 FOR NO KEY UPDATE", id,
              account.service, account.account);
    asked.add(
        "INSERT INTO tollgate_hook_secrets (hook_id, secret, valid_until) SELECT id, secret, $4 FROM tollgate_hooks "
        "WHERE id = $1 AND service = $2 AND account_id = $3",
        id, account.service, account.account, old_valid_until);
    asked.add(
        "DELETE FROM tollgate_hook_secrets WHERE id = ANY (ARRAY("
        "SELECT id FROM tollgate_hook_secrets WHERE hook_id = $1 ORDER BY id DESC OFFSET $2))",
        id, limits::previous_secrets_max);
    asked.add("UPDATE tollgate_hooks SET secret = $4 WHERE id = $1 AND service = $2 AND account_id = $3", id,
              account.service, account.account, secret);
    auto answered = connections_.run(asked);
    if (!answered) return std::move(answered).error();
    return answered->back().touched() > 0;
}

TOLLGATE_DECL result<bool> hooks::remove(const account_ref& account, hook_id id) {
    auto asked = connections_.make_batch();
    // First whoever is sending there is waited for.
    asked.add(
        "SELECT hosts.id FROM tollgate_hosts AS hosts JOIN tollgate_hooks AS hooks ON hosts.id = host_id "
        "WHERE hooks.id = $1 AND service = $2 AND account_id = $3 FOR UPDATE OF hosts",
        id, account.service, account.account);
    // From now on it is nobody's.
    asked.add(
        "UPDATE tollgate_hooks SET account_id = 0, secret = '', has_backlog = true, ready_at = NULL "
        "WHERE id = $1 AND service = $2 AND account_id = $3",
        id, account.service, account.account);
    asked.add(
        "DELETE FROM tollgate_hook_secrets USING tollgate_hooks AS hooks "
        "WHERE hook_id = hooks.id AND hooks.id = $1 AND account_id = 0",
        id);
    // Others get the leases that its deliveries had.
    asked.add(
        "UPDATE tollgate_deliveries AS deliveries SET is_leased = false, lease_is_open = false "
        "FROM tollgate_hooks AS hooks WHERE deliveries.host_id = hooks.host_id AND hook_id = hooks.id AND state = 0 "
        "AND is_leased AND hooks.id = $1 AND account_id = 0",
        id);
    asked.add(
        "DELETE FROM tollgate_due_notices WHERE id = ANY (ARRAY(SELECT notices.id FROM tollgate_due_notices AS notices "
        "JOIN tollgate_hooks AS hooks ON hooks.id = hook_id WHERE hook_id = $1 AND account_id = 0 LIMIT $2))",
        id, backlog_rows_max);
    asked.add(
        "WITH gone AS (DELETE FROM tollgate_hooks WHERE id = $1 AND account_id = 0 "
        "AND NOT EXISTS (SELECT FROM tollgate_deliveries WHERE hook_id = $1) RETURNING host_id), "
        "unused AS (DELETE FROM tollgate_hosts AS hosts USING gone WHERE hosts.id = gone.host_id AND NOT EXISTS ("
        "SELECT FROM tollgate_hooks AS others WHERE others.host_id = hosts.id AND others.id <> $1)) "
        "SELECT host_id FROM gone",
        id);
    auto answered = connections_.run(asked);
    if (!answered) return std::move(answered).error();
    if ((*answered)[1].touched() == 0) return false;
    // Its deliveries are told of and claimed no more. Where this fails, or there are more, claims and sweeps go on with
    // it.
    if (answered->back().count() == 0) static_cast<void>(removal{connections_}.of_deleted(id, backlog_rows_max));
    return true;
}

}  // namespace tollgate::postgres

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_DELIVERY_HISTORY_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_DELIVERY_HISTORY_IPP

#include <tollgate/base/detail/boot_clock.hpp>
#include <tollgate/store/store_error.hpp>
#include <tollgate/store/detail/postgres/append_event.hpp>
#include <tollgate/store/detail/postgres/delivery_columns.hpp>
#include <tollgate/store/detail/postgres/remove_deliveries.hpp>
#include <tollgate/store/detail/postgres/store_impl.ipp>

#include <cstdint>
#include <limits>
#include <utility>
#include <variant>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<std::vector<listed_delivery>> postgres_store::deliveries_of(const account_ref& account,
                                                                                 const delivery_query& query) noexcept {
    constexpr auto any = (std::numeric_limits<std::int64_t>::max)();
    return impl_->with_batch([&](postgres::batch& batch) -> result<std::vector<listed_delivery>> {
        const auto older_than = query.older_than ? query.older_than->value() : any;
        const auto first = query.delivery ? query.delivery->value() : 0, last = query.delivery ? query.delivery->value() : any;
        const auto deliveries = batch.add(
            "SELECT deliveries.id, events.name, seed, deliveries.created_at, shown, attempts_made, "
            "CASE shown WHEN 0 THEN at END FROM tollgate_deliveries AS deliveries "
            "JOIN tollgate_events AS events ON events.id = event_id JOIN tollgate_hooks AS hooks ON hooks.id = hook_id "
            "CROSS JOIN LATERAL (SELECT CASE WHEN state = 0 AND NOT is_leased AND disabled_at IS NOT NULL THEN 3 "
            "WHEN state = 3 AND disabled_at IS NULL THEN 0 ELSE state END AS shown) AS backlog "
            "WHERE hook_id = $1 AND hooks.service = $2 AND hooks.account_id = $3 AND deliveries.id < $5 "
            "AND deliveries.id BETWEEN $7 AND $8 AND ($6::bigint IS NULL OR shown = $6) ORDER BY deliveries.id DESC LIMIT $4",
            query.hook, account.service, account.account, query.rows_max, older_than, query.state, first, last);
        const auto attempts = batch.add(
            "SELECT delivery_id, attempts.at, duration, ended, status, answer, request, cause FROM ("
            "SELECT deliveries.id FROM tollgate_deliveries AS deliveries JOIN tollgate_hooks AS hooks ON hooks.id = hook_id "
            "CROSS JOIN LATERAL (SELECT CASE WHEN state = 0 AND NOT is_leased AND disabled_at IS NOT NULL THEN 3 "
            "WHEN state = 3 AND disabled_at IS NULL THEN 0 ELSE state END AS shown) AS backlog "
            "WHERE $9 > 0 AND hook_id = $1 AND hooks.service = $2 AND hooks.account_id = $3 AND deliveries.id < $5 "
            "AND deliveries.id BETWEEN $7 AND $8 AND ($6::bigint IS NULL OR shown = $6) ORDER BY deliveries.id DESC LIMIT $4) AS listed "
            "CROSS JOIN LATERAL (SELECT * FROM tollgate_attempts WHERE delivery_id = listed.id ORDER BY id DESC LIMIT $9) AS attempts "
            "ORDER BY delivery_id DESC, attempts.id DESC",
            query.hook, account.service, account.account, query.rows_max, older_than, query.state, first, last, query.attempts_max);
        auto results = impl_->database.run(batch, postgres::repeat::allowed);
        if (!results) return std::move(results).error();
        auto listed = sql::read_all((*results)[deliveries], sql::to_delivery<message_seed>(query.hook));
        if (!listed) return listed;
        auto next = listed->begin();
        const auto add = [&](delivery_id id, instant at, milliseconds duration, attempt_end end, std::int64_t status,
                             sql::raw_bytes& response, sql::raw_bytes& request, attempt_cause cause) {
            while (next != listed->end() && next->delivery.id > id) ++next;
            // A delivery that was created between the statements is not listed.
            if (next != listed->end() && next->delivery.id == id)
                next->attempts.push_back(sql::to_attempt(at, duration, end, status, response, request, cause));
        };
        if (auto done = sql::for_each_row((*results)[attempts], add); !done) return std::move(done).error();
        return listed;
    });
}

TOLLGATE_DECL result<std::size_t> postgres_store::impl::resend(const account_ref& account, delivery_id id, instant now) noexcept {
    return with_batch([&](postgres::batch& request) -> result<std::size_t> {
        request.add(
            "SELECT hosts.id FROM tollgate_deliveries AS deliveries JOIN tollgate_hooks AS hooks ON hooks.id = hook_id "
            "JOIN tollgate_hosts AS hosts ON hosts.id = hooks.host_id WHERE deliveries.id = $1 AND service = $2 "
            "AND account_id = $3 FOR NO KEY UPDATE OF hosts",
            id, account.service, account.account);
        request.add(
            "WITH found AS (SELECT deliveries.id, disabled_at IS NOT NULL AS is_disabled, "
            "state = 0 AND is_leased AND at > $4 AND at <= $5 AS is_being_sent FROM tollgate_deliveries AS deliveries "
            "JOIN tollgate_hooks AS hooks ON hooks.id = hook_id "
            "WHERE deliveries.id = $1 AND service = $2 AND account_id = $3), "
            "changed AS (UPDATE tollgate_deliveries AS deliveries SET state = 0, at = $4, is_leased = false, "
            "lease_is_open = false, attempts_made = 0, resend_asked = false FROM found "
            "WHERE deliveries.id = found.id AND NOT is_disabled AND NOT is_being_sent "
            "AND NOT (state = 0 AND is_leased AND at > $4 AND at <= $5) RETURNING hook_id), "
            // `complete` sees that it is to be sent again.
            "noted AS (UPDATE tollgate_deliveries AS deliveries SET attempts_made = 0, resend_asked = true FROM found "
            "WHERE deliveries.id = found.id AND NOT is_disabled AND is_being_sent AND state = 0 AND is_leased AND at > $4 "
            "RETURNING hook_id), "
            "noticed AS (INSERT INTO tollgate_due_notices (hook_id, due_at) SELECT hook_id, $4 FROM changed) "
            "SELECT is_disabled, EXISTS (SELECT FROM changed UNION ALL SELECT FROM noted) FROM found",
            id, account.service, account.account, now, latest_due(now));
        request.add_after_transaction(postgres::notify_other_nodes);
        auto response = database.run(request);
        if (!response) return std::move(response).error();
        const auto row = response->back().next<bool, bool>();
        if (!row) return row.error();
        if (!*row) return std::size_t{0};
        const auto& [is_disabled, is_queued] = **row;
        if (is_disabled) return hook_is_disabled();
        if (!is_queued) return unavailable("PostgreSQL: another transaction changed or removed the delivery");
        return std::size_t{1};
    });
}

TOLLGATE_DECL result<std::size_t> postgres_store::impl::resend(const account_ref& account, const given_up_deliveries& resent,
                                                               instant now) noexcept {
    return with_batch([&](postgres::batch& batch) -> result<std::size_t> {
        batch.add(
            "SELECT hosts.id FROM tollgate_hooks AS hooks JOIN tollgate_hosts AS hosts ON hosts.id = host_id "
            "WHERE hooks.id = $1 AND service = $2 AND account_id = $3 FOR NO KEY UPDATE OF hosts",
            resent.hook, account.service, account.account);
        batch.add(
            "WITH found AS (SELECT id, disabled_at IS NOT NULL AS is_disabled FROM tollgate_hooks "
            "WHERE id = $1 AND service = $2 AND account_id = $3), "
            "due AS (UPDATE tollgate_deliveries SET state = 0, at = $6, is_leased = false, lease_is_open = false, "
            "attempts_made = 0, resend_asked = false WHERE id = ANY (ARRAY(SELECT deliveries.id "
            "FROM tollgate_deliveries AS deliveries JOIN found ON hook_id = found.id "
            "WHERE NOT is_disabled AND state IN (1, 2) AND state = 2 AND created_at >= $4 ORDER BY deliveries.id LIMIT $5)) "
            "RETURNING hook_id), "
            "noticed AS (INSERT INTO tollgate_due_notices (hook_id, due_at) SELECT DISTINCT hook_id, $6 FROM due) "
            "SELECT is_disabled, (SELECT count(*) FROM due) FROM found",
            resent.hook, account.service, account.account, resent.since, resent.rows_max, now);
        batch.add_after_transaction(postgres::notify_other_nodes);
        auto results = database.run(batch);
        if (!results) return std::move(results).error();
        const auto row = results->back().next<bool, std::int64_t>();
        if (!row) return row.error();
        if (!*row) return std::size_t{0};
        const auto& [is_disabled, count] = **row;
        if (is_disabled) return hook_is_disabled();
        return static_cast<std::size_t>(count);
    });
}

TOLLGATE_DECL result<std::size_t> postgres_store::resend(const account_ref& account, const resend_request& resent, instant now) noexcept {
    return std::visit([&](const auto& each) { return impl_->resend(account, each, now); }, resent);
}

TOLLGATE_DECL result<bool> postgres_store::impl::change_hook(const account_ref& account, hook_id id,
                                                             const hook_enabling& enabling) noexcept {
    const instant now = enabling.now;
    return detail::without_exceptions([&]() -> result<bool> {
        // Holds first what has not been held since the hook was disabled, so that all of its deliveries are released in the same
        // way. It is enabled when there is no more of that.
        const auto end = tollgate::detail::boot_now() + response_wait_max;
        do {
            auto request = database.make_batch();
            request.add(
                "SELECT hosts.id FROM tollgate_hooks AS hooks JOIN tollgate_hosts AS hosts ON hosts.id = host_id "
                "WHERE hooks.id = $1 AND service = $2 AND account_id = $3 FOR NO KEY UPDATE OF hosts",
                id, account.service, account.account);
            request.add(
                "UPDATE tollgate_deliveries SET state = 3, at = $4, lease_is_open = false WHERE id = ANY (ARRAY("
                "SELECT deliveries.id FROM tollgate_deliveries AS deliveries JOIN tollgate_hooks AS hooks ON hooks.id = hook_id "
                "WHERE hooks.id = $1 AND service = $2 AND account_id = $3 AND disabled_at IS NOT NULL "
                "AND state = 0 AND NOT is_leased LIMIT $5))",
                id, account.service, account.account, now, postgres::changed_rows_max);
            const auto enabled = request.add(
                "WITH before AS (SELECT id, disabled_at IS NOT NULL AS was_disabled FROM tollgate_hooks "
                "WHERE id = $1 AND service = $2 AND account_id = $3 AND NOT (disabled_at IS NOT NULL AND EXISTS ("
                "SELECT FROM tollgate_deliveries WHERE hook_id = tollgate_hooks.id AND state = 0 AND NOT is_leased))), "
                "enabled AS (UPDATE tollgate_hooks AS hooks SET disabled_at = NULL, disable_reason = NULL, failing_since = "
                "NULL "
                "FROM before WHERE hooks.id = before.id), "
                // Deliveries whose lease has ended are held, too, although no lease has noticed yet.
                "held AS (SELECT id FROM tollgate_deliveries WHERE hook_id = (SELECT id FROM before) AND state = 3 "
                "ORDER BY id LIMIT $5), "
                "abandoned AS (SELECT deliveries.id FROM tollgate_deliveries AS deliveries JOIN before ON hook_id = before.id "
                "WHERE was_disabled AND state = 0 AND is_leased AND (at <= $4 OR at > $6)), "
                "due AS (UPDATE tollgate_deliveries SET state = 0, at = $4, is_leased = false, "
                "lease_is_open = false, attempts_made = 0, resend_asked = false "
                "WHERE id = ANY (ARRAY(SELECT id FROM held UNION ALL SELECT id FROM abandoned)) RETURNING hook_id), "
                "noticed AS (INSERT INTO tollgate_due_notices (hook_id, due_at) SELECT DISTINCT hook_id, $4 FROM due) "
                "SELECT id FROM before",
                id, account.service, account.account, now, postgres::changed_rows_max, latest_due(now));
            request.add(
                "UPDATE tollgate_hooks AS hooks SET has_backlog = "
                "disabled_at IS NULL AND EXISTS (SELECT FROM tollgate_deliveries WHERE hook_id = hooks.id AND state = 3) "
                "WHERE id = $1 AND service = $2 AND account_id = $3",
                id, account.service, account.account);
            request.add_after_transaction(postgres::notify_other_nodes);
            auto response = database.run(request);
            if (!response) return std::move(response).error();
            if ((*response)[enabled].count() > 0) return true;
            if (response->back().affected() == 0) return false;
        } while (tollgate::detail::boot_now() < end);
        return unavailable("PostgreSQL: the webhook has so many deliveries that it could not be enabled yet");
    });
}

TOLLGATE_DECL result<std::size_t> postgres_store::impl::sweep_deliveries(instant ended_before, std::size_t rows_max) noexcept {
    return detail::without_exceptions([&]() -> result<std::size_t> {
        // Without a transaction first: often there is nothing to do.
        auto response = database.query(
            "SELECT EXISTS (SELECT FROM tollgate_hooks WHERE has_backlog AND account_id = 0), "
            "EXISTS (SELECT FROM tollgate_deliveries WHERE state <> 0 AND at < $1)",
            ended_before);
        if (!response) return std::move(response).error();
        const auto any = response->only<bool, bool>();
        if (!any) return any.error();
        const auto [any_deleted, any_ended] = *any;
        std::size_t removed = 0;
        if (any_deleted) {
            auto of_deleted = postgres::remove_deliveries_of_deleted(database, std::nullopt, rows_max);
            if (!of_deleted) return of_deleted;
            removed = *of_deleted;
        }
        if (!any_ended) return removed;
        auto ended = postgres::remove_ended_before(database, ended_before, rows_max - removed);
        if (!ended) return ended;
        return removed + *ended;
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_DELIVERY_HISTORY_IPP

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_OUTBOX_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_OUTBOX_IPP

#include <tollgate/base/detail/boot_clock.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/store/store_error.hpp>
#include <tollgate/store/detail/postgres/append_event.hpp>
#include <tollgate/store/detail/postgres/remove_deliveries.hpp>
#include <tollgate/store/detail/postgres/store_impl.ipp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace tollgate::inline v0::postgres::detail {

/// Makes the oldest deliveries due that a `hook_enabling` has left held, at most `changed_rows_max` of one hook: any of these hooks, so
/// that none that fails stops the others. False if the hosts of all of them are locked.
inline result<bool> release_held(postgres_database& on, instant now) {
    auto request = on.make_batch();
    request.add(
        "SELECT set_config('tollgate.backlog_of', coalesce((SELECT hooks.id::text FROM tollgate_hooks AS hooks "
        "JOIN tollgate_hosts AS hosts ON hosts.id = host_id WHERE has_backlog AND account_id <> 0 "
        "ORDER BY random() LIMIT 1 FOR NO KEY UPDATE OF hosts SKIP LOCKED), '0'), true)");
    request.add(
        "WITH due AS (UPDATE tollgate_deliveries SET state = 0, at = $1, attempts_made = 0, resend_asked = false, "
        "lease_is_open = false WHERE id = ANY (ARRAY(SELECT id FROM tollgate_deliveries "
        "WHERE hook_id = (SELECT id FROM tollgate_hooks WHERE id = current_setting('tollgate.backlog_of')::bigint "
        "AND disabled_at IS NULL) AND state = 3 ORDER BY id LIMIT $2)) RETURNING hook_id) "
        "INSERT INTO tollgate_due_notices (hook_id, due_at) SELECT DISTINCT hook_id, $1 FROM due",
        now, changed_rows_max);
    request.add(
        "UPDATE tollgate_hooks AS hooks SET has_backlog = "
        "disabled_at IS NULL AND EXISTS (SELECT FROM tollgate_deliveries WHERE hook_id = hooks.id AND state = 3) "
        "WHERE id = current_setting('tollgate.backlog_of')::bigint AND account_id <> 0");
    auto response = on.run(request);
    if (!response) return std::move(response).error();
    const auto chosen = response->front().only<std::string>();
    if (!chosen) return chosen.error();
    return std::get<0>(*chosen) != "0";
}

}  // namespace tollgate::postgres::detail

namespace tollgate::inline v0 {

// The row of a hook's host is the lock on its deliveries: a statement that changes an existing delivery locks it first, except for
// `delete_hook`, which ends leases at former hosts, too. New deliveries do not need it. Other nodes are notified in the same round trip but
// after the transaction, because transactions with NOTIFY are committed one at a time.

TOLLGATE_DECL result<std::size_t> postgres_store::append_event(const event& reported, const message_seed& seed, instant now,
                                                               std::optional<hook_id> only_to) noexcept {
    return impl_->with_batch([&](postgres::batch& batch) -> result<std::size_t> {
        if (only_to)
            batch.add(
                "WITH found AS (SELECT id, host_id, disabled_at IS NOT NULL AS is_disabled FROM tollgate_hooks "
                "WHERE id = $1 AND service = $2 AND account_id = $3 FOR KEY SHARE), "
                "made AS (INSERT INTO tollgate_events (service, account_id, name, data, happened_at, seed) "
                "SELECT $2, $3, $4, $5, $6, $7 FROM found WHERE NOT is_disabled RETURNING id), "
                "sent AS (INSERT INTO tollgate_deliveries (event_id, hook_id, host_id, created_at, at) "
                "SELECT made.id, found.id, host_id, $8, $8 FROM made, found RETURNING hook_id), "
                "noticed AS (INSERT INTO tollgate_due_notices (hook_id, due_at) SELECT hook_id, $8 FROM sent) "
                "SELECT is_disabled FROM found",
                *only_to, reported.account.service, reported.account.account, reported.name, reported.data, reported.at, seed, now);
        else postgres::append_event(batch, reported, seed, now);
        batch.add_after_transaction(postgres::notify_other_nodes);
        auto results = impl_->database.run(batch);
        if (!results) return std::move(results).error();
        if (!only_to) return postgres::read_count(results->front());
        const auto is_disabled = sql::read_value<bool>(results->front());
        if (!is_disabled) return is_disabled.error();
        if (!*is_disabled) return std::size_t{0};
        if (**is_disabled) return hook_is_disabled();
        return std::size_t{1};
    });
}

TOLLGATE_DECL result<delivery_backlog> postgres_store::backlog(instant now, std::size_t rows_max) noexcept {
    // Reads only hooks that may have due deliveries: those that are ready, or whose host is full, and those named by an unread notice.
    auto read = impl_->read_one(
        sql::to_backlog,
        "WITH ready AS (SELECT id FROM tollgate_hooks WHERE ready_at <= $3 AND account_id <> 0 AND disabled_at IS NULL "
        "UNION SELECT hook_id FROM (SELECT hook_id, due_at FROM tollgate_due_notices AS notices JOIN tollgate_hooks AS hooks "
        "ON hooks.id = hook_id WHERE account_id <> 0 AND disabled_at IS NULL ORDER BY notices.id LIMIT $2) AS first "
        "WHERE due_at <= $1) "
        "SELECT (SELECT count(*) FROM (SELECT FROM ready JOIN tollgate_deliveries ON hook_id = ready.id "
        "WHERE state = 0 AND at <= $1 LIMIT $2) AS due), "
        "(SELECT min(first) FROM (SELECT (SELECT min(at) FROM tollgate_deliveries WHERE hook_id = ready.id AND state = 0) "
        "AS first FROM ready) AS firsts WHERE first <= $1)",
        now, rows_max, now + seconds{limits::full_host_retry_seconds_max});
    if (!read) return std::move(read).error();
    return read->value_or(delivery_backlog{});
}

TOLLGATE_DECL result<due_hook_page> postgres_store::due_hooks(instant now, std::size_t rows_max) noexcept {
    return impl_->with_batch([&](postgres::batch& request) -> result<due_hook_page> {
        request.add(
            // First those whose time was set by a wrong clock: `lease` corrects it, so that they do not delay the others.
            "SELECT hooks.id, service, account_id, target_url FROM (SELECT hook_id, min(due_at) AS due_at FROM ("
            "(SELECT id AS hook_id, 0::bigint AS due_at FROM tollgate_hooks WHERE ready_at > $4 ORDER BY ready_at LIMIT $2) UNION ALL "
            "(SELECT id AS hook_id, ready_at AS due_at FROM tollgate_hooks WHERE ready_at <= $1 "
            "ORDER BY ready_at, id LIMIT $2) UNION ALL "
            "(SELECT hook_id, due_at FROM (SELECT hook_id, due_at FROM tollgate_due_notices AS notices "
            "JOIN tollgate_hooks AS of_notice ON of_notice.id = hook_id WHERE account_id <> 0 ORDER BY notices.id LIMIT $3) AS first "
            "WHERE due_at <= $1 OR due_at > $4)) AS listed GROUP BY hook_id) AS due JOIN tollgate_hooks AS hooks ON hooks.id = due.hook_id "
            "WHERE account_id <> 0 ORDER BY due.due_at, hooks.id LIMIT $2",
            now, rows_max, postgres::notices_max, latest_due(now));
        request.add(
            "SELECT (SELECT min(ready_at) FROM tollgate_hooks WHERE ready_at > $1 AND ready_at <= $3), "
            "(SELECT min(due_at) FROM (SELECT due_at FROM tollgate_due_notices AS notices "
            "JOIN tollgate_hooks AS hooks ON hooks.id = hook_id WHERE account_id <> 0 ORDER BY notices.id LIMIT $2) AS first "
            "WHERE due_at > $1 AND due_at <= $3), "
            "EXISTS (SELECT FROM (SELECT FROM tollgate_due_notices AS notices "
            "JOIN tollgate_hooks AS hooks ON hooks.id = hook_id WHERE account_id <> 0 ORDER BY notices.id OFFSET $2 LIMIT 1) AS more), "
            "EXISTS (SELECT FROM tollgate_hooks WHERE has_backlog AND account_id <> 0), "
            "EXISTS (SELECT FROM tollgate_hooks WHERE has_backlog AND account_id = 0)",
            now, postgres::notices_max, latest_due(now));
        auto response = impl_->database.run(request, postgres::repeat::allowed);
        if (!response) return std::move(response).error();
        auto hooks =
            sql::read_all(response->front(), [](hook_id id, const service_name& service, account_id account, std::string& target_url) {
                return due_hook{id, {service, account}, std::move(target_url)};
            });
        if (!hooks) return std::move(hooks).error();
        due_hook_page page{.hooks = *std::move(hooks)};
        const auto row = response->back().only<std::optional<instant>, std::optional<instant>, bool, bool, bool>();
        if (!row) return row.error();
        const auto& [ready_at, notice_at, has_more_notices, has_held, has_deleted] = *row;
        bool has_worked = false;
        if ((has_held || has_deleted) && tollgate::detail::boot_now() >= impl_->work_at.load()) {
            auto done = has_held ? postgres::detail::release_held(impl_->database, now) : result<bool>{false};
            if (has_deleted) {
                auto removed = postgres::remove_deliveries_of_deleted(impl_->database, std::nullopt, postgres::removed_rows_max);
                if (!removed) done = std::move(removed).error();
                else if (*removed > 0 && done) done = true;
            }
            // If another transaction has locked the rows, the next call tries again.
            has_worked = done.value_or(false);
            if (!done) {  // the hooks of others do not wait for it
                page.problem = std::move(done).error();
                impl_->work_at = tollgate::detail::boot_now() + seconds{10};
            }
        }
        if (has_worked || has_more_notices || page.hooks.size() >= rows_max) page.next_at = now;
        else if (ready_at && notice_at) page.next_at = (std::min)(*ready_at, *notice_at);
        else page.next_at = ready_at ? ready_at : notice_at;
        return page;
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_OUTBOX_IPP

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_COMPLETIONS_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_COMPLETIONS_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/sql/delivery_columns.hpp>
#include <tollgate/store/detail/postgres/remove_deliveries.hpp>
#include <tollgate/store/detail/postgres/store_impl.ipp>
#include <tollgate/store/detail/sql/history_trim.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace tollgate::inline v0::postgres::detail {

/// The rows that the results refer to.
struct completion_rows {
    struct delivery_row {
        hook_id hook;
        delivery_state state;
        instant at;
        bool is_leased;
        bool lease_is_open;
        std::int64_t lease_number;
        std::int64_t attempts_made;
        bool resend_requested;
        bool is_changed = false;
    };
    struct hook_row {
        hook_status status{};
        std::string target_url{};
        bool is_changed = false;
        bool is_disabled_now = false;
    };
    std::map<delivery_id, delivery_row> deliveries;
    std::map<hook_id, hook_row> hooks;

    void disable(hook_id id, instant now) {
        hooks.at(id).is_disabled_now = true;
        for (auto& [number, each] : deliveries) {
            if (each.hook != id || each.state != delivery_state::waiting || each.is_leased) continue;
            each.state = delivery_state::held;
            each.at = now;
            each.is_changed = true;
        }
    }
};

/// Hooks whose history is to be trimmed now.
inline std::set<hook_id> hooks_with_history_to_trim(const completion_rows& in) {
    std::set<hook_id> hooks;
    for (const auto& [id, each] : in.deliveries)
        if (each.is_changed && sql::trims_history(id, each.state)) hooks.insert(each.hook);
    return hooks;
}

/// Locks and reads the rows, in one round trip that begins the transaction.
inline result<completion_rows> lock_rows(batch request, transaction& on, std::span<const attempt_result> ended) {
    std::vector<delivery_id> ids;
    for (const attempt_result& each : ended) ids.push_back(each.lease.delivery);
    request.add("BEGIN");
    // Lock order for all transactions: hosts, hooks, deliveries; within each, by id. The host of a delivery is that of its last lease;
    // its hook may have another one now, which other verbs lock.
    request.add(
        "SELECT id FROM tollgate_hosts WHERE id = ANY (ARRAY("
        "SELECT host_id FROM tollgate_deliveries WHERE id = ANY ($1) UNION SELECT hooks.host_id FROM tollgate_deliveries AS deliveries "
        "JOIN tollgate_hooks AS hooks ON hooks.id = hook_id WHERE deliveries.id = ANY ($1))) ORDER BY id FOR NO KEY UPDATE",
        ids);
    const auto hooks = request.add(
        "SELECT id, failing_since, last_failure_at, disabled_at, disable_reason, target_url FROM tollgate_hooks WHERE id = ANY "
        "(ARRAY("
        "SELECT hook_id FROM tollgate_deliveries WHERE id = ANY ($1))) AND account_id <> 0 ORDER BY id "
        "FOR NO KEY UPDATE",
        ids);
    const auto deliveries = request.add(
        "SELECT id, hook_id, state, at, is_leased, lease_is_open, lease_number, attempts_made, resend_asked "
        "FROM tollgate_deliveries WHERE id = ANY ($1) ORDER BY id FOR UPDATE",
        ids);
    auto response = on.run(request);
    if (!response) return std::move(response).error();

    completion_rows in;
    const auto take_hook = [&in](hook_id id, std::optional<instant> failing_since, std::optional<instant> last_failure_at,
                                 std::optional<instant> disabled_at, std::optional<disable_reason> reason, std::string& target_url) {
        in.hooks[id] = {{sql::to_disablement(disabled_at, reason), failing_since, last_failure_at}, std::move(target_url)};
    };
    const auto take_delivery = [&in](delivery_id id, hook_id hook, delivery_state state, instant at, bool is_leased, bool lease_is_open,
                                     std::int64_t lease_number, std::int64_t attempts_made, bool resend_requested) {
        if (!in.hooks.contains(hook)) return;  // nothing is stored of a deleted hook any more
        in.deliveries.emplace(id, completion_rows::delivery_row{hook, state, at, is_leased, lease_is_open, lease_number, attempts_made,
                                                                resend_requested});
    };
    return sql::for_each_row((*response)[hooks], take_hook)
        .and_then([&] { return sql::for_each_row((*response)[deliveries], take_delivery); })
        .transform([&] { return std::move(in); });
}

inline completion complete_one(completion_rows& in, const attempt_result& ended, instant now) {
    const auto found = in.deliveries.find(ended.lease.delivery);
    if (found == in.deliveries.end()) return completion::too_late;
    auto& which = found->second;
    if (!which.lease_is_open || which.lease_number != ended.lease.number) return completion::too_late;

    completion_rows::hook_row& to = in.hooks.at(which.hook);
    const completed_delivery after =
        complete_delivery({static_cast<unsigned>(which.attempts_made), which.resend_requested, to.status, to.target_url}, ended, now);
    which.is_changed = true;
    which.is_leased = which.lease_is_open = false;
    which.state = after.state;
    which.at = after.at;
    which.attempts_made = after.attempts_made;
    to.is_changed |= after.hook != to.status;
    to.status = after.hook;
    if (after.result == completion::hook_disabled) in.disable(which.hook, now);
    return after.result;
}

/// Records the attempts, and forgets those beyond the newest of each delivery.
inline void add_attempts(batch& to, const completion_rows& in, std::span<const attempt_result> ended) {
    row_arrays<delivery_id, hook_id, instant, milliseconds, attempt_end, std::int64_t, sql::raw_bytes, sql::raw_bytes, attempt_cause> made;
    for (const attempt_result& each : ended) {
        const auto found = in.deliveries.find(each.lease.delivery);
        if (found == in.deliveries.end() || each.outcome == delivery_outcome::not_attempted) continue;
        const attempt& one = each.attempt;
        made.add(found->first, found->second.hook, one.at, one.duration, one.end, one.status, {one.response}, {one.request}, one.cause);
    }
    to.add(
        "INSERT INTO tollgate_attempts (delivery_id, hook_id, at, duration, ended, status, answer, request, cause) "
        "SELECT delivery_id, hook_id, at, duration, ended, status, answer, request, cause "
        "FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9) WITH ORDINALITY "
        "AS made (delivery_id, hook_id, at, duration, ended, status, answer, request, cause, place) ORDER BY place",
        made);
    to.add(
        "DELETE FROM tollgate_attempts WHERE id = ANY (ARRAY(SELECT id FROM ("
        "SELECT id, row_number() OVER (PARTITION BY delivery_id ORDER BY id DESC) AS place FROM tollgate_attempts "
        "WHERE delivery_id = ANY ($1)) AS numbered WHERE place > $2))",
        std::get<0>(made.column_values()), limits::attempts_per_delivery_max);
}

inline void add_changed_deliveries(batch& to, const completion_rows& in) {
    row_arrays<delivery_id, delivery_state, instant, std::int64_t> ended;
    for (const auto& [id, each] : in.deliveries)
        if (each.is_changed) ended.add(id, each.state, each.at, each.attempts_made);
    to.add(
        "UPDATE tollgate_deliveries AS deliveries SET state = ended.state, at = ended.at, "
        "attempts_made = ended.attempts_made, resend_asked = false, is_leased = false, lease_is_open = false "
        "FROM unnest($1, $2, $3, $4) AS ended (id, state, at, attempts_made) WHERE deliveries.id = ended.id",
        ended);
}

/// Updates the statuses of the hooks. The waiting deliveries of disabled hooks are held.
inline void add_changed_hooks(batch& to, const completion_rows& in, instant now) {
    for (const auto& [id, each] : in.hooks) {
        const auto& [by, failing_since, last_failure_at] = each.status;
        if (each.is_changed)
            to.add(sql::statements::set_hook_status, failing_since, last_failure_at, by ? std::optional{by->at} : std::nullopt,
                   by ? std::optional{by->reason} : std::nullopt, id);
        // `lease` holds the others when they are due.
        if (each.is_disabled_now) to.add(sql::statements::hold_waiting, now, id, changed_rows_max);
    }
}

/// When hooks whose deliveries wait for another attempt are due next.
inline void add_due_times(batch& to, const completion_rows& in) {
    row_arrays<hook_id, instant> due;
    for (const auto& [id, each] : in.deliveries)
        if (each.is_changed && each.state == delivery_state::waiting) due.add(each.hook, each.at);
    if (due.is_empty()) return;
    to.add(
        "UPDATE tollgate_hooks AS hooks SET ready_at = first_at FROM (SELECT hook_id, min(due_at) AS first_at "
        "FROM unnest($1, $2) AS due (hook_id, due_at) GROUP BY hook_id) AS earliest "
        "WHERE hooks.id = hook_id AND (ready_at IS NULL OR ready_at > first_at)",
        due);
}

/// Writes the results, in one round trip that commits the transaction.
inline result<void> write_rows(batch request, transaction& on, const completion_rows& in, std::span<const attempt_result> ended,
                               instant now) {
    add_attempts(request, in, ended);
    add_changed_deliveries(request, in);
    add_changed_hooks(request, in, now);
    add_due_times(request, in);
    if (auto done = on.commit(std::move(request)); !done) return std::move(done).error();
    return {};
}

}  // namespace tollgate::postgres::detail

namespace tollgate::inline v0::postgres_detail {

/// Verbs of `outbox`.
struct completion_verbs : verbs {
    using verbs::verbs;

    result<std::vector<completion>> complete(std::span<const attempt_result> ended, instant now) noexcept {
        return detail::without_exceptions([&]() -> result<std::vector<completion>> {
            std::vector<completion> results;
            if (ended.empty()) return results;
            std::set<hook_id> to_trim;
            auto done = impl_->database.transact([&](postgres::transaction& on) -> result<void> {
                auto in = postgres::detail::lock_rows(impl_->database.make_batch(), on, ended);
                if (!in) return std::move(in).error();
                results.clear();
                for (const attempt_result& each : ended) results.push_back(postgres::detail::complete_one(*in, each, now));
                to_trim = postgres::detail::hooks_with_history_to_trim(*in);
                return postgres::detail::write_rows(impl_->database.make_batch(), on, *in, ended, now);
            });
            if (!done) return std::move(done).error();
            // After the connection was returned, because the pool may have no other one. Removes what came since the last time,
            // including deliveries of other nodes. After a failure, which may have taken seconds, the rest is left for the next time, too.
            for (const hook_id each : to_trim)
                if (!postgres::remove_ended_beyond(impl_->database, each, limits::ended_deliveries_per_hook_max, sql::trimmed_rows_max))
                    break;
            return results;
        });
    }
};

}  // namespace tollgate::postgres_detail

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_COMPLETIONS_IPP

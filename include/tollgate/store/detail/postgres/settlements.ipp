#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/postgres/delivery_columns.hpp>
#include <tollgate/store/detail/postgres/removal.hpp>
#include <tollgate/store/detail/postgres/settlements.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace tollgate::inline v0::postgres {

namespace detail {

/// Looking for what is beyond the bound goes past all that is kept, so it is done now and then.
inline constexpr std::size_t ended_between_trims = 100;

}  // namespace detail

/// What is settled, as it stands.
struct settlements::ledger {
    struct delivery_row {
        hook_id hook;
        std::int64_t host;
        delivery_state state;
        instant at;
        bool is_leased;
        bool lease_is_open;
        std::int64_t lease_number;
        std::int64_t attempts_made;
        bool resend_asked;
        bool is_changed = false;
    };
    struct hook_row {
        std::optional<instant> failing_since;
        std::optional<instant> last_failure_at;
        std::optional<hook_disablement> disabled;
        bool is_changed = false;
        bool is_disabled_now = false;
    };
    struct host_row {
        bool is_slow;
        bool has_answered = false;  ///< one of these
        bool is_changed = false;
    };

    std::map<delivery_id, delivery_row> deliveries;
    std::map<hook_id, hook_row> hooks;
    std::map<std::int64_t, host_row> hosts;

    static void fail(hook_row& which, const settlement& by) {
        const auto& bound = by.disable_if_failing_since;
        if (!which.failing_since || !which.last_failure_at || (bound && *which.last_failure_at < *bound))
            which.failing_since = which.last_failure_at = by.made.at;
        else which.last_failure_at = (std::max)(*which.last_failure_at, by.made.at);
        which.is_changed = true;
    }

    void disable(hook_id id, disable_reason why, instant now) {
        hook_row& of = hooks.at(id);
        of.disabled = hook_disablement{now, why};
        of.is_changed = of.is_disabled_now = true;
        for (auto& [number, each] : deliveries) {
            if (each.hook != id || each.state != delivery_state::waiting || each.is_leased) continue;
            each.state = delivery_state::held;
            each.at = now;
            each.is_changed = true;
        }
    }
};

TOLLGATE_DECL result<std::vector<settle_result>> settlements::settle(std::span<const settlement> ended, instant now) {
    if (ended.empty()) return std::vector<settle_result>{};
    constexpr int tries_max = 3;
    for (int tries = 1;; ++tries) {
        bool may_be_tried_again = false;
        auto settled = settle_once(ended, now, may_be_tried_again);
        if (settled || !may_be_tried_again || tries == tries_max) return settled;
    }
}

TOLLGATE_DECL result<std::vector<settle_result>> settlements::settle_once(std::span<const settlement> ended,
                                                                           instant now, bool& may_be_tried_again) {
    auto talk = connections_.converse();
    if (!talk) return std::move(talk).error();
    auto in = open(*talk, ended);
    may_be_tried_again = talk->may_be_tried_again();
    if (!in) return std::move(in).error();
    std::vector<settle_result> results;
    results.reserve(ended.size());
    for (const settlement& each : ended) results.push_back(settle_one(*in, each, now));
    const auto full = hooks_with_history_to_trim(*in);
    auto done = close(*talk, *in, ended, now);
    may_be_tried_again = talk->may_be_tried_again();
    if (!done) return std::move(done).error();
    // Of what came since the last time, and of what other nodes did not count; where it fails there is a next time.
    for (const hook_id each : full)
        static_cast<void>(removal{connections_}.ended_beyond(each, limits::ended_deliveries_per_hook_max,
                                                             2 * detail::ended_between_trims));
    return results;
}

TOLLGATE_DECL std::vector<hook_id> settlements::hooks_with_history_to_trim(const ledger& in) {
    constexpr std::size_t hooks_counted_max = 10'000;
    std::vector<hook_id> full;
    const std::scoped_lock lock{mutex_};
    if (ended_.size() > hooks_counted_max) ended_.clear();
    for (const auto& [id, each] : in.deliveries) {
        if (!each.is_changed || each.state == delivery_state::waiting || each.state == delivery_state::held) continue;
        if (++ended_[each.hook] < detail::ended_between_trims) continue;
        ended_[each.hook] = 0;
        full.push_back(each.hook);
    }
    return full;
}

TOLLGATE_DECL result<settlements::ledger> settlements::open(conversation& talk, std::span<const settlement> ended) {
    std::vector<delivery_id> ids;
    for (const settlement& each : ended) ids.push_back(each.lease.delivery);
    auto asked = connections_.make_batch();
    asked.add("BEGIN");
    // In this order, as everybody does: hosts, hooks, deliveries; of each, the first first.
    asked.add(
        "SELECT id, is_slow FROM tollgate_hosts WHERE id = ANY (ARRAY("
        "SELECT host_id FROM tollgate_deliveries WHERE id = ANY ($1))) ORDER BY id FOR NO KEY UPDATE",
        ids);
    asked.add(
        "SELECT id, failing_since, last_failure_at, disabled_at, disable_reason FROM tollgate_hooks WHERE id = ANY "
        "(ARRAY("
        "SELECT hook_id FROM tollgate_deliveries WHERE id = ANY ($1))) AND account_id <> 0 ORDER BY id "
        "FOR NO KEY UPDATE",
        ids);
    asked.add(
        "SELECT id, hook_id, host_id, state, at, is_leased, lease_is_open, lease_number, attempts_made, resend_asked "
        "FROM tollgate_deliveries WHERE id = ANY ($1) ORDER BY id FOR UPDATE",
        ids);
    auto answered = talk.run(asked);
    if (!answered) return std::move(answered).error();

    ledger in;
    for (;;) {
        const auto row = (*answered)[1].next<std::int64_t, bool>();
        if (!row) return row.error();
        if (!*row) break;
        in.hosts.emplace(std::get<0>(**row), ledger::host_row{std::get<1>(**row)});
    }
    for (;;) {
        const auto row = (*answered)[2]
                             .next<hook_id, std::optional<instant>, std::optional<instant>, std::optional<instant>,
                                   std::optional<disable_reason>>();
        if (!row) return row.error();
        if (!*row) break;
        const auto& [id, failing_since, last_failure_at, disabled_at, why] = **row;
        ledger::hook_row& made = in.hooks[id];
        made.failing_since = failing_since;
        made.last_failure_at = last_failure_at;
        if (disabled_at && why) made.disabled = hook_disablement{*disabled_at, *why};
    }
    for (;;) {
        const auto row = (*answered)[3]
                             .next<delivery_id, hook_id, std::int64_t, delivery_state, instant, bool, bool,
                                   std::int64_t, std::int64_t, bool>();
        if (!row) return row.error();
        if (!*row) break;
        const auto& [id, hook, host, state, at, is_leased, lease_is_open, lease_number, attempts_made, resend_asked] =
            **row;
        // Of a hook that was deleted nothing is known any more.
        if (!in.hooks.contains(hook) || !in.hosts.contains(host)) continue;
        in.deliveries.emplace(id, ledger::delivery_row{hook, host, state, at, is_leased, lease_is_open, lease_number,
                                                       attempts_made, resend_asked});
    }
    return in;
}

TOLLGATE_DECL settle_result settlements::settle_one(ledger& in, const settlement& ended, instant now) {
    const auto found = in.deliveries.find(ended.lease.delivery);
    if (found == in.deliveries.end()) return settle_result::too_late;
    auto& which = found->second;
    if (!which.lease_is_open || which.lease_number != ended.lease.number) return settle_result::too_late;

    auto& to = in.hooks.at(which.hook);
    auto& where = in.hosts.at(which.host);
    const bool was_disabled = to.disabled.has_value();
    which.lease_is_open = which.is_leased = false;
    which.is_changed = where.is_changed = true;
    if (ended.verdict == delivery_verdict::unsent) {
        which.state = was_disabled ? delivery_state::held : delivery_state::waiting;
        which.at = was_disabled ? now : ended.again_at;
        return settle_result::done;
    }
    ++which.attempts_made;
    where.has_answered = true;
    where.is_slow = ended.made.duration >= slow_attempt;
    if (ended.verdict != delivery_verdict::delivered) {
        ledger::fail(to, ended);
    } else if (to.failing_since) {
        to.failing_since.reset();
        to.is_changed = true;
    }

    const bool resent = std::exchange(which.resend_asked, false);
    if (resent) which.attempts_made = 0;
    const bool is_over = !resent && ended.verdict != delivery_verdict::again;
    which.at = is_over || resent || was_disabled ? now : ended.again_at;
    which.state = !is_over ? (was_disabled ? delivery_state::held : delivery_state::waiting)
                  : ended.verdict == delivery_verdict::delivered ? delivery_state::delivered
                                                                 : delivery_state::given_up;

    if (!was_disabled && ended.verdict == delivery_verdict::gone) in.disable(which.hook, disable_reason::gone, now);
    if (!to.disabled && to.failing_since && ended.disable_if_failing_since &&
        *to.failing_since <= *ended.disable_if_failing_since)
        in.disable(which.hook, disable_reason::failing, now);
    return to.disabled && !was_disabled ? settle_result::hook_disabled : settle_result::done;
}

TOLLGATE_DECL result<void> settlements::close(conversation& talk, const ledger& in, std::span<const settlement> ended,
                                               instant now) {
    auto asked = connections_.make_batch();
    {
        std::vector<delivery_id> deliveries;
        std::vector<hook_id> hooks;
        std::vector<instant> times;
        std::vector<milliseconds> durations;
        std::vector<attempt_end> ends;
        std::vector<std::int64_t> statuses;
        std::vector<raw_bytes> answers_of;
        for (const settlement& each : ended) {
            const auto of = in.deliveries.find(each.lease.delivery);
            if (of == in.deliveries.end() || each.verdict == delivery_verdict::unsent) continue;
            deliveries.push_back(of->first);
            hooks.push_back(of->second.hook);
            times.push_back(each.made.at);
            durations.push_back(each.made.duration);
            ends.push_back(each.made.end);
            statuses.push_back(each.made.status);
            answers_of.push_back({each.made.answer});
        }
        asked.add(
            "INSERT INTO tollgate_attempts (delivery_id, hook_id, at, duration, ended, status, answer) "
            "SELECT delivery_id, hook_id, at, duration, ended, status, answer FROM unnest($1, $2, $3, $4, $5, $6, $7) "
            "WITH ORDINALITY AS made (delivery_id, hook_id, at, duration, ended, status, answer, place) ORDER BY place",
            deliveries, hooks, times, durations, ends, statuses, answers_of);
        // Of each the last.
        asked.add(
            "DELETE FROM tollgate_attempts WHERE id = ANY (ARRAY(SELECT id FROM ("
            "SELECT id, row_number() OVER (PARTITION BY delivery_id ORDER BY id DESC) AS place FROM tollgate_attempts "
            "WHERE delivery_id = ANY ($1)) AS numbered WHERE place > $2))",
            deliveries, limits::attempts_per_delivery_max);
    }
    {
        std::vector<delivery_id> ids;
        std::vector<delivery_state> states;
        std::vector<instant> times;
        std::vector<std::int64_t> attempts;
        std::vector<bool> resent;
        for (const auto& [id, each] : in.deliveries) {
            if (!each.is_changed) continue;
            ids.push_back(id);
            states.push_back(each.state);
            times.push_back(each.at);
            attempts.push_back(each.attempts_made);
            resent.push_back(each.resend_asked);
        }
        asked.add(
            "UPDATE tollgate_deliveries AS deliveries SET state = settled.state, at = settled.at, "
            "attempts_made = settled.attempts_made, resend_asked = settled.resend_asked, is_leased = false, "
            "lease_is_open = false FROM unnest($1, $2, $3, $4, $5) "
            "AS settled (id, state, at, attempts_made, resend_asked) WHERE deliveries.id = settled.id",
            ids, states, times, attempts, resent);
    }
    {
        std::vector<hook_id> ids, disabled;
        std::vector<std::optional<instant>> failing_since, last_failures, disabled_at;
        std::vector<std::optional<disable_reason>> reasons;
        for (const auto& [id, each] : in.hooks) {
            if (each.is_disabled_now) disabled.push_back(id);
            if (!each.is_changed) continue;
            ids.push_back(id);
            failing_since.push_back(each.failing_since);
            last_failures.push_back(each.last_failure_at);
            disabled_at.push_back(each.disabled ? std::optional{each.disabled->at} : std::nullopt);
            reasons.push_back(each.disabled ? std::optional{each.disabled->why} : std::nullopt);
        }
        if (!ids.empty())
            asked.add(
                "UPDATE tollgate_hooks AS hooks SET failing_since = settled.failing_since, "
                "last_failure_at = settled.last_failure_at, disabled_at = settled.disabled_at, "
                "disable_reason = settled.disable_reason FROM unnest($1, $2, $3, $4, $5) "
                "AS settled (id, failing_since, last_failure_at, disabled_at, disable_reason) "
                "WHERE hooks.id = settled.id",
                ids, failing_since, last_failures, disabled_at, reasons);
        if (!disabled.empty()) {
            asked.add(
                "UPDATE tollgate_deliveries SET state = 3, at = $2, lease_is_open = false WHERE id = ANY (ARRAY("
                "SELECT id FROM tollgate_deliveries WHERE hook_id = ANY ($1) AND state = 0 AND NOT is_leased LIMIT "
                "$3))",
                disabled, now, backlog_rows_max);
            asked.add(
                "UPDATE tollgate_hooks AS hooks SET has_backlog = EXISTS ("
                "SELECT FROM tollgate_deliveries WHERE hook_id = hooks.id AND state = 0 AND NOT is_leased) "
                "WHERE id = ANY ($1)",
                disabled);
        }
    }
    {
        std::vector<std::int64_t> ids;
        std::vector<bool> slow, answered;
        for (const auto& [id, each] : in.hosts) {
            if (!each.is_changed) continue;
            ids.push_back(id);
            slow.push_back(each.is_slow);
            answered.push_back(each.has_answered);
        }
        // Who has waited for a turn since earlier than now does not begin to wait again.
        asked.add(
            "UPDATE tollgate_hosts AS hosts SET has_answered = has_answered OR settled.answered, "
            "is_slow = settled.is_slow, "
            "ready_at = CASE WHEN first_at IS NULL OR first_at > $4 THEN first_at "
            "WHEN ready_at <= $4 AND hosts.is_slow = settled.is_slow THEN ready_at ELSE $4 END, "
            "turn = CASE WHEN first_at <= $4 AND ready_at <= $4 AND hosts.is_slow = settled.is_slow THEN turn "
            "ELSE nextval('tollgate_turns') END "
            "FROM unnest($1, $2, $3) AS settled (id, is_slow, answered) "
            "CROSS JOIN LATERAL (SELECT min(at) AS first_at FROM tollgate_deliveries "
            "WHERE host_id = settled.id AND state = 0) AS waiting WHERE hosts.id = settled.id",
            ids, slow, answered, now);
    }
    asked.add("COMMIT");
    auto done = talk.run(asked);
    if (!done) return std::move(done).error();
    talk.committed();
    return {};
}

}  // namespace tollgate::postgres

#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/sqlite/append_event.hpp>
#include <tollgate/store/detail/sqlite/delivery_columns.hpp>
#include <tollgate/store/detail/sqlite/remove_deliveries.hpp>
#include <tollgate/store/detail/sqlite/store_impl.hpp>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace tollgate::inline v0::sqlite::detail {

/// One `complete` call, within its transaction.
class completing {
public:
    completing(database& on, instant now, std::unordered_map<hook_id, unsigned>& ended) : on_{on}, now_{now}, ended_{ended} {}

    result<completion> complete(const attempt_result& ended) {
        using enum delivery_outcome;
        const delivery_id id = ended.lease.delivery;
        auto row = on_.prepare(
                          "SELECT hook, lease_open AND lease_number = ?2, resend_asked, disabled_at IS NOT NULL, "
                          "failing_since, last_failure_at "
                          "FROM tollgate_deliveries JOIN tollgate_hooks ON tollgate_hooks.id = hook "
                          "WHERE tollgate_deliveries.id = ?1 AND service <> ''",
                          id, ended.lease.number)
                       .next<hook_id, bool, bool, bool, std::optional<instant>, std::optional<instant>>();
        if (!row) return std::move(row).error();
        if (!*row) return completion::too_late;
        auto& [hook, in_time, resent, was_disabled, failing_since, last_failure_at] = **row;
        if (ended.outcome == not_attempted) {
            if (!in_time) return completion::too_late;
            if (auto done = give_back(id, ended.retry_at, was_disabled); !done) return std::move(done).error();
            if (auto done = queue_no_later_than(on_, hook, ended.retry_at); !done) return std::move(done).error();
            return completion::done;
        }
        if (auto done = record(hook, ended); !done) return std::move(done).error();
        if (!in_time) return completion::too_late;

        auto moved = resent                                   ? resend(id, was_disabled)
                     : ended.outcome == retry && !was_disabled ? send_again(id, ended.retry_at)
                                                               : end(id, ended.outcome);
        if (!moved) return std::move(moved).error();
        if (!was_disabled && (resent || ended.outcome == retry))
            if (auto done = queue_no_later_than(on_, hook, resent ? now_ : ended.retry_at); !done)
                return std::move(done).error();
        if (!resent && ended.outcome != retry)
            if (auto done = count_ended(hook); !done) return std::move(done).error();

        const auto since_before = failing_since, last_before = last_failure_at;
        const auto& bound = ended.disable_if_failing_since;
        if (ended.outcome == delivered) {
            failing_since.reset();
        } else if (!failing_since || !last_failure_at || (bound && *last_failure_at < *bound)) {
            failing_since = last_failure_at = ended.attempt.at;
        } else {
            last_failure_at = (std::max)(*last_failure_at, ended.attempt.at);
        }
        std::optional<disable_reason> reason;
        if (ended.outcome == gone) reason = disable_reason::gone;
        else if (failing_since && bound && *failing_since <= *bound)
            reason = disable_reason::failing;
        if (failing_since != since_before || last_failure_at != last_before)
            if (auto done = on_.run("UPDATE tollgate_hooks SET failing_since = ?, last_failure_at = ? WHERE id = ?",
                                    failing_since, last_failure_at, hook);
                !done)
                return std::move(done).error();
        if (was_disabled || !reason) return completion::done;
        if (auto done = disable(hook, *reason); !done) return std::move(done).error();
        return completion::hook_disabled;
    }

private:
    result<void> record(hook_id hook, const attempt_result& ended) {
        const attempt& attempt = ended.attempt;
        if (auto done =
                on_.run("INSERT INTO tollgate_attempts (delivery, hook, began_at, duration, outcome, status, answer, request) "
                        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                        ended.lease.delivery, hook, attempt.at, std::int64_t{attempt.duration.count()}, attempt.end,
                        std::int64_t{attempt.status}, blob_text{attempt.response}, blob_text{attempt.request});
            !done)
            return done;
        return on_.run(
            "DELETE FROM tollgate_attempts WHERE id IN (SELECT id FROM tollgate_attempts WHERE delivery = ? "
            "ORDER BY id DESC LIMIT -1 OFFSET ?)",
            ended.lease.delivery, limits::attempts_per_delivery_max);
    }

    result<void> send_again(delivery_id id, instant at) {
        return on_.run(
            "UPDATE tollgate_deliveries SET attempts_made = attempts_made + 1, lease_open = 0, "
            "leased_until = NULL, due_at = ? WHERE id = ?",
            at, id);
    }

    result<void> give_back(delivery_id id, instant at, bool held) {
        if (held)
            return on_.run(
                "UPDATE tollgate_deliveries SET lease_open = 0, leased_until = NULL, due_at = NULL, ended_at = ?, "
                "state = ? WHERE id = ?",
                now_, delivery_state::held, id);
        return on_.run("UPDATE tollgate_deliveries SET lease_open = 0, leased_until = NULL, due_at = ? WHERE id = ?", at,
                       id);
    }

    /// It was resent while it was in flight.
    result<void> resend(delivery_id id, bool is_disabled) {
        if (is_disabled)
            return on_.run(
                "UPDATE tollgate_deliveries SET attempts_made = 0, resend_asked = 0, lease_open = 0, "
                "leased_until = NULL, due_at = NULL, ended_at = ?, state = 'held' WHERE id = ?",
                now_, id);
        return on_.run(
            "UPDATE tollgate_deliveries SET attempts_made = 0, resend_asked = 0, lease_open = 0, "
            "leased_until = NULL, due_at = ? WHERE id = ?",
            now_, id);
    }

    result<void> end(delivery_id id, delivery_outcome outcome) {
        using enum delivery_state;
        const delivery_state state = outcome == delivery_outcome::delivered ? delivered
                                     : outcome == delivery_outcome::retry   ? held
                                                                            : given_up;
        return on_.run(
            "UPDATE tollgate_deliveries SET attempts_made = attempts_made + 1, lease_open = 0, "
            "leased_until = NULL, due_at = NULL, ended_at = ?, state = ? WHERE id = ?",
            now_, state, id);
    }

    /// Finding the rows beyond the bound scans all kept ones, so it is done rarely. It removes more than were added
    /// since, which covers deliveries of other processes.
    result<void> count_ended(hook_id hook) {
        constexpr unsigned interval = 100;
        constexpr std::size_t hooks_counted_max = 10'000;
        if (ended_.size() > hooks_counted_max) ended_.clear();
        if (++ended_[hook] < interval) return {};
        ended_[hook] = 0;
        return remove_ended_beyond(on_, hook, limits::ended_deliveries_per_hook_max, std::size_t{2} * interval);
    }

    result<void> disable(hook_id hook, disable_reason reason) {
        if (auto done =
                on_.run("UPDATE tollgate_hooks SET disabled_at = ?, disable_reason = ? WHERE id = ?", now_, reason, hook);
            !done)
            return done;
        return on_.run(
            "UPDATE tollgate_deliveries SET state = 'held', due_at = NULL, ended_at = ? "
            "WHERE hook = ? AND due_at IS NOT NULL",
            now_, hook);
    }

    database& on_;
    const instant now_;
    std::unordered_map<hook_id, unsigned>& ended_;
};

}  // namespace tollgate::sqlite::detail

namespace tollgate::inline v0 {

TOLLGATE_DECL result<std::vector<completion>> sqlite_store::complete(std::span<const attempt_result> ended,
                                                                     instant now) noexcept {
    if (ended.empty()) return std::vector<completion>{};
    return impl_->database.transact([&](sqlite::database& on) -> result<std::vector<completion>> {
        std::vector<completion> results;
        results.reserve(ended.size());
        sqlite::detail::completing completing{on, now, impl_->ended_deliveries};
        for (const attempt_result& each : ended) {
            auto result = completing.complete(each);
            if (!result) return std::move(result).error();
            results.push_back(*result);
        }
        return results;
    });
}

}  // namespace tollgate

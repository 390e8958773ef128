#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_COMPLETIONS_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_COMPLETIONS_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/sql/history_trim.hpp>
#include <tollgate/store/detail/sqlite/append_event.hpp>
#include <tollgate/store/detail/sql/delivery_columns.hpp>
#include <tollgate/store/detail/sqlite/remove_deliveries.hpp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace tollgate::inline v0::sqlite::detail {

/// A `complete` call, within its transaction.
class completing {
public:
    completing(database& on, instant now) : on_{on}, now_{now} {}

    result<completion> complete(const attempt_result& ended) {
        const delivery_id id = ended.lease.delivery;
        auto row = on_.prepare(
                          "SELECT hook_id, lease_is_open AND lease_number = ?2, attempts_made, resend_asked, disabled_at, "
                          "disable_reason, failing_since, last_failure_at, target_url "
                          "FROM tollgate_deliveries JOIN tollgate_hooks ON tollgate_hooks.id = hook_id "
                          "WHERE tollgate_deliveries.id = ?1 AND account_id <> 0",
                          id, ended.lease.number)
                       .next<hook_id, bool, std::int64_t, bool, std::optional<instant>, std::optional<disable_reason>,
                             std::optional<instant>, std::optional<instant>, std::string>();
        if (!row) return std::move(row).error();
        if (!*row) return completion::too_late;
        const auto& [hook, in_time, attempts_made, resend_asked, disabled_at, reason, failing_since, last_failure_at, target_url] = **row;
        if (ended.outcome != delivery_outcome::not_attempted)
            if (auto done = record(hook, ended); !done) return std::move(done).error();
        if (!in_time) return completion::too_late;

        const leased_delivery before{static_cast<unsigned>(attempts_made), resend_asked,
                                     {sql::to_disablement(disabled_at, reason), failing_since, last_failure_at}, target_url};
        const completed_delivery after = complete_delivery(before, ended, now_);
        if (auto done = write(id, after); !done) return std::move(done).error();
        if (after.state == delivery_state::waiting)
            if (auto done = queue_no_later_than(on_, hook, after.at); !done) return std::move(done).error();
        if (sql::trims_history(id, after.state))
            if (auto done = remove_ended_beyond(on_, hook, limits::ended_deliveries_per_hook_max, sql::trimmed_rows_max); !done)
                return std::move(done).error();
        if (after.hook != before.hook)
            if (auto done = write(hook, after.hook); !done) return std::move(done).error();
        if (after.result == completion::hook_disabled)
            if (auto done = hold_waiting(hook); !done) return std::move(done).error();
        return after.result;
    }

private:
    result<void> record(hook_id hook, const attempt_result& ended) {
        const attempt& attempt = ended.attempt;
        if (auto done =
                on_.run("INSERT INTO tollgate_attempts (delivery_id, hook_id, at, duration, ended, status, answer, request, cause) "
                        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        ended.lease.delivery, hook, attempt.at, attempt.duration, attempt.end, std::int64_t{attempt.status},
                        sql::raw_bytes{attempt.response}, sql::raw_bytes{attempt.request}, attempt.cause);
            !done)
            return done;
        return on_.run(
            "DELETE FROM tollgate_attempts WHERE id IN (SELECT id FROM tollgate_attempts WHERE delivery_id = ? "
            "ORDER BY id DESC LIMIT -1 OFFSET ?)",
            ended.lease.delivery, limits::attempts_per_delivery_max);
    }

    result<void> write(delivery_id id, const completed_delivery& after) {
        return on_.run(
            "UPDATE tollgate_deliveries SET state = ?, at = ?, attempts_made = ?, resend_asked = false, is_leased = false, "
            "lease_is_open = false WHERE id = ?",
            after.state, after.at, std::int64_t{after.attempts_made}, id);
    }

    result<void> write(hook_id id, const hook_status& after) {
        const auto& disabled = after.disabled;
        return on_.run(sql::statements::set_hook_status, after.failing_since, after.last_failure_at,
                       disabled ? std::optional{disabled->at} : std::nullopt, disabled ? std::optional{disabled->reason} : std::nullopt,
                       id);
    }

    /// At most `changed_rows_max`; `lease` holds the others when they are due.
    result<void> hold_waiting(hook_id hook) { return on_.run(sql::statements::hold_waiting, now_, hook, changed_rows_max); }

    database& on_;
    const instant now_;
};

}  // namespace tollgate::sqlite::detail

namespace tollgate::inline v0::sqlite_detail {

/// Verbs of `outbox`.
struct completion_verbs : verbs {
    using verbs::verbs;

    result<std::vector<completion>> complete(std::span<const attempt_result> ended, instant now) noexcept {
        if (ended.empty()) return std::vector<completion>{};
        return impl_->database.transact([&](sqlite::database& on) -> result<std::vector<completion>> {
            std::vector<completion> results;
            results.reserve(ended.size());
            sqlite::detail::completing completing{on, now};
            for (const attempt_result& each : ended) {
                auto result = completing.complete(each);
                if (!result) return std::move(result).error();
                results.push_back(*result);
            }
            return results;
        });
    }
};

}  // namespace tollgate::sqlite_detail

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_COMPLETIONS_IPP

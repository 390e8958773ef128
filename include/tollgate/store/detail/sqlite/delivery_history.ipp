#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_DELIVERY_HISTORY_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_DELIVERY_HISTORY_IPP

#include <tollgate/store/store_error.hpp>
#include <tollgate/store/detail/sql/delivery_columns.hpp>
#include <tollgate/store/detail/sqlite/append_event.hpp>
#include <tollgate/store/detail/sqlite/remove_deliveries.hpp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace tollgate::inline v0 {

namespace sqlite::detail {

/// Enables a hook in steps, one transaction each, so that others can write between them. Until the last one the hook is disabled, and
/// nothing is sent.
class enabling_steps {
public:
    enabling_steps(const account_ref& account, hook_id hook, instant now) : account_{account}, hook_{hook}, now_{now} {}

    /// Returns the result of the change; empty if there is more to do.
    result<std::optional<bool>> step(database& on) {
        const auto is_disabled = is_hook_disabled(on, account_, hook_);
        if (!is_disabled) return is_disabled.error();
        if (!*is_disabled) return std::optional{false};
        if (**is_disabled) {
            const auto may_be_more = release_held(on);
            if (!may_be_more) return may_be_more.error();
            // If the last step never comes, `lease` holds them again.
            const instant ready_at = *may_be_more ? now_ + std::chrono::minutes{1} : now_;
            if (auto done = queue_no_later_than(on, hook_, ready_at); !done) return std::move(done).error();
            if (*may_be_more) return std::optional<bool>{};
        }
        return on.run("UPDATE tollgate_hooks SET disabled_at = NULL, disable_reason = NULL, failing_since = NULL WHERE id = ?", hook_)
            .transform([] { return std::optional{true}; });
    }

private:
    /// One time for all, so that they are sent in the order of their ids: the earliest of calls that have not finished, so that what
    /// they have released need not be changed again.
    result<instant> release_time(database& on) const {
        const auto earlier = sql::read_value<instant>(
            on.prepare("SELECT at FROM tollgate_deliveries INDEXED BY tollgate_deliveries_of_hook_pending WHERE hook_id = ?1 "
                       "AND state = 0 AND NOT is_leased AND attempts_made = 0 AND at <= ?2 "
                       "AND at > (SELECT disabled_at FROM tollgate_hooks WHERE id = ?1) ORDER BY at LIMIT 1",
                       hook_, now_));
        if (!earlier) return earlier.error();
        return earlier->value_or(now_);
    }

    /// Makes `changed_rows_max` deliveries due. False if there are no more. Those that wait count as held, because not all may be yet,
    /// and so do those whose lease has ended.
    result<bool> release_held(database& on) {
        const auto due_at = release_time(on);
        if (!due_at) return due_at.error();
        const auto released = sql::read_all(
            on.prepare("UPDATE tollgate_deliveries SET state = 0, at = ?5, is_leased = false, lease_is_open = false, "
                       "attempts_made = 0, resend_asked = false WHERE id IN "
                       "(SELECT id FROM tollgate_deliveries INDEXED BY tollgate_deliveries_by_hook WHERE hook_id = ?1 AND id > ?3 "
                       "AND (state = 3 OR (state = 0 AND is_leased AND (at <= ?2 OR at > ?6)) "
                       "OR (state = 0 AND NOT is_leased AND (at <> ?5 OR attempts_made > 0))) "
                       "ORDER BY id LIMIT ?4) RETURNING id",
                       hook_, now_, last_released_, changed_rows_max, *due_at, latest_due(now_)),
            [](sql::row_number id) { return id; });
        if (!released) return released.error();
        const bool started_at_first = last_released_ == 0;
        const bool is_full = released->size() == changed_rows_max;
        // Before the last step, all are looked at again: `lease` may have held some meanwhile.
        last_released_ = is_full ? *std::max_element(released->begin(), released->end()) : 0;
        return is_full || !started_at_first;
    }

    const account_ref& account_;
    hook_id hook_;
    instant now_;
    sql::row_number last_released_ = 0;
};

}  // namespace sqlite::detail

namespace sqlite_detail {

/// The part of `change_hook` that enables a hook.
inline result<bool> enable_hook(store_state& store, const account_ref& account, hook_id id, const hook_enabling& enabling) noexcept {
    const auto end = store.database.deadline_from_now();
    sqlite::detail::enabling_steps steps{account, id, enabling.now};
    for (;;) {
        const auto enabled = store.database.transact([&](sqlite::database& on) { return steps.step(on); }, end);
        if (!enabled) return enabled.error();
        if (*enabled) return **enabled;
        // A later call goes on from here.
        if (std::chrono::steady_clock::now() >= *end)
            return unavailable("SQLite: the webhook has so many deliveries that it could not be enabled yet");
    }
}

/// Verbs of `outbox`.
struct delivery_verbs : verbs {
    using verbs::verbs;

    result<std::vector<listed_delivery>> deliveries_of(const account_ref& account, const delivery_query& query) noexcept {
        const sql::delivery_range ids{query};
        return impl_->database.read([&](sqlite::database& on) -> result<std::vector<listed_delivery>> {
            // Until all is read, so that it comes from one snapshot of the file.
            auto rows = on.prepare(sql::statements::list_deliveries, query.hook, account.service, account.account, ids.before, ids.first,
                                   ids.last, query.state, query.rows_max);
            auto listed = sql::read_all(rows, sql::to_delivery(query.hook));
            if (!listed || query.attempts_max == 0) return listed;
            for (listed_delivery& each : *listed) {
                auto attempts = sql::read_all(
                    on.prepare("SELECT at, duration, ended, status, answer, request, cause FROM tollgate_attempts "
                               "WHERE delivery_id = ? ORDER BY id DESC LIMIT ?",
                               each.delivery.id, query.attempts_max),
                    sql::to_attempt);
                if (!attempts) return std::move(attempts).error();
                each.attempts = *std::move(attempts);
            }
            return listed;
        });
    }

    result<std::size_t> resend(const account_ref& account, delivery_id id, instant now) noexcept {
        return impl_->database.transact([&](sqlite::database& on) -> result<std::size_t> {
            auto row = on.prepare(
                             "SELECT disabled_at IS NOT NULL, state = 0 AND is_leased AND at > ?2 AND at <= ?5, hook_id "
                             "FROM tollgate_deliveries JOIN tollgate_hooks ON tollgate_hooks.id = hook_id "
                             "WHERE tollgate_deliveries.id = ?1 AND service = ?3 AND account_id = ?4",
                             id, now, account.service, account.account, latest_due(now))
                           .next<bool, bool, hook_id>();
            if (!row) return std::move(row).error();
            if (!*row) return std::size_t{0};
            const auto& [is_disabled, being_sent, hook] = **row;
            if (is_disabled) return hook_is_disabled();
            if (being_sent)  // `complete` sees that it is to be sent again
                return on.run("UPDATE tollgate_deliveries SET resend_asked = true, attempts_made = 0 WHERE id = ?", id)
                    .transform([] { return std::size_t{1}; });
            if (auto done = on.run("UPDATE tollgate_deliveries SET state = 0, at = ?, is_leased = false, lease_is_open = false, "
                                   "attempts_made = 0, resend_asked = false WHERE id = ?",
                                   now, id);
                !done)
                return std::move(done).error();
            return sqlite::queue_no_later_than(on, hook, now).transform([] { return std::size_t{1}; });
        });
    }

    result<std::size_t> resend(const account_ref& account, const given_up_deliveries& resent, instant now) noexcept {
        return impl_->database.transact([&](sqlite::database& on) -> result<std::size_t> {
            auto is_disabled = sqlite::is_hook_disabled(on, account, resent.hook);
            if (!is_disabled) return std::move(is_disabled).error();
            if (!*is_disabled) return std::size_t{0};
            if (**is_disabled) return hook_is_disabled();
            if (auto done = on.run("UPDATE tollgate_deliveries SET state = 0, at = ?1, is_leased = false, lease_is_open = false, "
                                   "attempts_made = 0, resend_asked = false WHERE id IN "
                                   "(SELECT id FROM tollgate_deliveries WHERE hook_id = ?2 AND state IN (1, 2) "
                                   "AND state = 2 AND created_at >= ?3 ORDER BY id LIMIT ?4)",
                                   now, resent.hook, resent.since, resent.rows_max);
                !done)
                return std::move(done).error();
            const auto count = static_cast<std::size_t>(on.changes());
            if (count == 0) return count;
            return sqlite::queue_no_later_than(on, resent.hook, now).transform([count] { return count; });
        });
    }

    result<std::size_t> sweep_deliveries(instant ended_before, std::size_t rows_max) noexcept {
        const auto sweep = [&](sqlite::database& on) -> result<std::size_t> {
            auto of_deleted = sqlite::remove_deliveries_of_deleted(on, rows_max);
            if (!of_deleted) return of_deleted;
            auto ended = sqlite::remove_ended_before(on, ended_before, rows_max - *of_deleted);
            if (!ended) return ended;
            return *of_deleted + *ended;
        };
        return impl_->change_if("SELECT EXISTS (SELECT 1 FROM tollgate_deliveries WHERE state <> 0 AND at < ?1) "
                         "OR EXISTS (SELECT 1 FROM tollgate_hooks WHERE account_id = 0)",
                         sweep, ended_before);
    }

    result<std::size_t> resend(const account_ref& account, const resend_request& resent, instant now) noexcept {
        return std::visit([&](const auto& each) { return resend(account, each, now); }, resent);
    }
};

}  // namespace sqlite_detail

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_DELIVERY_HISTORY_IPP

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_DELIVERY_HISTORY_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_DELIVERY_HISTORY_IPP

#include <tollgate/store/store_error.hpp>
#include <tollgate/store/detail/sqlite/delivery_columns.hpp>
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

TOLLGATE_DECL result<std::vector<listed_delivery>> sqlite_store::deliveries_of(const account_ref& account,
                                                                               const delivery_query& query) noexcept {
    constexpr auto any = (std::numeric_limits<std::int64_t>::max)();
    return impl_->database.read([&](sqlite::database& on) -> result<std::vector<listed_delivery>> {
        // Until all is read, so that it comes from one snapshot of the file. A disabled hook's waiting deliveries are listed as held,
        // although not all of them are yet.
        auto rows = on.prepare(
            "SELECT listed.id, name, message_id, created_at, shown, attempts_made, "
            "CASE shown WHEN 'waiting' THEN coalesce(due_at, leased_until) END FROM ("
            "SELECT tollgate_deliveries.*, CASE WHEN due_at IS NOT NULL AND disabled_at IS NOT NULL THEN 'held' "
            "ELSE state END AS shown FROM tollgate_deliveries JOIN tollgate_hooks ON tollgate_hooks.id = hook "
            "WHERE hook = ?1 AND service = ?2 AND account = ?3) AS listed "
            "JOIN tollgate_events ON tollgate_events.id = listed.event "
            "WHERE listed.id < ?5 AND listed.id BETWEEN ?7 AND ?8 AND (?6 IS NULL OR shown = ?6) ORDER BY listed.id DESC LIMIT ?4",
            query.hook, account.service, account.account, query.rows_max, query.older_than ? query.older_than->value() : any, query.state,
            query.delivery ? query.delivery->value() : 0, query.delivery ? query.delivery->value() : any);
        auto listed = sql::read_all(rows, sql::to_delivery<public_id>(query.hook));
        if (!listed || query.attempts_max == 0) return listed;
        for (listed_delivery& each : *listed) {
            auto attempts = sql::read_all(
                on.prepare("SELECT began_at, duration, outcome, status, answer, request, cause FROM tollgate_attempts "
                           "WHERE delivery = ? ORDER BY id DESC LIMIT ?",
                           each.delivery.id, query.attempts_max),
                sql::to_attempt);
            if (!attempts) return std::move(attempts).error();
            each.attempts = *std::move(attempts);
        }
        return listed;
    });
}

TOLLGATE_DECL result<std::size_t> sqlite_store::impl::resend(const account_ref& account, delivery_id id, instant now) noexcept {
    return database.transact([&](sqlite::database& on) -> result<std::size_t> {
        auto row = on.prepare(
                         "SELECT disabled_at IS NOT NULL, coalesce(leased_until > ?2 AND leased_until <= ?5, 0), hook "
                         "FROM tollgate_deliveries JOIN tollgate_hooks ON tollgate_hooks.id = hook "
                         "WHERE tollgate_deliveries.id = ?1 AND service = ?3 AND account = ?4",
                         id, now, account.service, account.account, latest_due(now))
                       .next<bool, bool, hook_id>();
        if (!row) return std::move(row).error();
        if (!*row) return std::size_t{0};
        const auto& [is_disabled, being_sent, hook] = **row;
        if (is_disabled) return hook_is_disabled();
        if (being_sent)  // `complete` sees that it is to be sent again
            return on.run("UPDATE tollgate_deliveries SET resend_asked = 1, attempts_made = 0 WHERE id = ?", id)
                .transform([] { return std::size_t{1}; });
        if (auto done = on.run("UPDATE tollgate_deliveries SET state = 'waiting', due_at = ?, leased_until = NULL, "
                               "ended_at = NULL, lease_open = 0, attempts_made = 0, resend_asked = 0 WHERE id = ?",
                               now, id);
            !done)
            return std::move(done).error();
        return sqlite::queue_no_later_than(on, hook, now).transform([] { return std::size_t{1}; });
    });
}

TOLLGATE_DECL result<std::size_t> sqlite_store::impl::resend(const account_ref& account, const given_up_deliveries& resent,
                                                             instant now) noexcept {
    return database.transact([&](sqlite::database& on) -> result<std::size_t> {
        auto is_disabled = sqlite::is_hook_disabled(on, account, resent.hook);
        if (!is_disabled) return std::move(is_disabled).error();
        if (!*is_disabled) return std::size_t{0};
        if (**is_disabled) return hook_is_disabled();
        if (auto done = on.run("UPDATE tollgate_deliveries SET state = 'waiting', due_at = ?1, leased_until = NULL, "
                               "ended_at = NULL, lease_open = 0, attempts_made = 0, resend_asked = 0 WHERE id IN "
                               "(SELECT id FROM tollgate_deliveries WHERE hook = ?2 AND ended_at IS NOT NULL AND state <> 'held' "
                               "AND state = 'given_up' AND created_at >= ?3 ORDER BY id LIMIT ?4)",
                               now, resent.hook, resent.since, resent.rows_max);
            !done)
            return std::move(done).error();
        const auto count = static_cast<std::size_t>(on.changes());
        if (count == 0) return count;
        return sqlite::queue_no_later_than(on, resent.hook, now).transform([count] { return count; });
    });
}

TOLLGATE_DECL result<std::size_t> sqlite_store::resend(const account_ref& account, const resend_request& resent, instant now) noexcept {
    return std::visit([&](const auto& each) { return impl_->resend(account, each, now); }, resent);
}

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
            on.prepare("SELECT due_at FROM tollgate_deliveries INDEXED BY tollgate_deliveries_pending WHERE hook = ?1 "
                       "AND ended_at IS NULL AND due_at IS NOT NULL AND attempts_made = 0 AND coalesce(due_at, leased_until) <= ?2 "
                       "AND coalesce(due_at, leased_until) > (SELECT disabled_at FROM tollgate_hooks WHERE id = ?1) "
                       "ORDER BY coalesce(due_at, leased_until) LIMIT 1",
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
            on.prepare("UPDATE tollgate_deliveries SET state = 'waiting', due_at = ?5, leased_until = NULL, ended_at = NULL, "
                       "lease_open = 0, attempts_made = 0, resend_asked = 0 WHERE id IN "
                       "(SELECT id FROM tollgate_deliveries INDEXED BY tollgate_deliveries_by_hook WHERE hook = ?1 AND id > ?3 "
                       "AND (state = 'held' OR leased_until <= ?2 OR leased_until > ?6 "
                       "OR due_at <> ?5 OR (due_at IS NOT NULL AND attempts_made > 0)) "
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

TOLLGATE_DECL result<bool> sqlite_store::impl::change_hook(const account_ref& account, hook_id id, const hook_enabling& enabling) noexcept {
    const auto end = database.deadline_from_now();
    sqlite::detail::enabling_steps steps{account, id, enabling.now};
    for (;;) {
        const auto enabled = database.transact([&](sqlite::database& on) { return steps.step(on); }, end);
        if (!enabled) return enabled.error();
        if (*enabled) return **enabled;
        // A later call goes on from here.
        if (std::chrono::steady_clock::now() >= *end)
            return unavailable("SQLite: the webhook has so many deliveries that it could not be enabled yet");
    }
}

TOLLGATE_DECL result<std::size_t> sqlite_store::impl::sweep_deliveries(instant ended_before, std::size_t rows_max) noexcept {
    const auto sweep = [&](sqlite::database& on) -> result<std::size_t> {
        auto of_deleted = sqlite::remove_deliveries_of_deleted(on, rows_max);
        if (!of_deleted) return of_deleted;
        auto ended = sqlite::remove_ended_before(on, ended_before, rows_max - *of_deleted);
        if (!ended) return ended;
        return *of_deleted + *ended;
    };
    return change_if("SELECT EXISTS (SELECT 1 FROM tollgate_deliveries WHERE ended_at < ?1) "
                     "OR EXISTS (SELECT 1 FROM tollgate_hooks WHERE service = '')",
                     sweep, ended_before);
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_DELIVERY_HISTORY_IPP

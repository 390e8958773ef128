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

namespace tollgate::inline v0 {

TOLLGATE_DECL result<std::vector<delivery>> sqlite_store::deliveries_of(const account_ref& account, hook_id hook, std::size_t rows_max,
                                                                        std::optional<delivery_id> before,
                                                                         std::optional<delivery_state> state) noexcept {
    return impl_->read_all(sql::to_delivery<public_id>(hook),
                           // A disabled hook's waiting deliveries are listed as held, although not all of them are yet.
                           "SELECT listed.id, name, message_id, created_at, shown, attempts_made, "
                           "CASE shown WHEN 'waiting' THEN coalesce(due_at, leased_until) END FROM ("
                           "SELECT tollgate_deliveries.*, CASE WHEN due_at IS NOT NULL AND disabled_at IS NOT NULL THEN 'held' "
                           "ELSE state END AS shown FROM tollgate_deliveries JOIN tollgate_hooks ON tollgate_hooks.id = hook "
                           "WHERE hook = ?1 AND service = ?2 AND account = ?3) AS listed "
                           "JOIN tollgate_events ON tollgate_events.id = listed.event "
                           "WHERE listed.id < ?5 AND (?6 IS NULL OR shown = ?6) ORDER BY listed.id DESC LIMIT ?4",
                           hook, account.service, account.account, rows_max,
                           before ? before->value() : (std::numeric_limits<std::int64_t>::max)(), state);
}

TOLLGATE_DECL result<std::vector<recorded_attempt>> sqlite_store::attempts_of(const account_ref& account, hook_id hook,
                                                                              std::size_t rows_max,
                                                                               std::optional<delivery_id> made_for) noexcept {
    const auto make = sql::to_attempt<public_id>(hook);
    // The unary plus keeps SQLite from scanning all of the hook's rows for one delivery.
    if (made_for)
        return impl_->read_all(make,
                               "SELECT delivery, name, message_id, began_at, duration, outcome, status, answer, request, cause "
                               "FROM tollgate_attempts JOIN tollgate_deliveries ON tollgate_deliveries.id = delivery "
                               "JOIN tollgate_events ON tollgate_events.id = tollgate_deliveries.event "
                               "WHERE delivery = ?5 AND +tollgate_attempts.hook = ?1 "
                               "AND EXISTS (SELECT 1 FROM tollgate_hooks WHERE id = ?1 AND service = ?2 AND account = ?3) "
                               "ORDER BY tollgate_attempts.id DESC LIMIT ?4",
                               hook, account.service, account.account, rows_max, *made_for);
    return impl_->read_all(make,
                           "SELECT delivery, name, message_id, began_at, duration, outcome, status, answer, request, cause "
                           "FROM tollgate_attempts JOIN tollgate_deliveries ON tollgate_deliveries.id = delivery "
                           "JOIN tollgate_events ON tollgate_events.id = tollgate_deliveries.event "
                           "WHERE tollgate_attempts.hook = ?1 "
                           "AND EXISTS (SELECT 1 FROM tollgate_hooks WHERE id = ?1 AND service = ?2 AND account = ?3) "
                           "ORDER BY tollgate_attempts.id DESC LIMIT ?4",
                           hook, account.service, account.account, rows_max);
}

TOLLGATE_DECL result<bool> sqlite_store::resend(const account_ref& account, delivery_id id, instant now) noexcept {
    return impl_->database.transact([&](sqlite::database& on) -> result<bool> {
        auto row = on.prepare(
                         "SELECT disabled_at IS NOT NULL, coalesce(leased_until > ?2 AND leased_until <= ?5, 0), hook "
                         "FROM tollgate_deliveries JOIN tollgate_hooks ON tollgate_hooks.id = hook "
                         "WHERE tollgate_deliveries.id = ?1 AND service = ?3 AND account = ?4",
                         id, now, account.service, account.account, latest_due(now))
                       .next<bool, bool, hook_id>();
        if (!row) return std::move(row).error();
        if (!*row) return false;
        const auto& [is_disabled, being_sent, hook] = **row;
        if (is_disabled) return hook_is_disabled();
        if (being_sent)  // `complete` sees that it is to be sent again
            return on.run("UPDATE tollgate_deliveries SET resend_asked = 1, attempts_made = 0 WHERE id = ?", id)
                .transform([] { return true; });
        if (auto done = on.run("UPDATE tollgate_deliveries SET state = 'waiting', due_at = ?, leased_until = NULL, "
                               "ended_at = NULL, lease_open = 0, attempts_made = 0, resend_asked = 0 WHERE id = ?",
                               now, id);
            !done)
            return std::move(done).error();
        return sqlite::queue_no_later_than(on, hook, now).transform([] { return true; });
    });
}

TOLLGATE_DECL result<std::size_t> sqlite_store::resend_given_up(const account_ref& account, hook_id hook, instant since,
                                                                std::size_t rows_max, instant now) noexcept {
    return impl_->database.transact([&](sqlite::database& on) -> result<std::size_t> {
        auto is_disabled = sqlite::is_hook_disabled(on, account, hook);
        if (!is_disabled) return std::move(is_disabled).error();
        if (!*is_disabled) return std::size_t{0};
        if (**is_disabled) return hook_is_disabled();
        if (auto done = on.run("UPDATE tollgate_deliveries SET state = 'waiting', due_at = ?1, leased_until = NULL, "
                               "ended_at = NULL, lease_open = 0, attempts_made = 0, resend_asked = 0 WHERE id IN "
                               "(SELECT id FROM tollgate_deliveries WHERE hook = ?2 AND ended_at IS NOT NULL AND state <> 'held' "
                               "AND state = 'given_up' AND created_at >= ?3 ORDER BY id LIMIT ?4)",
                               now, hook, since, rows_max);
            !done)
            return std::move(done).error();
        const auto count = static_cast<std::size_t>(on.changes());
        if (count == 0) return count;
        return sqlite::queue_no_later_than(on, hook, now).transform([count] { return count; });
    });
}

namespace sqlite::detail {

/// Enables a hook in steps, one transaction each, so that others can write between them. Until the last one the hook is disabled, and
/// nothing is sent.
class hook_enabling {
public:
    hook_enabling(const account_ref& account, hook_id hook, instant now) : account_{account}, hook_{hook}, now_{now} {}

    /// Returns the result of `enable_hook`; empty if there is more to do.
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

TOLLGATE_DECL result<bool> sqlite_store::enable_hook(const account_ref& account, hook_id id, instant now) noexcept {
    const auto end = impl_->database.deadline_from_now();
    sqlite::detail::hook_enabling enabling{account, id, now};
    for (;;) {
        const auto enabled = impl_->database.transact([&](sqlite::database& on) { return enabling.step(on); }, end);
        if (!enabled) return enabled.error();
        if (*enabled) return **enabled;
        // A later call goes on from here.
        if (std::chrono::steady_clock::now() >= *end)
            return unavailable("SQLite: the webhook has so many deliveries that it could not be enabled yet");
    }
}

TOLLGATE_DECL result<std::size_t> sqlite_store::sweep_deliveries(instant ended_before, std::size_t rows_max) noexcept {
    if (rows_max == 0) return std::size_t{0};
    const auto sweep = [&](sqlite::database& on) -> result<std::size_t> {
        auto of_deleted = sqlite::remove_deliveries_of_deleted(on, rows_max);
        if (!of_deleted) return of_deleted;
        auto ended = sqlite::remove_ended_before(on, ended_before, rows_max - *of_deleted);
        if (!ended) return ended;
        return *of_deleted + *ended;
    };
    return impl_->change_if("SELECT EXISTS (SELECT 1 FROM tollgate_deliveries WHERE ended_at < ?1) "
                            "OR EXISTS (SELECT 1 FROM tollgate_hooks WHERE service = '')",
                            sweep, ended_before);
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_DELIVERY_HISTORY_IPP

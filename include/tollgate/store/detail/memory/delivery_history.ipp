#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_DELIVERY_HISTORY_IPP
#define TOLLGATE_STORE_DETAIL_MEMORY_DELIVERY_HISTORY_IPP

#include <tollgate/store/detail/memory/outbox.hpp>
#include <tollgate/store/store_error.hpp>

#include <algorithm>
#include <iterator>

namespace tollgate::inline v0::memory {

TOLLGATE_DECL std::vector<delivery> outbox::deliveries_of(const account_ref& account, hook_id hook,
                                                          std::size_t rows_max,
                                                          std::optional<delivery_id> before,
                                                          std::optional<delivery_state> state) const {
    std::vector<delivery> found;
    const auto history = hook_rows_.find(hook);
    if (history == hook_rows_.end() || hooks_.find(account, hook) == nullptr) return found;
    const auto& ids = history->second.deliveries;
    if (!state) found.reserve((std::min)(rows_max, ids.size()));
    const auto end = before ? ids.lower_bound(*before) : ids.end();
    for (auto each = std::make_reverse_iterator(end); each != ids.rend() && found.size() < rows_max; ++each) {
        const row& one = rows_.at(*each);
        if (state && one.state != *state) continue;
        const bool waits = one.state == delivery_state::waiting;
        found.push_back({.id = one.id,
                         .hook = hook,
                         .event = one.event->reported.name,
                         .message_id = one.message_id,
                         .created_at = one.created_at,
                         .state = one.state,
                         .attempts_made = one.attempts_made,
                         .next_attempt_at = waits ? std::optional{one.at} : std::nullopt});
    }
    return found;
}

TOLLGATE_DECL std::vector<recorded_attempt> outbox::attempts_of(const account_ref& account, hook_id hook,
                                                                std::size_t rows_max,
                                                                std::optional<delivery_id> made_for) const {
    std::vector<recorded_attempt> found;
    const auto history = hook_rows_.find(hook);
    if (history == hook_rows_.end() || hooks_.find(account, hook) == nullptr) return found;
    const auto& attempts = history->second.attempts;
    const auto add = [&](const attempt_row& listed) {
        const row& one = rows_.at(listed.delivery);
        found.push_back({one.id, one.event->reported.name, one.message_id, listed.attempt});
    };
    if (made_for) {
        const auto which = rows_.find(*made_for);
        if (which == rows_.end() || which->second.hook != hook) return found;
        const auto& numbers = which->second.attempts;
        for (auto each = numbers.rbegin(); each != numbers.rend() && found.size() < rows_max; ++each)
            add(attempts.find(*each)->second);
        return found;
    }
    found.reserve((std::min)(rows_max, attempts.size()));
    for (auto each = attempts.rbegin(); each != attempts.rend() && found.size() < rows_max; ++each)
        add(each->second);
    return found;
}

TOLLGATE_DECL result<bool> outbox::resend(const account_ref& account, delivery_id id, instant now) {
    const auto found = rows_.find(id);
    if (found == rows_.end()) return false;
    row& which = found->second;
    const stored_hook* const to = hooks_.find(account, which.hook);
    if (to == nullptr) return false;
    if (to->status.disabled) return hook_is_disabled();
    const bool being_sent = which.kept_in == &which.to->leased && which.at > now && which.at <= latest_due(now);
    if (being_sent) {
        which.resend_requested = true;
        which.attempts_made = 0;
    } else {
        make_due(which, now);
    }
    return true;
}

TOLLGATE_DECL result<std::size_t> outbox::resend_given_up(const account_ref& account, hook_id hook, instant since,
                                                          std::size_t rows_max, instant now) {
    const stored_hook* const to = hooks_.find(account, hook);
    if (to == nullptr) return std::size_t{0};
    if (to->status.disabled) return hook_is_disabled();
    std::size_t count = 0;
    const auto history = hook_rows_.find(hook);
    if (history == hook_rows_.end()) return count;
    for (const delivery_id id : history->second.deliveries) {
        if (count == rows_max) break;
        row& which = rows_.at(id);
        if (which.state != delivery_state::given_up || which.created_at < since) continue;
        if (auto fits = expect_share(which.event->reported, {hook}); !fits) {
            if (count == 0) return std::move(fits).error();
            break;
        }
        make_due(which, now);
        ++count;
    }
    return count;
}

TOLLGATE_DECL bool outbox::enable_hook(const account_ref& account, hook_id id, instant now) noexcept {
    stored_hook* const which = hooks_.find(account, id);
    if (which == nullptr) return false;
    const bool was_disabled = which->status.disabled.has_value();
    which->status = {};
    const auto history = hook_rows_.find(id);
    if (history == hook_rows_.end()) return true;
    for (const delivery_id each : history->second.deliveries) {
        row& one = rows_.at(each);
        // Deliveries whose worker died are held, too, although no lease has noticed yet.
        const bool lease_over =
            was_disabled && one.kept_in == &one.to->leased && (one.at <= now || one.at > latest_due(now));
        if (one.state == delivery_state::held || lease_over) make_due(one, now);
    }
    return true;
}

TOLLGATE_DECL std::size_t outbox::sweep(instant ended_before, std::size_t rows_max) noexcept {
    std::size_t swept = forget_deleted(rows_max);
    for (timed_deliveries* each : {&ended_, &held_})
        for (; swept < rows_max && !each->empty() && each->begin()->at < ended_before; ++swept) remove(each->begin()->id);
    return swept;
}

}  // namespace tollgate::memory

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_DELIVERY_HISTORY_IPP

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_DELIVERY_HISTORY_IPP
#define TOLLGATE_STORE_DETAIL_MEMORY_DELIVERY_HISTORY_IPP

#include <tollgate/store/detail/memory/outbox.hpp>
#include <tollgate/store/store_error.hpp>

#include <iterator>
#include <tuple>
#include <variant>

namespace tollgate::inline v0::memory {

TOLLGATE_DECL std::vector<listed_delivery> outbox::deliveries_of(const account_ref& account, const delivery_query& query) const {
    std::vector<listed_delivery> found;
    const auto history = hook_rows_.find(query.hook);
    if (history == hook_rows_.end() || hooks_.find(account, query.hook) == nullptr) return found;
    const auto& [ids, attempts] = std::tie(history->second.deliveries, history->second.attempts);
    const auto end = query.delivery ? ids.upper_bound(*query.delivery) : query.older_than ? ids.lower_bound(*query.older_than) : ids.end();
    for (auto each = std::make_reverse_iterator(end); each != ids.rend() && found.size() < query.rows_max; ++each) {
        if (query.delivery && *each != *query.delivery) break;
        const row& one = rows_.at(*each);
        if ((query.state && one.state != *query.state) || (query.older_than && one.id >= *query.older_than)) continue;
        const bool waits = one.state == delivery_state::waiting;
        auto& listed = found.emplace_back(delivery{.id = one.id,
                                                   .hook = query.hook,
                                                   .event = one.event->reported.name,
                                                   .message_id = one.message_id,
                                                   .created_at = one.created_at,
                                                   .state = one.state,
                                                   .attempts_made = one.attempts_made,
                                                   .next_attempt_at = waits ? std::optional{one.at} : std::nullopt});
        for (auto last = one.attempts.rbegin(); last != one.attempts.rend() && listed.attempts.size() < query.attempts_max; ++last)
            listed.attempts.push_back(attempts.find(*last)->second.attempt);
    }
    return found;
}

TOLLGATE_DECL result<std::size_t> outbox::resend(const account_ref& account, const resend_request& resent, instant now) {
    return std::visit([&](const auto& each) { return resend(account, each, now); }, resent);
}

TOLLGATE_DECL result<std::size_t> outbox::resend(const account_ref& account, delivery_id id, instant now) {
    const auto found = rows_.find(id);
    if (found == rows_.end()) return std::size_t{0};
    row& which = found->second;
    const stored_hook* const to = hooks_.find(account, which.hook);
    if (to == nullptr) return std::size_t{0};
    if (to->status.disabled) return hook_is_disabled();
    const bool being_sent = which.kept_in == &which.to->leased && which.at > now && which.at <= latest_due(now);
    if (being_sent) {
        which.resend_requested = true;
        which.attempts_made = 0;
    } else {
        make_due(which, now);
    }
    return std::size_t{1};
}

TOLLGATE_DECL result<std::size_t> outbox::resend(const account_ref& account, const given_up_deliveries& resent, instant now) {
    const stored_hook* const to = hooks_.find(account, resent.hook);
    if (to == nullptr) return std::size_t{0};
    if (to->status.disabled) return hook_is_disabled();
    std::size_t count = 0;
    const auto history = hook_rows_.find(resent.hook);
    if (history == hook_rows_.end()) return count;
    for (const delivery_id id : history->second.deliveries) {
        if (count == resent.rows_max) break;
        row& which = rows_.at(id);
        if (which.state != delivery_state::given_up || which.created_at < resent.since) continue;
        if (auto fits = expect_share(which.event->reported, {resent.hook}); !fits) {
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

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_COMPLETIONS_IPP
#define TOLLGATE_STORE_DETAIL_MEMORY_COMPLETIONS_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/memory/bounds.hpp>
#include <tollgate/store/detail/memory/outbox.hpp>
#include <tollgate/store/detail/undo.hpp>

#include <utility>

namespace tollgate::inline v0::memory {

namespace detail {

inline constexpr std::size_t attempt_bytes = 192;  // bytes of a row beside its texts, measured on x86-64 and rounded up

}  // namespace detail

/// First everything that may run out of memory, then everything that cannot fail.
TOLLGATE_DECL std::vector<completion> outbox::complete(std::span<const attempt_result> ended, instant now) {
    std::vector<completion> results;
    results.reserve(ended.size());
    std::size_t recorded = 0;
    tollgate::detail::undo_unless_kept on_record{[&]() noexcept {
        for (const attempt_result& each : ended.first(recorded))
            if (row* const which = find(each.lease.delivery);
                which != nullptr && each.outcome != delivery_outcome::not_attempted)
                forget_attempt(*which, which->attempts.size() - 1);
    }};
    for (const attempt_result& each : ended) {
        record(each);
        ++recorded;
    }
    on_record.keep();
    for (const attempt_result& each : ended) results.push_back(complete_one(each, now));
    return results;
}

TOLLGATE_DECL void outbox::record(const attempt_result& ended) {
    if (ended.outcome == delivery_outcome::not_attempted) return;
    const std::size_t bytes = detail::attempt_bytes + ended.attempt.response.size() + ended.attempt.request.size();
    const bool fits = make_space(bytes);  // before the row is looked up, because this may remove it
    row* const found = find(ended.lease.delivery);
    if (found == nullptr) return;
    row& which = *found;
    auto& attempts = hook_rows_.at(which.hook).attempts;
    attempt stored = ended.attempt;
    if (!fits) {  // the attempt matters more than its texts
        stored.response.clear();
        stored.request.clear();
    }
    reserve_one_more(which.attempts);
    attempts.emplace(++last_attempt_, attempt_row{which.id, std::move(stored)});
    which.attempts.push_back(last_attempt_);
    bytes_ += fits ? bytes : detail::attempt_bytes;
}

TOLLGATE_DECL completion outbox::complete_one(const attempt_result& ended, instant now) noexcept {
    row* const found = find(ended.lease.delivery);
    if (found == nullptr) return completion::too_late;
    row& which = *found;
    forget_attempts_beyond(which, limits::attempts_per_delivery_max);
    if (!which.lease_open || which.lease_number != ended.lease.number) return completion::too_late;

    stored_hook& to = hooks_.at(which.hook);
    const completed_delivery after =
        complete_delivery({which.attempts_made, which.resend_requested, to.status, to.hook.target_url}, ended, now);
    which.lease_open = which.resend_requested = false;
    which.attempts_made = after.attempts_made;
    to.status = after.hook;
    if (after.state == delivery_state::waiting) {
        wait_until(which, after.at);
    } else if (after.state == delivery_state::held) {
        hold(which, after.at);
    } else {
        which.state = after.state;
        move(which, ended_, after.at);
    }
    if (after.result == completion::hook_disabled) {
        timed_deliveries& waiting = hook_rows_.at(which.hook).waiting;
        while (!waiting.empty()) hold(rows_.at(waiting.begin()->id), now);
    }
    return after.result;
}

/// Removes the oldest.
TOLLGATE_DECL void outbox::forget_attempts_beyond(row& which, std::size_t attempts_max) noexcept {
    while (which.attempts.size() > attempts_max) forget_attempt(which, 0);
}

TOLLGATE_DECL void outbox::forget_attempt(row& which, std::size_t index) noexcept {
    auto& attempts = hook_rows_.at(which.hook).attempts;
    const auto place = which.attempts.begin() + static_cast<std::ptrdiff_t>(index);
    const auto found = attempts.find(*place);
    bytes_ -= detail::attempt_bytes + found->second.attempt.response.size() + found->second.attempt.request.size();
    attempts.erase(found);
    which.attempts.erase(place);
}

}  // namespace tollgate::memory

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_COMPLETIONS_IPP

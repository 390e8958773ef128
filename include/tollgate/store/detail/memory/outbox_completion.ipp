#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/memory/outbox.hpp>
#include <tollgate/store/detail/memory/undo.hpp>

#include <algorithm>
#include <utility>

namespace tollgate::inline v0::memory {

namespace detail {

inline constexpr std::size_t attempt_bytes = 192;  // of a row beside its texts, measured on x86-64 and rounded up

}  // namespace detail

/// First everything that may run out of memory, then everything that cannot fail.
TOLLGATE_DECL std::vector<completion> outbox::complete(std::span<const attempt_result> ended, instant now) {
    std::vector<completion> results;
    results.reserve(ended.size());
    std::size_t recorded = 0;
    undo_unless_kept on_record{[&]() noexcept {
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
    const std::int64_t id = ended.lease.delivery.value();
    row* const found = find(ended.lease.delivery);
    if (found == nullptr) return;
    row& which = *found;
    auto& attempts = hook_rows_.find(which.hook)->second.attempts;
    attempt stored = ended.attempt;
    if (!fits) {  // the attempt matters more than its texts
        stored.response.clear();
        stored.request.clear();
    }
    which.attempts.reserve(which.attempts.size() + 1);
    attempts.emplace(++last_attempt_, attempt_row{id, std::move(stored)});
    which.attempts.push_back(last_attempt_);
    bytes_ += detail::attempt_bytes + (fits ? ended.attempt.response.size() + ended.attempt.request.size() : 0);
}

TOLLGATE_DECL completion outbox::complete_one(const attempt_result& ended, instant now) noexcept {
    const std::int64_t id = ended.lease.delivery.value();
    row* const found = find(ended.lease.delivery);
    if (found == nullptr) return completion::too_late;
    row& which = *found;
    forget_attempts_beyond(which, limits::attempts_per_delivery_max);
    if (!which.lease_open || which.lease_number != ended.lease.number) return completion::too_late;

    stored_hook& to = *hooks_.find(which.hook);
    const bool was_disabled = to.disabled.has_value();
    which.lease_open = false;
    if (ended.outcome == delivery_outcome::not_attempted) {
        if (was_disabled) hold(id, which, now);
        else wait_until(id, which, ended.retry_at);
        return completion::done;
    }
    ++which.attempts_made;
    if (ended.outcome == delivery_outcome::delivered) to.failing_since.reset();
    else fail(to, ended);

    const bool resent = std::exchange(which.resend_requested, false);
    if (resent) which.attempts_made = 0;
    if ((resent || ended.outcome == delivery_outcome::retry) && !was_disabled) {
        wait_until(id, which, resent ? now : ended.retry_at);
    } else if (resent || ended.outcome == delivery_outcome::retry) {
        hold(id, which, now);
    } else {
        which.state = ended.outcome == delivery_outcome::delivered ? delivery_state::delivered : delivery_state::given_up;
        move(id, which, ended_, now);
    }

    if (!was_disabled && ended.outcome == delivery_outcome::gone) disable(which.hook, to, disable_reason::gone, now);
    if (!to.disabled && to.failing_since && ended.disable_if_failing_since &&
        *to.failing_since <= *ended.disable_if_failing_since)
        disable(which.hook, to, disable_reason::failing, now);
    return to.disabled && !was_disabled ? completion::hook_disabled : completion::done;
}

TOLLGATE_DECL void outbox::fail(stored_hook& which, const attempt_result& by) noexcept {
    const auto& bound = by.disable_if_failing_since;
    if (!which.failing_since || (bound && which.last_failure_at < *bound)) {
        which.failing_since = which.last_failure_at = by.attempt.at;
    } else {
        which.last_failure_at = (std::max)(which.last_failure_at, by.attempt.at);
    }
}

TOLLGATE_DECL void outbox::disable(hook_id id, stored_hook& which, disable_reason reason, instant now) noexcept {
    which.disabled = hook_disablement{now, reason};
    hook_rows& hook_entry = hook_rows_.find(id)->second;
    while (!hook_entry.waiting.empty()) {
        const std::int64_t next = hook_entry.waiting.begin()->id;
        hold(next, rows_.find(next)->second, now);
    }
}

/// Removes the oldest.
TOLLGATE_DECL void outbox::forget_attempts_beyond(row& which, std::size_t attempts_max) noexcept {
    while (which.attempts.size() > attempts_max) forget_attempt(which, 0);
}

TOLLGATE_DECL void outbox::forget_attempt(row& which, std::size_t index) noexcept {
    auto& attempts = hook_rows_.find(which.hook)->second.attempts;
    const auto place = which.attempts.begin() + static_cast<std::ptrdiff_t>(index);
    const auto found = attempts.find(*place);
    bytes_ -= detail::attempt_bytes + found->second.attempt.response.size() + found->second.attempt.request.size();
    attempts.erase(found);
    which.attempts.erase(place);
}

}  // namespace tollgate::memory

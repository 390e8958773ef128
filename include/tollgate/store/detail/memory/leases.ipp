#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_LEASES_IPP
#define TOLLGATE_STORE_DETAIL_MEMORY_LEASES_IPP

#include <tollgate/store/detail/memory/outbox.hpp>
#include <tollgate/store/detail/undo.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tollgate::inline v0::memory {

TOLLGATE_DECL std::vector<due_delivery> outbox::lease(std::span<const lease_request> requests, const lease_time& time) {
    std::vector<due_delivery> leased;
    tollgate::detail::undo_unless_kept undo{[&]() noexcept {
        for (const due_delivery& each : leased) wait_until(rows_.at(each.lease.delivery), time.now);
    }};
    for (const lease_request& each : requests) lease_for(each, time, leased);
    undo.keep();
    return leased;
}

/// Ends the expired leases of the host.
TOLLGATE_DECL void outbox::end_leases(host& which, instant now) noexcept {
    while (!which.leased.empty() && which.leased.begin()->at <= now) {
        const timed_delivery over = *which.leased.begin();
        row& one = rows_.at(over.id);
        move(one, hook_rows_.at(one.hook).waiting, over.at);
    }
    while (!which.leased.empty() && which.leased.rbegin()->at > latest_due(now)) {
        row& one = rows_.at(which.leased.rbegin()->id);
        move(one, hook_rows_.at(one.hook).waiting, now);
        queue_no_later_than(hook_rows_.at(one.hook), now);
    }
}

TOLLGATE_DECL void outbox::lease_for(const lease_request& request, const lease_time& time,
                                     std::vector<due_delivery>& into) {
    const auto known = hook_rows_.find(request.hook);
    stored_hook* const to = hooks_.find(request.hook);
    if (known == hook_rows_.end() || to == nullptr) return;
    hook_rows& hook_entry = known->second;
    host& target_host = *hook_entry.to;
    end_leases(target_host, time.now);
    while (!hook_entry.waiting.empty() && hook_entry.waiting.rbegin()->at > latest_due(time.now))
        move(rows_.at(hook_entry.waiting.rbegin()->id), hook_entry.waiting, time.now);
    const auto next_due = [&]() noexcept -> row* {
        if (hook_entry.waiting.empty() || hook_entry.waiting.begin()->at > time.now) return nullptr;
        return &rows_.at(hook_entry.waiting.begin()->id);
    };
    std::size_t count = 0;
    while (row* const next = next_due()) {
        if (to->status.disabled) {
            hold(*next, time.now);
            continue;
        }
        if (count == request.deliveries_max || target_host.leased.size() >= request.host_leases_max) break;
        into.push_back(describe(*next, *to, time.now));
        ++count;
        next->lease_open = true;
        next->resend_requested = false;
        ++next->lease_number;
        move(*next, target_host.leased, time.until);
    }
    std::optional<instant> ready_at;
    if (next_due() != nullptr) {
        ready_at = target_host.leased.size() >= request.host_leases_max ? (std::max)(request.full_host_retry_at, time.now)
                                                                        : time.now;
    } else {
        if (!hook_entry.waiting.empty()) ready_at = hook_entry.waiting.begin()->at;
        for (const timed_delivery& each : target_host.leased)  // few: at most the host's bound
            if (rows_.at(each.id).hook == request.hook) {
                if (!ready_at || each.at < *ready_at) ready_at = each.at;
                break;
            }
    }
    queue(hook_entry, ready_at);
}

TOLLGATE_DECL due_delivery outbox::describe(const row& which, const stored_hook& to, instant now) const {
    std::vector<std::string> previous_secrets;
    for (const auto& each : to.previous_secrets)
        if (now < each.valid_until) previous_secrets.push_back(each.secret);
    return {.lease = {which.id, which.lease_number + 1},
            .hook = which.hook,
            .event = std::shared_ptr<const event>{which.event, &which.event->reported},
            .message_id = which.message_id,
            .type = to.hook.type,
            .target_url = to.hook.target_url,
            .secret = to.hook.secret,
            .previous_secrets = std::move(previous_secrets),
            .attempts_made = which.attempts_made};
}

}  // namespace tollgate::memory

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_LEASES_IPP

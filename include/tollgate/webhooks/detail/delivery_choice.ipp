#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_DELIVERY_CHOICE_IPP
#define TOLLGATE_WEBHOOKS_DETAIL_DELIVERY_CHOICE_IPP

#include <tollgate/webhooks/detail/delivery_scheduler.hpp>

#include <algorithm>
#include <limits>

// Which of the due hooks are served now: the part of the scheduler that chooses.
namespace tollgate::inline v0::webhooks {

/// Returns false if the memory is full.
TOLLGATE_DECL bool delivery_scheduler::remember(const due_hook& each) {
    hosts::value_type& at = *hosts_.try_emplace(delivery_host(each.target_url)).first;
    std::vector<remembered_hook>& due = at.second.due;
    std::size_t of_account = 0;
    for (remembered_hook& known : due) {
        if (known.hook == each.hook) {
            known.listed_by = last_round_;
            return true;
        }
        if (known.account == each.account) ++of_account;
    }
    if (due.size() >= remembered_per_host_max || of_account >= remembered_per_account_max || remembered_ >= remembered_max)
        return false;
    if (!at.second.is_queued) {
        due_hosts_.push_back(&at);
        at.second.is_queued = true;
    }
    due.push_back({each.hook, each.account, 0, last_round_});
    ++remembered_;
    return true;
}

/// Returns the number of attempts that a hook may still have in its minute.
TOLLGATE_DECL std::size_t delivery_scheduler::attempts_left(hook_id hook, clock::time_point now) const noexcept {
    constexpr std::size_t any = (std::numeric_limits<std::size_t>::max)();
    const std::size_t most = settings_.per_hook_minute_max == 0 ? any : settings_.per_hook_minute_max;
    const auto known = minutes_.find(hook);
    if (known == minutes_.end() || now >= known->second.over) return most;
    return known->second.is_paused ? 0 : most - (std::min)(known->second.attempts, most);
}

/// The hook's minute, which begins now if none has begun; null if the memory is full.
TOLLGATE_DECL auto delivery_scheduler::minute_of(hook_id hook, clock::time_point now) -> hook_minute* {
    if (minutes_.size() >= known_minutes_max && !minutes_.contains(hook)) {
        std::erase_if(minutes_, [&](const auto& each) { return now >= each.second.over; });
        if (minutes_.size() >= known_minutes_max) return nullptr;
    }
    hook_minute& current = minutes_.try_emplace(hook, hook_minute{now + minute}).first->second;
    if (now >= current.over) current = {now + minute};
    return &current;
}

TOLLGATE_DECL void delivery_scheduler::count_attempt(hook_id hook) {
    if (settings_.per_hook_minute_max == 0) return;
    if (hook_minute* const current = minute_of(hook, leased_at_)) ++current->attempts;
}

/// Ends the hook's minute, because each of its deliveries would fail in the same way.
TOLLGATE_DECL void delivery_scheduler::pause_hook(const due_delivery& one, scheduler_time now, scheduler_actions& into) {
    hook_minute* const current = minute_of(one.hook, now.steady);
    if (current == nullptr || current->is_paused) return;
    if (!one.unreadable_secret.empty()) into.problems.push_back(unavailable(one.unreadable_secret));
    current->is_paused = true;
}

/// Forgets the host's hooks that have used up their minute. The store lists them again when it is over.
TOLLGATE_DECL void delivery_scheduler::park_limited(host_state& host, scheduler_time now, scheduler_actions& into) {
    if (minutes_.empty()) return;
    const auto is_limited = [&](const remembered_hook& each) { return attempts_left(each.hook, now.steady) == 0; };
    for (const remembered_hook& each : host.due) {
        if (!is_limited(each)) continue;
        const auto wait = std::chrono::ceil<milliseconds>(minutes_.find(each.hook)->second.over - now.steady);
        into.lease.push_back({each.hook, 0, 0, now.wall + wait});
        if (!next_minute_at_ || now.wall + wait < *next_minute_at_) next_minute_at_ = now.wall + wait;
    }
    remembered_ -= std::erase_if(host.due, is_limited);  // after the allocations, which may throw
}

TOLLGATE_DECL auto delivery_scheduler::load_of(host_state& host, const account_ref& account) -> account_load& {
    for (account_load& each : host.accounts)
        if (each.account == account) return each;
    return host.accounts.emplace_back(account_load{account});
}

/// Keeps the last accounts that had an attempt there, because their next one depends on how long it took.
TOLLGATE_DECL void delivery_scheduler::forget_idle_accounts(host_state& host) noexcept {
    const auto is_idle = [](const account_load& each) { return each.in_flight.empty(); };
    std::erase_if(host.accounts, [&](const account_load& each) { return is_idle(each) && each.hooks.empty(); });
    while (host.accounts.size() > known_accounts_max) {
        const auto first = std::find_if(host.accounts.begin(), host.accounts.end(), is_idle);
        if (first == host.accounts.end()) return;
        host.accounts.erase(first);
    }
}

/// Precondition: `account.hooks` has room for one more.
inline void delivery_scheduler::remember_pace(account_load& account, hook_id hook, pace last) noexcept {
    const auto same = std::find_if(account.hooks.begin(), account.hooks.end(), [&](const known_hook& each) { return each.hook == hook; });
    if (same != account.hooks.end()) account.hooks.erase(same);
    else if (account.hooks.size() == known_hooks_max) account.hooks.erase(account.hooks.begin());
    account.hooks.push_back({hook, last});
}

/// How many leases the host may have in total when the account gets another one for the hook. A hook that is not quick, and has
/// no attempt, may have one beyond the account's bound, so that one hanging hook does not delay the others.
TOLLGATE_DECL std::size_t delivery_scheduler::leases_max(const host_state& host, const account_load& account, hook_id hook,
                                                         bool is_first_of_hook) const noexcept {
    if (pace_of(account, hook) == pace::quick) return settings_.per_host_max;
    const std::size_t of_others = host.in_flight + host.requested - limited_of(account);
    return (std::min)(of_others + settings_.per_slow_host_max + (is_first_of_hook ? 1 : 0), settings_.per_host_max);
}

/// The last slot is kept for an account, or else for a hook, without an attempt there, if the host is known to have several.
TOLLGATE_DECL bool delivery_scheduler::has_free_slot(const host_state& host, const account_load& account,
                                                     const remembered_hook& hook) const noexcept {
    const std::size_t used = host.in_flight + host.requested;
    const bool is_first_of_account = account.in_flight.size() + account.requested == 0;
    const bool is_first_of_hook = in_flight_of(account, hook.hook) + hook.requested == 0;
    const bool leaves_one = used + 1 != settings_.per_host_max || is_first_of_account ||
                            (host.accounts.size() < 2 && (account.hooks.size() < 2 || is_first_of_hook));
    const bool is_slow = pace_of(account, hook.hook) == pace::slow;
    return used < leases_max(host, account, hook.hook, is_first_of_hook) && leaves_one &&
           !(is_slow && slow_in_flight_ + slow_requested_ >= settings_.slow_attempts_max);
}

TOLLGATE_DECL bool delivery_scheduler::has_servable_hook(const host_state& host) const noexcept {
    return std::any_of(host.due.begin(), host.due.end(), [&](const remembered_hook& hook) {
        const auto known = std::find_if(host.accounts.begin(), host.accounts.end(),
                                        [&](const account_load& each) { return each.account == hook.account; });
        const account_load unknown{hook.account};
        return has_free_slot(host, known == host.accounts.end() ? unknown : *known, hook);
    });
}

/// Assigns the host's free slots to its due hooks, each to the account with the fewest deliveries there.
TOLLGATE_DECL void delivery_scheduler::choose_at(hosts::value_type& at, std::size_t& rows_left, scheduler_time now,
                                                 scheduler_actions& into) {
    host_state& host = at.second;
    park_limited(host, now, into);
    host.accounts.reserve(host.accounts.size() + host.due.size());
    std::vector<account_load*> loads;  // account of each due hook
    loads.reserve(host.due.size());
    for (remembered_hook& each : host.due) {
        each.requested = 0;
        loads.push_back(&load_of(host, each.account));
    }
    bool is_full = false;
    for (;; --rows_left) {
        std::optional<std::size_t> best;
        const auto rank = [&](std::size_t i) {
            return std::pair{loads[i]->in_flight.size() + loads[i]->requested,
                             in_flight_of(*loads[i], host.due[i].hook) + host.due[i].requested};
        };
        for (std::size_t i = 0; i < host.due.size(); ++i)
            if (host.due[i].requested < attempts_left(host.due[i].hook, now.steady) && has_free_slot(host, *loads[i], host.due[i]) &&
                (!best || rank(i) < rank(*best)))
                best = i;
        is_full = !best;
        if (is_full || rows_left == 0) break;
        const pace chosen = pace_of(*loads[*best], host.due[*best].hook);
        if (chosen == pace::slow) ++slow_requested_;
        if (chosen != pace::quick) ++loads[*best]->limited_requested;
        ++host.due[*best].requested;
        ++loads[*best]->requested;
        ++host.requested;
    }
    const instant retry_at = now.wall + full_host_retry_time();
    for (std::size_t i = 0; i < host.due.size(); ++i) {
        const remembered_hook& each = host.due[i];
        if (each.requested != 0) {
            const bool had_none = in_flight_of(*loads[i], each.hook) == 0;
            into.lease.push_back({each.hook, each.requested, leases_max(host, *loads[i], each.hook, had_none), retry_at});
            requested_.emplace(each.hook, requested_lease{&at, each.requested});
        } else if (each.listed_by == last_round_ && is_full) {
            // The host is full. The hook is remembered here, so the store need not list it for a while.
            into.lease.push_back({each.hook, 0, 0, retry_at});
            postponed_some_ = true;
        }
    }
    host.requested = 0;
    for (account_load& each : host.accounts) each.requested = each.limited_requested = 0;
    forget_idle_accounts(host);
}

}  // namespace tollgate::webhooks

#endif  // TOLLGATE_WEBHOOKS_DETAIL_DELIVERY_CHOICE_IPP

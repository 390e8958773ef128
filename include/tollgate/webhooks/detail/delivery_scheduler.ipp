#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_DELIVERY_SCHEDULER_IPP
#define TOLLGATE_WEBHOOKS_DETAIL_DELIVERY_SCHEDULER_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/webhooks/detail/delivery_scheduler.hpp>

#include <algorithm>
#include <exception>
#include <iterator>
#include <limits>

namespace tollgate::inline v0::webhooks {

TOLLGATE_DECL scheduler_actions delivery_scheduler::step(scheduler_inputs& in, scheduler_time now) {
    scheduler_actions actions;
    const auto note = [this](const auto& called) {
        if (called) store_failed_ = !called->has_value();
    };
    note(in.completed);
    note(in.listed);
    note(in.leased);
    note(in.swept);
    if (in.completed) take_completed(*std::exchange(in.completed, std::nullopt), now, actions);
    if (const auto swept = std::exchange(in.swept, std::nullopt)) {
        if (!*swept) actions.problems.push_back(swept->error());
        next_sweep_ = now.steady + (*swept && **swept == sweep_rows_max ? sweep_pause : sweep_interval);
    }
    if (in.flush || now.steady >= next_judge_) take_ended(in.ended, now, actions);
    if (const auto listed = std::exchange(in.listed, std::nullopt); listed && !in.stopping) take_page(*listed, now, actions);
    if (in.leased) take_leased(*std::exchange(in.leased, std::nullopt), now, actions);

    actions.complete = !results_.empty() && (in.flush ? !store_failed_ : now.steady >= next_complete_);
    if (std::exchange(in.wakeup, false)) next_round_ = (std::min)(next_round_, now.steady);
    if (!in.stopping && actions.lease.empty()) begin_round(in.store_changed, now, actions);
    if (!in.stopping && now.steady >= next_sweep_)
        actions.sweep = scheduler_actions::sweep_request{now.wall - settings_.history, sweep_rows_max};

    actions.next_step_at = next_step_at(in);
    in.flush = false;
    return actions;
}

/// Lists due hooks, if it is time to look for them and there are free slots.
TOLLGATE_DECL void delivery_scheduler::begin_round(bool store_changed, scheduler_time now, scheduler_actions& into) {
    if (now.steady < no_round_before_) return;
    bool is_due = now.steady >= next_round_;
    if (now.steady >= next_poll_) {
        next_poll_ = now.steady + (tells_changes_ ? settings_.poll_interval : settings_.lease_interval);
        is_due = is_due || store_changed;
    }
    if (is_due && rows_max() != 0) {
        into.list_due_hooks = settings_.lease_max;
    } else if (is_due) {
        was_limited_ = true;
        next_round_ = now.steady + settings_.lease_interval;  // or as soon as a completion allows one
    }
}

TOLLGATE_DECL auto delivery_scheduler::next_step_at(const scheduler_inputs& in) const noexcept -> clock::time_point {
    auto next = (clock::time_point::max)();
    if (!in.stopping) next = (std::min)((std::max)((std::min)(next_round_, next_poll_), no_round_before_), next_sweep_);
    if (!results_.empty()) next = (std::min)(next, next_complete_);
    if (!in.ended.empty()) next = (std::min)(next, next_judge_);
    return next;
}

TOLLGATE_DECL void delivery_scheduler::pause_after_failure(scheduler_time now) noexcept {
    no_round_before_ = next_complete_ = next_judge_ = now.steady + first_pause;
}

TOLLGATE_DECL void delivery_scheduler::drop(std::uint64_t number, scheduler_time now) noexcept {
    const auto found = in_flight_.find(number);
    if (found == in_flight_.end()) return;
    release(found->second, now);
    numbers_.erase(found->second.sent.lease.delivery.value());
    in_flight_.erase(found);
}

TOLLGATE_DECL void delivery_scheduler::release(const in_flight_delivery& over, scheduler_time now) noexcept {
    const std::size_t bytes = over.sent.event->data.size();
    bool frees_capacity = was_limited_;
    if (over.counts_as_slow) frees_capacity = slow_in_flight_-- >= settings_.slow_attempts_max || frees_capacity;
    data_bytes_in_flight_ -= bytes;
    host_state& at = hosts_.find(over.host)->second;
    --at.in_flight;
    frees_capacity = !at.due.empty() || frees_capacity;
    auto& of_account = load_of(at, over.sent.event->account).in_flight;
    of_account.erase(std::find(of_account.begin(), of_account.end(), over.sent.hook));
    forget_idle_accounts(at);
    if (frees_capacity) next_round_ = (std::min)(next_round_, now.steady);
}

/// How many deliveries the next round may lease. Their sizes are not known yet, so each counts as the largest possible;
/// with nothing in flight one is always allowed.
TOLLGATE_DECL std::size_t delivery_scheduler::rows_max() const noexcept {
    const std::size_t free_slots = settings_.attempts_max - (std::min)(in_flight(), settings_.attempts_max);
    const std::size_t bytes = settings_.data_bytes_max - (std::min)(data_bytes_in_flight_, settings_.data_bytes_max);
    std::size_t rows = (std::min)(free_slots, settings_.lease_max);
    // After a shortage, a few deliveries test whether it is over.
    constexpr std::size_t few = 8;
    if (shortage_pause_ > milliseconds{0}) rows = (std::min)(rows, few);
    const std::size_t fitting = bytes / limits::event_data_bytes_max;
    return (std::min)(rows, (std::max)(fitting, std::size_t{in_flight() == 0}));
}

TOLLGATE_DECL void delivery_scheduler::take_completed(result<std::vector<completion>> from, scheduler_time now,
                                                      scheduler_actions& into) {
    if (!from) {
        into.problems.push_back(from.error());
        store_pause_ = (std::clamp)(2 * store_pause_, first_pause, longest_pause);
        next_complete_ = now.steady + store_pause_;
        return forget_overdue(now);
    }
    store_pause_ = {};
    into.finished.reserve(results_.size());
    for (std::size_t i = 0; i < results_.size(); ++i) {
        auto& [one, reason] = ended_[i];
        release(one, now);
        if (results_[i].outcome == delivery_outcome::not_attempted) continue;
        into.finished.push_back({std::move(one), std::move(results_[i]),
                                 i < from->size() ? (*from)[i] : completion::too_late, std::move(reason)});
    }
    results_.clear();
    ended_.clear();
}

/// Drops results that the store did not accept before their lease ended: those deliveries are sent again anyway.
TOLLGATE_DECL void delivery_scheduler::forget_overdue(scheduler_time now) noexcept {
    std::size_t remaining = 0;
    for (std::size_t i = 0; i < results_.size(); ++i) {
        if (now.steady >= ended_[i].first.lease_over) {
            release(ended_[i].first, now);
            continue;
        }
        if (remaining != i) {
            results_[remaining] = std::move(results_[i]);
            ended_[remaining] = std::move(ended_[i]);
        }
        ++remaining;
    }
    results_.erase(results_.begin() + static_cast<std::ptrdiff_t>(remaining), results_.end());
    ended_.erase(ended_.begin() + static_cast<std::ptrdiff_t>(remaining), ended_.end());
}

TOLLGATE_DECL void delivery_scheduler::take_ended(ended_attempts& ended, scheduler_time now, scheduler_actions& into) {
    bool some_count = false;
    const ended_attempt* short_one = nullptr;
    for (const ended_attempt& each : ended) {
        some_count = some_count || each.counts();
        if (each.progress == attempt_progress::shortage) short_one = &each;
    }
    if (short_one != nullptr) pause_after_shortage(short_one->reason, now, into);
    else if (some_count) shortage_pause_ = {};
    for (; !ended.empty(); ended.pop_front()) judge(ended.front(), now, into);
}

/// Pauses rounds: more attempts would only increase the shortage.
TOLLGATE_DECL void delivery_scheduler::pause_after_shortage(std::string_view reason, scheduler_time now, scheduler_actions& into) {
    if (std::exchange(short_round_, last_round_) != last_round_)  // once per round, whose results come one by one
        shortage_pause_ = (std::clamp)(2 * shortage_pause_, first_pause, longest_pause);
    no_round_before_ = now.steady + shortage_pause_;
    if (now.steady < next_shortage_report_) return;
    next_shortage_report_ = now.steady + longest_pause;
    into.problems.push_back(unavailable("Webhooks are paused, because this machine cannot connect: " + std::string{reason}));
}

/// Allocates before it changes anything, so that it can be repeated if memory runs out.
TOLLGATE_DECL void delivery_scheduler::judge(ended_attempt& each, scheduler_time now, scheduler_actions& into) {
    const auto reserve_one_more = [](auto& rows) {
        if (rows.size() == rows.capacity()) rows.reserve(2 * rows.size() + 16);
    };
    reserve_one_more(results_);
    reserve_one_more(ended_);
    const auto found = in_flight_.find(each.number);
    if (found == in_flight_.end()) return;
    in_flight_delivery& one = found->second;
    account_load& load = load_of(hosts_.find(one.host)->second, one.sent.event->account);
    load.hooks.reserve(load.hooks.size() + 1);
    const bool is_paused = !each.counts() && (!one.sent.unreadable_secret.empty() || !one.sent.owner_is_active);
    if (is_paused) pause_hook(one.sent, now, into);
    const attempt made{.at = one.began, .duration = each.duration, .end = each.end, .status = each.status, .response = {}, .request = {},
                       .cause = each.cause};
    attempt_result judged = judge_attempt(settings_.retry, one.sent, {made, each.retry_after}, now.wall, each.chance);
    judged.attempt.response = std::move(each.response);
    judged.attempt.request = std::move(each.request);
    if (each.progress == attempt_progress::unsendable) {  // this program refused it, which does not depend on the receiver
        judged.outcome = delivery_outcome::given_up;
        judged.counts_for_hook = false;
    } else if (each.progress == attempt_progress::cut_off) {  // this worker cut it off, which hardly depends on the receiver
        judged.outcome = delivery_outcome::retry;
        judged.retry_at = now.wall;
        judged.counts_for_hook = false;
    } else if (!each.counts()) {
        judged.outcome = delivery_outcome::not_attempted;
        // A delivery whose name lookup did not end would probably wait for it again, and occupy a slot.
        judged.retry_at = now.wall + (is_paused                                       ? minute
                                      : each.progress == attempt_progress::shortage ? shortage_pause_
                                      : each.reason.empty()                           ? milliseconds{0}
                                                                                      : longest_pause);
        judged.disable_if_failing_since.reset();
    }
    if (judged.outcome != delivery_outcome::not_attempted) {
        remember_pace(load, one.sent.hook, each.duration >= slow_attempt ? pace::slow : pace::quick);
    }
    results_.push_back(std::move(judged));
    ended_.emplace_back(std::move(one), std::move(each.reason));
    numbers_.erase(results_.back().lease.delivery.value());
    in_flight_.erase(found);
}

TOLLGATE_DECL void delivery_scheduler::round_failed(const error& failure, scheduler_time now, scheduler_actions& into) {
    store_pause_ = (std::clamp)(2 * store_pause_, first_pause, longest_pause);
    next_round_ = now.steady + store_pause_;
    next_poll_ = (std::max)(next_poll_, next_round_);
    into.problems.push_back(failure);
}

TOLLGATE_DECL void delivery_scheduler::take_page(result<due_hook_page> from, scheduler_time now, scheduler_actions& into) {
    if (!from) return round_failed(from.error(), now, into);
    if (from->problem) into.problems.push_back(*from->problem);
    if (hosts_.size() > known_hosts_max) forget_idle_hosts();
    ++last_round_;
    requested_.clear();
    slow_requested_ = 0;
    postponed_some_ = was_limited_ = false;
    if (next_minute_at_ && *next_minute_at_ <= now.wall) next_minute_at_.reset();
    page_was_full_ = from->hooks.size() >= settings_.lease_max;
    listed_next_at_ = from->next_at;
    leased_wall_ = now.wall;
    leased_at_ = now.steady;  // before the store call: the lease ends no earlier than this says
    const instant retry_at = now.wall + full_host_retry_time();
    for (const due_hook& each : from->hooks)
        if (!remember(each)) {
            into.lease.push_back({each.hook, 0, 0, retry_at});
            postponed_some_ = true;
        }

    std::size_t rows_left = rows_max();
    std::size_t visits = due_hosts_.size();
    for (auto next = due_hosts_.begin(); visits != 0; --visits) {
        const auto place = next++;
        hosts::value_type& at = **place;
        if (at.second.due.empty()) {
            at.second.is_queued = false;
            due_hosts_.erase(place);
            continue;
        }
        if (rows_left == 0) {
            was_limited_ = true;
            break;
        }
        const std::size_t rows_before = rows_left;
        choose_at(at, rows_left, now, into);
        if (rows_left != rows_before) due_hosts_.splice(due_hosts_.end(), due_hosts_, place);
    }
    into.leased_for = {now.wall, now.wall + settings_.client.attempt_timeout + settings_.lease_margin};
    if (into.lease.empty()) plan_next_round(false, false, now);
}

TOLLGATE_DECL void delivery_scheduler::take_leased(result<std::vector<due_delivery>> from, scheduler_time now,
                                                   scheduler_actions& into) {
    slow_requested_ = 0;
    if (!from) {
        requested_.clear();
        return round_failed(from.error(), now, into);
    }
    store_pause_ = {};
    into.send.reserve(from->size());
    try {
        for (due_delivery& each : *from) {
            const auto request = requested_.find(each.hook);
            if (request == requested_.end()) continue;  // not requested: its lease expires
            ++request->second.leased;
            if (!renew_lease(each)) start(std::move(each), *request->second.host, into);
        }
    } catch (const std::exception&) {
        for (const auto& each : into.send) drop(each.number, now);
        throw;
    }
    bool some_request_was_vain = false;
    for (const auto& [hook, request] : requested_) {
        some_request_was_vain = some_request_was_vain || request.leased == 0;
        auto& due = request.host->second.due;
        const auto found = std::find_if(due.begin(), due.end(), [&](const remembered_hook& each) { return each.hook == hook; });
        if (found == due.end()) continue;
        if (request.leased < request.deliveries_max) {
            due.erase(found);  // nothing more is due, or other workers fill the host
            --remembered_;
        } else {
            std::rotate(found, std::next(found), due.end());  // behind the waiting ones
        }
    }
    requested_.clear();
    plan_next_round(!from->empty(), some_request_was_vain, now);
}

TOLLGATE_DECL void delivery_scheduler::start(due_delivery next, hosts::value_type& at, scheduler_actions& into) {
    const std::uint64_t number = ++last_number_;
    const std::int64_t id = next.lease.delivery.value();
    const std::size_t bytes = next.event->data.size();
    account_load& load = load_of(at.second, next.event->account);
    const hook_id hook = next.hook;
    const bool slow = pace_of(load, hook) == pace::slow;
    load.in_flight.reserve(load.in_flight.size() + 1);
    count_attempt(hook);
    const auto named = numbers_.emplace(id, number).first;
    try {
        const auto& one =
            in_flight_.emplace(number, in_flight_delivery{std::move(next), leased_wall_, lease_over(), at.first, slow})
                .first->second;
        into.send.push_back({number, &one.sent,
                             leased_at_ + settings_.client.attempt_timeout + settings_.lease_margin / 3});
    } catch (const std::exception&) {
        numbers_.erase(named);
        throw;
    }
    ++at.second.in_flight;
    load.in_flight.push_back(hook);
    if (slow) ++slow_in_flight_;
    data_bytes_in_flight_ += bytes;
}

/// A delivery that is still in flight is not sent a second time when it is leased again: the new lease completes it.
TOLLGATE_DECL bool delivery_scheduler::renew_lease(const due_delivery& again) noexcept {
    if (const auto number = numbers_.find(again.lease.delivery.value()); number != numbers_.end()) {
        in_flight_delivery& same = in_flight_.find(number->second)->second;
        same.sent.lease = again.lease;
        same.lease_over = lease_over();
        return true;
    }
    for (std::size_t i = 0; i < results_.size(); ++i) {
        if (results_[i].lease.delivery != again.lease.delivery) continue;
        results_[i].lease = ended_[i].first.sent.lease = again.lease;
        ended_[i].first.lease_over = lease_over();
        return true;
    }
    return false;
}

TOLLGATE_DECL void delivery_scheduler::plan_next_round(bool leased_some, bool some_request_was_vain,
                                                       scheduler_time now) noexcept {
    if (shortage_pause_ > milliseconds{0}) no_round_before_ = (std::max)(no_round_before_, now.steady + first_pause);
    const bool more_is_listed = page_was_full_ || (listed_next_at_ && *listed_next_at_ <= now.wall);
    const bool has_servable_host = std::any_of(due_hosts_.begin(), due_hosts_.end(),
                                               [&](const auto* each) { return has_servable_hook(each->second); });
    if (more_is_listed || has_servable_host) {
        next_round_ = now.steady + (leased_some || postponed_some_ ? milliseconds{0} : empty_round_pause);
        return;
    }
    // Also check from time to time regardless of the prediction, because clocks may be set.
    milliseconds wait = (tells_changes_ ? 10 : 1) * settings_.lease_interval;
    if (listed_next_at_) wait = (std::min)(wait, std::chrono::ceil<milliseconds>(*listed_next_at_ - now.wall));
    if (next_minute_at_) wait = (std::min)(wait, std::chrono::ceil<milliseconds>(*next_minute_at_ - now.wall));
    if (postponed_some_) wait = (std::min)(wait, full_host_retry_time());
    if (some_request_was_vain) wait = (std::min)(wait, empty_round_pause);
    next_round_ = now.steady + wait;
}

TOLLGATE_DECL void delivery_scheduler::forget_idle_hosts() noexcept {
    std::erase_if(hosts_, [](const hosts::value_type& each) { return each.second.in_flight == 0 && !each.second.is_queued; });
}

}  // namespace tollgate::webhooks

#endif  // TOLLGATE_WEBHOOKS_DETAIL_DELIVERY_SCHEDULER_IPP

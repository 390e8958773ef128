#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_OUTBOX_IPP
#define TOLLGATE_STORE_DETAIL_MEMORY_OUTBOX_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/store_error.hpp>
#include <tollgate/store/detail/memory/outbox.hpp>
#include <tollgate/store/detail/undo.hpp>
#include <tollgate/store/detail/memory/bounds.hpp>

#include <algorithm>
#include <utility>

namespace tollgate::inline v0::memory {

namespace detail {

// The memory of a row beside its text, measured on x86-64 and rounded up.
inline constexpr std::size_t event_bytes = 256;
inline constexpr std::size_t delivery_bytes = 512;

/// The bytes of a delivery that has not ended. Its event counts for each of its deliveries, because any of them may be
/// the last one that needs it.
inline std::size_t unsent_bytes(const event& event) noexcept { return delivery_bytes + event_bytes + event.data.size(); }

// How many deliveries of a deleted hook are removed at once: at most a millisecond with the lock held
inline constexpr std::size_t removed_at_once_max = 1000;

}  // namespace detail

TOLLGATE_DECL result<std::size_t> outbox::append(const event& reported, const message_seed& seed, instant now,
                                                 std::optional<hook_id> only_to) {
    if (!only_to) return append_to(hooks_.listening_to(reported.account, reported.name), reported, seed, now);
    const stored_hook* const found = hooks_.find(reported.account, *only_to);
    if (found == nullptr) return std::size_t{0};
    if (found->status.disabled) return hook_is_disabled();
    return append_to(std::vector{*only_to}, reported, seed, now);
}

TOLLGATE_DECL result<std::size_t> outbox::append_to(const std::vector<hook_id>& listening, const event& reported,
                                                    const message_seed& seed, instant now) {
    if (listening.empty()) return std::size_t{0};
    if (auto fits = expect_share(reported, listening); !fits) return std::move(fits).error();
    const std::size_t event_bytes = detail::event_bytes + reported.data.size();
    if (!make_space(event_bytes + listening.size() * detail::delivery_bytes))
        return unavailable("The memory store's outbox holds " + std::to_string(bytes_max_) +
                           " bytes, the maximum (memory_settings::outbox_bytes_max).");

    const auto stored = std::make_shared<stored_event>(stored_event{reported, seed});
    const std::int64_t before = last_id_;
    tollgate::detail::undo_unless_kept added{[&]() noexcept {
        for (std::int64_t id = before + 1; id <= last_id_; ++id)
            if (rows_.contains(delivery_id{id})) remove(delivery_id{id});
    }};
    bytes_ += event_bytes;
    tollgate::detail::undo_unless_kept counted{[&]() noexcept {
        if (stored->deliveries == 0) bytes_ -= event_bytes;
    }};
    std::size_t due = 0;
    for (const hook_id each : listening)
        if (add(delivery_id{++last_id_}, each, stored, now)) ++due;
    tollgate::detail::keep_all(counted, added);
    return due;
}

TOLLGATE_DECL result<void> outbox::expect_share(const event& reported, const std::vector<hook_id>& listening) {
    const std::size_t share = bytes_max_ / share_divisor;
    const auto is_full = [&](const std::string& destination) {
        return unavailable("The memory store's outbox holds " + std::to_string(share) +
                           " bytes that are still to be sent " + destination +
                           ", the maximum (a quarter of memory_settings::outbox_bytes_max).");
    };
    if (hooks_.unsent_bytes_of(reported.account) + listening.size() * detail::unsent_bytes(reported) > share)
        return is_full("to webhooks of one account");
    std::string full_host;
    for (const hook_id each : listening) {
        const auto known = hosts_.find(delivery_host(hooks_.at(each).hook.target_url));
        if (known == hosts_.end() || has_share(*known->second, reported)) return {};
        full_host = known->first;
    }
    return is_full("to " + full_host);
}

TOLLGATE_DECL bool outbox::has_share(const host& which, const event& event) const noexcept {
    return which.unsent_bytes + detail::unsent_bytes(event) <= bytes_max_ / share_divisor;
}

TOLLGATE_DECL void outbox::charge(const row& which, bool more) noexcept {
    const std::size_t bytes = detail::unsent_bytes(which.event->reported);
    stored_hook* const to = hooks_.find(which.hook);
    which.to->unsent_bytes += more ? bytes : 0 - bytes;
    if (to != nullptr) to->unsent_bytes += more ? bytes : 0 - bytes;
}

TOLLGATE_DECL auto outbox::find(delivery_id id) noexcept -> row* {
    const auto found = rows_.find(id);
    return found == rows_.end() || hooks_.find(found->second.hook) == nullptr ? nullptr : &found->second;
}

TOLLGATE_DECL bool outbox::add(delivery_id id, hook_id to, const std::shared_ptr<stored_event>& event, instant now) {
    hook_rows& hook_entry = rows_of(to);
    tollgate::detail::undo_unless_kept known{[&]() noexcept { forget_unless_used(to); }};
    row& stored = rows_.emplace(id, row{.id = id, .hook = to, .to = hook_entry.to, .event = event,
                                        .message_id = message_id_of(event->seed, to), .created_at = now,
                                        .kept_in = &hook_entry.waiting, .at = now}).first->second;
    tollgate::detail::undo_unless_kept inserted{[&]() noexcept { rows_.erase(id); }};
    hook_entry.deliveries.insert(id);
    tollgate::detail::undo_unless_kept listed{[&]() noexcept { hook_entry.deliveries.erase(id); }};
    hook_entry.waiting.insert({now, id});
    tollgate::detail::keep_all(inserted, listed, known);
    ++hook_entry.to->deliveries;
    ++event->deliveries;
    bytes_ += detail::delivery_bytes;
    const bool due = has_share(*hook_entry.to, event->reported);
    charge(stored, true);
    if (due) {
        queue_no_later_than(hook_entry, now);
    } else {
        stored.state = delivery_state::given_up;
        move(stored, ended_, now);
    }
    return due;
}

TOLLGATE_DECL auto outbox::host_of(const std::string& target_url) -> host& {
    const std::string name = delivery_host(target_url);
    if (const auto found = hosts_.find(name); found != hosts_.end()) return *found->second;
    return *hosts_.emplace(name, std::make_unique<host>(host{.name = name, .leased = {}})).first->second;
}

TOLLGATE_DECL auto outbox::rows_of(hook_id id) -> hook_rows& {
    if (const auto found = hook_rows_.find(id); found != hook_rows_.end()) return found->second;
    host& target_host = host_of(hooks_.at(id).hook.target_url);
    tollgate::detail::undo_unless_kept host_known{[&]() noexcept { forget_unless_used(target_host); }};
    hook_rows& hook_entry =
        hook_rows_.emplace(id, hook_rows{.to = &target_host, .queue = &idle_, .place = {{}, ++last_place_, id}}).first->second;
    tollgate::detail::undo_unless_kept known{[&]() noexcept { hook_rows_.erase(id); }};
    idle_.insert(hook_entry.place);
    tollgate::detail::keep_all(known, host_known);
    return hook_entry;
}

TOLLGATE_DECL void outbox::remove(delivery_id id) noexcept {
    const auto found = rows_.find(id);
    row& gone = found->second;
    if (gone.kept_in != &ended_) charge(gone, false);
    gone.kept_in->erase({gone.at, id});
    forget_attempts_beyond(gone, 0);
    hook_rows& hook_entry = hook_rows_.at(gone.hook);
    hook_entry.deliveries.erase(id);
    bytes_ -= detail::delivery_bytes;
    if (--gone.event->deliveries == 0) bytes_ -= detail::event_bytes + gone.event->reported.data.size();
    --gone.to->deliveries;
    const hook_id hook = gone.hook;
    rows_.erase(found);
    if (!hook_entry.deleted) forget_unless_used(hook);
}

TOLLGATE_DECL void outbox::forget_unless_used(hook_id id) noexcept {
    hook_rows& hook_entry = hook_rows_.at(id);
    if (!hook_entry.deliveries.empty()) return;
    hook_entry.queue->erase(hook_entry.place);
    host& target_host = *hook_entry.to;
    hook_rows_.erase(id);
    forget_unless_used(target_host);
}

TOLLGATE_DECL void outbox::forget_unless_used(host& which) noexcept {
    if (which.deliveries != 0) return;
    // Not by name, which is destroyed with the host.
    if (const auto named = hosts_.find(which.name); named != hosts_.end()) hosts_.erase(named);
}

TOLLGATE_DECL void outbox::retarget(const std::string& to, std::optional<hook_id> changed) noexcept {
    host& after = *hosts_.at(to);
    const auto found = changed ? hook_rows_.find(*changed) : hook_rows_.end();
    if (found == hook_rows_.end() || found->second.to == &after) return forget_unless_used(after);
    hook_rows& hook_entry = found->second;
    host& before = *std::exchange(hook_entry.to, &after);
    for (const delivery_id id : hook_entry.deliveries) {
        row& each = rows_.at(id);
        const bool counts = each.kept_in != &ended_;
        if (counts) charge(each, false);
        if (each.kept_in == &before.leased) {
            after.leased.insert(before.leased.extract({each.at, id}));
            each.kept_in = &after.leased;
        }
        each.to = &after;
        --before.deliveries;
        ++after.deliveries;
        if (counts) charge(each, true);
    }
    forget_unless_used(before);
}

TOLLGATE_DECL void outbox::forget(hook_id deleted) noexcept {
    const auto found = hook_rows_.find(deleted);
    if (found == hook_rows_.end()) return;
    hook_rows& hook_entry = found->second;
    hook_entry.deleted = true;
    hook_entry.next_deleted = std::exchange(deleted_, &hook_entry);
    queue(hook_entry, std::nullopt);
    // Leases first, because they count against the host's bound.
    host& target_host = *hook_entry.to;
    for (auto each = target_host.leased.begin(); each != target_host.leased.end();) {
        const delivery_id id = (each++)->id;
        if (rows_.at(id).hook == deleted) remove(id);
    }
    forget_deleted(detail::removed_at_once_max);
}

/// Returns how many; the most recently deleted hook first.
TOLLGATE_DECL std::size_t outbox::forget_deleted(std::size_t rows_max) noexcept {
    std::size_t forgotten = 0;
    while (deleted_ != nullptr) {
        hook_rows& last = *deleted_;
        for (; !last.deliveries.empty() && forgotten < rows_max; ++forgotten) remove(*last.deliveries.begin());
        if (!last.deliveries.empty()) break;
        deleted_ = last.next_deleted;
        forget_unless_used(last.place.hook);
    }
    return forgotten;
}

TOLLGATE_DECL void outbox::move(row& which, timed_deliveries& into, instant at) noexcept {
    if ((which.kept_in == &ended_) != (&into == &ended_)) charge(which, &into != &ended_);
    if (auto node = which.kept_in->extract({which.at, which.id}); !node.empty()) {
        node.value().at = at;
        into.insert(std::move(node));
    }
    which.kept_in = &into;
    which.at = at;
}

TOLLGATE_DECL void outbox::hold(row& which, instant now) noexcept {
    which.state = delivery_state::held;
    which.lease_open = false;
    move(which, held_, now);
}

/// Makes it due at that time, and not leased.
TOLLGATE_DECL void outbox::wait_until(row& which, instant at) noexcept {
    hook_rows& hook_entry = hook_rows_.at(which.hook);
    which.state = delivery_state::waiting;
    which.lease_open = false;
    move(which, hook_entry.waiting, at);
    queue_no_later_than(hook_entry, at);
}

TOLLGATE_DECL void outbox::make_due(row& which, instant now) noexcept {
    which.resend_requested = false;
    which.attempts_made = 0;
    wait_until(which, now);
}

/// Queues it after all others with that time; without a time, removes it from the queue.
TOLLGATE_DECL void outbox::queue(hook_rows& hook_entry, std::optional<instant> ready_at) noexcept {
    auto node = hook_entry.queue->extract(hook_entry.place);
    hook_entry.queue = ready_at ? &ready_ : &idle_;
    hook_entry.place.ready_at = ready_at.value_or(instant{});
    hook_entry.place.number = ++last_place_;
    if (node.empty()) return;
    node.value() = hook_entry.place;
    hook_entry.queue->insert(std::move(node));
}

TOLLGATE_DECL void outbox::queue_no_later_than(hook_rows& hook_entry, instant ready_at) noexcept {
    if (hook_entry.deleted || (hook_entry.queue == &ready_ && hook_entry.place.ready_at <= ready_at)) return;
    queue(hook_entry, ready_at);
}

TOLLGATE_DECL due_hook_page outbox::list_due_hooks(instant now, std::size_t rows_max) const {
    due_hook_page page;
    const auto list = [&](hook_queue::const_iterator next, hook_queue::const_iterator end) {
        for (; next != end && page.hooks.size() < rows_max; ++next) {
            const new_hook& hook = hooks_.at(next->hook).hook;
            page.hooks.push_back({next->hook, hook.account, hook.target_url});
        }
        return next;
    };
    const auto first_after = [&](instant at) { return ready_.lower_bound({at + milliseconds{1}, 0, hook_id{1}}); };
    // First those whose time was set by a wrong clock: `lease` corrects it, so that they do not delay the others.
    const auto too_late = first_after(latest_due(now));
    if (list(too_late, ready_.end()) != ready_.end()) {
        page.next_at = now;
        return page;
    }
    if (const auto next = list(ready_.begin(), first_after(now)); next != too_late) page.next_at = next->ready_at;
    return page;
}

TOLLGATE_DECL delivery_backlog outbox::backlog(instant now, std::size_t rows_max) const {
    delivery_backlog backlog;
    const auto count = [&](const timed_deliveries& deliveries) {
        for (auto each = deliveries.begin(); each != deliveries.end() && each->at <= now; ++each) {
            if (hooks_.at(rows_.at(each->id).hook).status.disabled) continue;
            if (!backlog.due_since || each->at < *backlog.due_since) backlog.due_since = each->at;
            if (backlog.due == rows_max) return;  // the others are not older
            ++backlog.due;
        }
    };
    // Hooks that are ready, or whose host is full, have due deliveries.
    const instant end = now + seconds{limits::full_host_retry_seconds_max};
    for (auto next = ready_.begin(); next != ready_.end() && next->ready_at <= end; ++next) count(hook_rows_.at(next->hook).waiting);
    for (const auto& [name, each] : hosts_) count(each->leased);  // whose lease has ended
    return backlog;
}

/// Makes space by removing the deliveries that ended first; returns whether it suffices. Held deliveries have not
/// ended.
TOLLGATE_DECL bool outbox::make_space(std::size_t bytes) noexcept {
    while (bytes_ + bytes > bytes_max_ && deleted_ != nullptr) forget_deleted(1);
    while (bytes_ + bytes > bytes_max_ && !ended_.empty()) remove(ended_.begin()->id);
    return bytes_ + bytes <= bytes_max_;
}

}  // namespace tollgate::memory

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_OUTBOX_IPP

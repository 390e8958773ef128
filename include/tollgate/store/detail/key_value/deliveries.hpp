#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_DELIVERIES_HPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_DELIVERIES_HPP

#include <tollgate/base/limits.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/store/detail/key_value/outbox_bounds.hpp>
#include <tollgate/store/detail/key_value/records.hpp>
#include <tollgate/store/detail/key_value/rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Rows of hooks and deliveries, for the verbs of hooks and of the outbox.

namespace tollgate::inline v0::key_value_detail {

/// A delivery's id is the id of its hook and its number among the deliveries of the hook. So appending to one hook does not conflict with
/// appending to another, as a counter of all deliveries would, and the ids of a hook are in their order.
inline constexpr int number_bits = 32;

[[nodiscard]] inline std::optional<delivery_id> delivery_id_of(hook_id hook, std::uint64_t number) noexcept {
    if (hook.value() >> (63 - number_bits) != 0 || number >> number_bits != 0) return std::nullopt;
    return delivery_id{hook.value() << number_bits | static_cast<std::int64_t>(number)};
}
[[nodiscard]] inline std::optional<hook_id> hook_of(delivery_id id) noexcept { return hook_id::from(id.value() >> number_bits); }
[[nodiscard]] inline std::uint64_t number_of(delivery_id id) noexcept {
    return static_cast<std::uint64_t>(id.value()) & ((std::uint64_t{1} << number_bits) - 1);
}

/// The number by which the leases of a target's host are counted.
[[nodiscard]] inline std::uint64_t host_of(const std::string& target_url) { return number_at(sha256(delivery_host(target_url)).raw(), 0); }

[[nodiscard]] inline key hook_key(hook_id id) noexcept { return key{table::hooks}.id(id); }
[[nodiscard]] inline key hooks_of_account(const account_ref& account) {
    return key{table::hooks_of_event}.text(account.service).id(account.account);
}
[[nodiscard]] inline key hooks_of_event(const account_ref& account, std::string_view event) {
    return hooks_of_account(account).text(event);
}
[[nodiscard]] inline key delivery_key(hook_id hook, delivery_id id) noexcept { return key{table::deliveries}.id(hook).newest_first(id); }
[[nodiscard]] inline key due_key(hook_id hook, instant at, delivery_id id) noexcept {
    return key{table::due_deliveries}.id(hook).at(at).id(id);
}
[[nodiscard]] inline key lease_key(std::uint64_t host, instant until, delivery_id id) noexcept {
    return key{table::leases_of_host}.number(host).at(until).id(id);
}
[[nodiscard]] inline key ended_key(instant at, delivery_id id) noexcept { return key{table::ended_deliveries}.at(at).id(id); }
[[nodiscard]] inline key held_since_key(instant at, delivery_id id) noexcept { return key{table::held_by_time}.at(at).id(id); }
[[nodiscard]] inline key held_key(hook_id hook, delivery_id id) noexcept { return key{table::held_deliveries}.id(hook).id(id); }
[[nodiscard]] inline key attempt_key(delivery_id id, std::uint64_t number) noexcept {
    return key{table::attempts}.id(id).newest_first(number);
}
[[nodiscard]] inline key event_key(const digest& event) noexcept { return key{table::events}.bytes(event); }

[[nodiscard]] inline std::optional<hook_record> find_hook(rows& all, hook_id id) { return all.get<hook_record>(hook_key(id)); }
[[nodiscard]] inline std::optional<hook_record> find_hook(rows& all, const account_ref& account, hook_id id) {
    auto found = find_hook(all, id);
    if (found && found->owner() != account) found.reset();
    return found;
}
/// Writes a hook, and whether it listens to its event.
inline void write_hook(rows& all, hook_id id, const hook_record& hook) {
    all.put(hook_key(id), hook);
    all.put(hooks_of_event(hook.owner(), hook.event).id(id), hook.disabled_at ? "0" : "1");
}

/// A delivery that exists.
struct stored_delivery {
    hook_id hook;
    delivery_id id;
    outbox_delivery_record record;

    [[nodiscard]] bool has_ended() const noexcept {
        return record.state == delivery_state::delivered || record.state == delivery_state::given_up;
    }
    [[nodiscard]] bool is_leased(instant now) const noexcept {
        return record.leased_host && record.at > now && record.at <= latest_due(now);
    }
};
[[nodiscard]] inline std::optional<stored_delivery> find_delivery(rows& all, delivery_id id) {
    const auto hook = hook_of(id);
    auto record = hook ? all.get<outbox_delivery_record>(delivery_key(*hook, id)) : std::nullopt;
    if (!record) return std::nullopt;
    return stored_delivery{*hook, id, *std::move(record)};
}
[[nodiscard]] inline stored_delivery existing_delivery(rows& all, delivery_id id) {
    auto found = find_delivery(all, id);
    if (!found) throw_damaged(key{table::deliveries});
    return *std::move(found);
}

/// Sets when a hook may have a due delivery; empty: it has none. With `only_earlier`, a time that is later than before changes nothing.
inline void queue(rows& all, hook_id hook, std::optional<instant> at, bool only_earlier = false) {
    const key ready = key{table::ready_times}.id(hook);
    std::string value;
    const auto before = all.find(ready, value) ? std::optional{time_at(value, 0)} : std::nullopt;
    if (before == at || (only_earlier && before && at && *before <= *at)) return;
    if (before) all.erase(key{table::ready_hooks}.at(*before).id(hook));
    if (!at) return all.erase(ready);
    const key place = key{table::ready_hooks}.at(*at).id(hook);
    all.put(place, "");
    all.put(ready, std::string_view{place}.substr(1, 8));
}

inline void list(rows& all, const stored_delivery& of) {
    const outbox_delivery_record& record = of.record;
    if (record.state == delivery_state::waiting) {
        all.put(due_key(of.hook, record.at, of.id), "");
        if (record.leased_host) all.put(lease_key(*record.leased_host, record.at, of.id), "");
    } else if (record.state == delivery_state::held) {
        all.put(held_key(of.hook, of.id), "");
        all.put(held_since_key(record.at, of.id), "");
    } else {
        all.put(ended_key(record.at, of.id), "");
    }
}
inline void unlist(rows& all, const stored_delivery& of) {
    const outbox_delivery_record& record = of.record;
    if (record.state == delivery_state::waiting) {
        all.erase(due_key(of.hook, record.at, of.id));
        if (record.leased_host) all.erase(lease_key(*record.leased_host, record.at, of.id));
    } else if (record.state == delivery_state::held) {
        all.erase(held_key(of.hook, of.id));
        all.erase(held_since_key(record.at, of.id));
    } else {
        all.erase(ended_key(record.at, of.id));
    }
}

/// Removes a delivery with its attempts, and its event unless other deliveries need it.
inline void remove_rows(rows& all, const stored_delivery& gone) {
    unlist(all, gone);
    const std::uint64_t last = gone.record.last_attempt;
    for (std::uint64_t number = last; number > last - (std::min)(last, std::uint64_t{limits::attempts_per_delivery_max}); --number)
        all.erase(attempt_key(gone.id, number));
    const key count = key{table::event_counts}.bytes(gone.record.event);
    const std::uint64_t left = all.number(count);  // 0 for an event that had one delivery
    if (left > 1) all.put(count, number_value{left - 1});
    if (left == 1) all.erase(count);
    if (left <= 1) all.erase(event_key(gone.record.event));
    const std::uint64_t event_bytes = left <= 1 ? event_row_bytes + gone.record.event_bytes : 0;
    count_bytes(all, -static_cast<std::int64_t>(delivery_row_bytes + gone.record.attempts_bytes + event_bytes));
    all.erase(delivery_key(gone.hook, gone.id));
}

/// Counts ended deliveries, so that a hook keeps `limits::ended_deliveries_per_hook_max`. Removes the oldest ones beyond, a few at a time:
/// their numbers are consecutive, except for those that a sweep has removed or that have not ended.
inline void count_ended(rows& all, const stored_delivery& changed, bool has_ended) {
    constexpr int trimmed_max = 4;
    const key at = key{table::histories}.id(changed.hook);
    auto history = all.get<history_record>(at).value_or(history_record{});
    if (number_of(changed.id) < history.next) return;
    if (has_ended) ++history.ended;
    else if (history.ended > 0) --history.ended;
    for (int i = 0; i < trimmed_max && history.ended > limits::ended_deliveries_per_hook_max; ++i, ++history.next) {
        const auto id = delivery_id_of(changed.hook, history.next);
        const auto oldest = id ? find_delivery(all, *id) : std::nullopt;
        if (!oldest || !oldest->has_ended()) continue;
        remove_rows(all, *oldest);
        --history.ended;
    }
    all.put(at, history);
}

inline void remove_delivery(rows& all, const stored_delivery& gone) {
    remove_rows(all, gone);
    if (gone.has_ended()) count_ended(all, gone, false);
    else count_unsent(all, gone.hook, gone.record.event_bytes, false);
}

/// Moves a delivery to a state, from `at` on. Without `leased_host`, its lease ends.
inline void move(rows& all, stored_delivery& moved, delivery_state state, instant at, std::optional<std::uint64_t> leased_host = {}) {
    unlist(all, moved);
    const bool had_ended = moved.has_ended();
    moved.record.state = state;
    moved.record.at = at;
    moved.record.leased_host = leased_host;
    moved.record.lease_open = leased_host.has_value();
    all.put(delivery_key(moved.hook, moved.id), moved.record);
    list(all, moved);
    if (moved.has_ended() == had_ended) return;
    count_unsent(all, moved.hook, moved.record.event_bytes, had_ended);
    count_ended(all, moved, !had_ended);
}

/// Makes a delivery due now, and restarts its retry plan.
inline void make_due(rows& all, stored_delivery& due, instant now) {
    due.record.resend_requested = false;
    due.record.attempts_made = 0;
    move(all, due, delivery_state::waiting, now);
    queue(all, due.hook, now, true);
}

/// The leases of a disabled hook whose deliveries stay as they are.
enum class kept_leases : std::uint8_t { all, in_force };

/// Holds waiting deliveries of a disabled hook, except leased ones. Returns true if more may be left.
[[nodiscard]] inline bool hold_some(rows& all, hook_id hook, instant now, kept_leases kept) {
    // Leases are few: no host has more than a dispatcher allows.
    const auto waiting = all.ids<delivery_id>(key{table::due_deliveries}.id(hook), 2 * step_rows_max);
    std::size_t held = 0;
    for (const delivery_id each : waiting) {
        if (held == step_rows_max) return true;
        auto delivery = existing_delivery(all, each);
        if (kept == kept_leases::all ? delivery.record.leased_host.has_value() : delivery.is_leased(now)) continue;
        move(all, delivery, delivery_state::held, now);
        ++held;
    }
    return held != 0 && waiting.size() == 2 * step_rows_max;
}

/// Makes held deliveries of an enabled hook due. Returns true if more are left.
[[nodiscard]] inline bool release_some(rows& all, hook_id hook, instant now) {
    const auto held = all.ids<delivery_id>(key{table::held_deliveries}.id(hook), step_rows_max);
    for (const delivery_id each : held) {
        auto delivery = existing_delivery(all, each);
        make_due(all, delivery, now);
    }
    return held.size() == step_rows_max;
}

/// The deliveries of a hook whose lease counts for a host, in force or over.
[[nodiscard]] inline std::vector<delivery_id> leases_of(rows& all, hook_id hook, std::uint64_t host) {
    auto found = all.ids<delivery_id>(key{table::leases_of_host}.number(host));
    std::erase_if(found, [&](delivery_id each) { return hook_of(each) != hook; });
    return found;
}

/// Removes at most `rows_max` deliveries of deleted hooks. Returns how many.
inline std::size_t remove_of_deleted_hooks(rows& all, std::size_t rows_max) {
    std::size_t removed = 0;
    for (const hook_id deleted : all.ids<hook_id>(key{table::deleted_hooks}, rows_max)) {
        std::vector<delivery_id> some;
        all.scan(key{table::deliveries}.id(deleted), rows_max - removed, [&](std::string_view at, std::string_view) {
            if (const auto id = id_of<delivery_id>(~last_number(at))) some.push_back(*id);
            return true;
        });
        for (const delivery_id each : some) remove_rows(all, existing_delivery(all, each));
        removed += some.size();
        if (removed == rows_max) break;
        for (const table each : {table::deleted_hooks, table::last_deliveries, table::histories}) all.erase(key{each}.id(deleted));
    }
    return removed;
}
/// Removes at most `rows_max` deliveries that a table lists by the time since when they are in their state. Returns how many.
inline std::size_t remove_before(rows& all, table listed, instant before, std::size_t rows_max) {
    std::vector<delivery_id> found;
    all.scan(key{listed}, key{listed}.at(before), rows_max, [&](std::string_view at, std::string_view) {
        if (const auto id = id_of<delivery_id>(last_number(at))) found.push_back(*id);
        return true;
    });
    for (const delivery_id each : found)
        if (const auto gone = find_delivery(all, each)) remove_delivery(all, *gone);  // it may have been trimmed meanwhile
    return found.size();
}
inline std::size_t sweep_deliveries(rows& all, instant ended_before, std::size_t rows_max) {
    std::size_t swept = remove_of_deleted_hooks(all, rows_max);
    for (const table each : {table::ended_deliveries, table::held_by_time})
        swept += remove_before(all, each, ended_before, rows_max - swept);
    return swept;
}

/// Makes room by removing deliveries of deleted hooks, and those that ended first; not those that are held. Returns whether it suffices.
[[nodiscard]] inline bool make_room(rows& all, std::uint64_t bytes) {
    constexpr std::size_t rows_max = 8;
    const auto fits = [&] { return all.bounds() == nullptr || all.number(outbox_bytes_key()) + bytes <= all.bounds()->outbox_bytes_max; };
    while (!fits())
        if (remove_of_deleted_hooks(all, rows_max) == 0 && remove_before(all, table::ended_deliveries, (instant::max)(), rows_max) == 0)
            return false;
    return true;
}

}  // namespace tollgate::key_value_detail

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_DELIVERIES_HPP

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_OUTBOX_IPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_OUTBOX_IPP

#include <tollgate/store/detail/key_value/deliveries.hpp>
#include <tollgate/store/detail/sql/hook_secrets.hpp>
#include <tollgate/store/key_value.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

namespace tollgate::inline v0 {

namespace key_value_detail {

/// The key of an event: from its seed, so that a call that is repeated finds what the first one has appended.
[[nodiscard]] inline digest event_digest(const event& reported, const message_seed& seed, std::optional<hook_id> only_to) {
    std::string text{reinterpret_cast<const char*>(seed.data()), seed.size()};
    text += number_value{only_to ? static_cast<std::uint64_t>(only_to->value()) : 0};
    text += hooks_of_event(reported.account, reported.name);
    return sha256(text);
}

/// The error for an account, or hosts, that have used their share; empty if one of the hooks can get the event.
[[nodiscard]] inline std::optional<error> find_used_share(rows& all, const std::vector<hook_id>& to, const account_ref& account,
                                                          std::uint64_t event_bytes) {
    if (all.bounds() == nullptr) return std::nullopt;
    std::uint64_t of_account = to.size() * unsent_bytes(event_bytes);
    for (const hook_id each : all.ids<hook_id>(hooks_of_account(account)))
        of_account += all.existing<unsent_record>(unsent_key(each)).bytes;
    if (of_account > outbox_share(all)) return share_is_used(all, "to webhooks of one account");
    for (const hook_id each : to)
        if (host_has_share(all, each, event_bytes)) return std::nullopt;
    return share_is_used(all, "to " + delivery_host(all.existing<hook_record>(hook_key(to.back())).target_url));
}

/// Adds a delivery. Returns true if it is due; if its host has used its share, it is given up at once.
[[nodiscard]] inline bool add_delivery(rows& all, hook_id to, const digest& event, const tollgate::event& reported,
                                       const message_seed& seed, instant now) {
    const auto id = delivery_id_of(to, all.add(key{table::last_deliveries}.id(to), 1));
    if (!id) throw failed{unavailable("the webhook " + std::to_string(to.value()) + " has had 2^32 deliveries, or its id is above 2^31")};
    const bool is_due = host_has_share(all, to, reported.data.size());
    const stored_delivery added{to, *id, {.event = event, .event_name = reported.name, .message_id = message_id_of(seed, to),
                                          .created_at = now, .at = now,
                                          .state = is_due ? delivery_state::waiting : delivery_state::given_up,
                                          .event_bytes = reported.data.size()}};
    all.put(delivery_key(to, *id), added.record);
    list(all, added);
    count_bytes(all, delivery_row_bytes);
    if (is_due) {
        count_unsent(all, to, reported.data.size(), true);
        queue(all, to, now, true);
    } else {
        count_ended(all, added, true);
    }
    return is_due;
}

using leased_events = std::unordered_map<digest, std::shared_ptr<const event>>;

[[nodiscard]] inline const std::shared_ptr<const event>& event_of(rows& all, const digest& named, leased_events& known) {
    auto& found = known[named];
    if (!found) {
        auto stored = all.existing<event_record>(event_key(named));
        found = std::make_shared<const event>(
            event{{stored.service, stored.account}, std::move(stored.name), std::move(stored.data), stored.at});
    }
    return found;
}

/// Makes deliveries due whose time, or the end of whose lease, was set by a wrong clock.
inline void correct_times(rows& all, hook_id hook, instant now) {
    const key listed = key{table::due_deliveries}.id(hook);
    std::vector<delivery_id> wrong;
    all.scan(key{listed}.after(latest_due(now)), listed.end(), step_rows_max, [&](std::string_view at, std::string_view) {
        if (const auto id = id_of<delivery_id>(last_number(at))) wrong.push_back(*id);
        return true;
    });
    for (const delivery_id each : wrong) {
        auto delivery = existing_delivery(all, each);
        unlist(all, delivery);
        delivery.record.at = now;
        list(all, delivery);
        all.put(delivery_key(hook, each), delivery.record);
    }
}

/// Leases the next deliveries of a hook, and queues it again.
inline void lease_for(rows& all, const lease_request& request, const lease_time& time, std::vector<due_delivery>& leased,
                      leased_events& events) {
    auto hook = find_hook(all, request.hook);
    if (!hook) return;
    const hook_id id = request.hook;
    correct_times(all, id, time.now);
    const key listed = key{table::due_deliveries}.id(id);
    const auto first_time = [&] {
        std::optional<instant> first;
        all.scan(listed, 1, [&](std::string_view at, std::string_view) { return first = time_at(at, 9), false; });
        return first;
    };
    if (hook->disabled_at) {
        const bool has_more = hold_some(all, id, time.now, kept_leases::in_force);
        if (const bool before = std::exchange(hook->is_changing_deliveries, has_more); before != has_more) all.put(hook_key(id), *hook);
        return queue(all, id, has_more ? std::optional{time.now} : first_time());
    }
    if (hook->is_changing_deliveries) {
        hook->is_changing_deliveries = release_some(all, id, time.now);
        all.put(hook_key(id), *hook);
    }

    const key leases = key{table::leases_of_host}.number(hook->host);
    std::size_t in_force = 0;
    all.scan(key{leases}.after(time.now), key{leases}.after(latest_due(time.now)), request.host_leases_max,
             [&](std::string_view, std::string_view) { return ++in_force, true; });
    const std::size_t rows_max = (std::min)(request.deliveries_max, request.host_leases_max - in_force);
    std::vector<delivery_id> due;
    std::optional<instant> next;  // the time of the first delivery that this call does not lease
    all.scan(listed, all_rows, [&](std::string_view at, std::string_view) {
        const instant due_at = time_at(at, 9);
        if (due_at > time.now || due.size() == rows_max) return next = due_at, false;
        if (const auto delivery = id_of<delivery_id>(last_number(at))) due.push_back(*delivery);
        return true;
    });
    std::vector<std::string> previous_secrets;
    for (const auto& each : hook->previous)
        if (time.now < each.valid_until) previous_secrets.push_back(each.secret);
    for (const delivery_id each : due) {
        auto delivery = existing_delivery(all, each);
        outbox_delivery_record& record = delivery.record;
        ++record.lease_number;
        record.resend_requested = false;
        move(all, delivery, delivery_state::waiting, time.until, hook->host);
        leased.push_back({.lease = {each, record.lease_number},
                          .hook = id,
                          .event = event_of(all, record.event, events),
                          .message_id = record.message_id,
                          .type = hook->type,
                          .target_url = hook->target_url,
                          .secret = hook->secret,
                          .previous_secrets = previous_secrets,
                          .attempts_made = static_cast<unsigned>(record.attempts_made)});
    }
    if (next && *next <= time.now)
        next = in_force + due.size() >= request.host_leases_max ? (std::max)(request.full_host_retry_at, time.now) : time.now;
    else if (!due.empty() && (!next || time.until < *next)) next = time.until;
    queue(all, id, next);
}

/// Records an attempt in place of the oldest one that is kept.
inline void record_attempt(rows& all, stored_delivery& made_for, const attempt& made, bool has_room) {
    const std::uint64_t number = ++made_for.record.last_attempt;
    attempt_record<std::string_view> added{made.at, made.duration, made.end, made.cause, made.status, {}, {}};
    if (has_room) {  // otherwise, the attempt matters more than its texts
        added.response = made.response;
        added.request = made.request;
    }
    std::int64_t bytes = bytes_of(added);
    all.put(attempt_key(made_for.id, number), added);
    if (number > limits::attempts_per_delivery_max) {
        const key oldest = attempt_key(made_for.id, number - limits::attempts_per_delivery_max);
        bytes -= bytes_of(all.existing<attempt_record<std::string>>(oldest));
        all.erase(oldest);
    }
    made_for.record.attempts_bytes += static_cast<std::uint64_t>(bytes);
    count_bytes(all, bytes);
}

inline completion complete_one(rows& all, const attempt_result& ended, instant now) {
    const bool is_recorded = ended.outcome != delivery_outcome::not_attempted;
    // First, because this may remove deliveries.
    const bool has_room = !is_recorded || make_room(all, attempt_row_bytes + ended.attempt.response.size() + ended.attempt.request.size());
    auto delivery = find_delivery(all, ended.lease.delivery);
    auto hook = delivery ? find_hook(all, delivery->hook) : std::nullopt;
    if (!hook) return completion::too_late;
    outbox_delivery_record& record = delivery->record;
    if (is_recorded) record_attempt(all, *delivery, ended.attempt, has_room);
    if (!record.lease_open || record.lease_number != ended.lease.number) {
        all.put(delivery_key(delivery->hook, delivery->id), record);
        return completion::too_late;
    }
    const hook_status before = hook->status();
    const completed_delivery after = complete_delivery(
        {static_cast<unsigned>(record.attempts_made), record.resend_requested, before, hook->target_url}, ended, now);
    record.attempts_made = after.attempts_made;
    record.resend_requested = false;
    move(all, *delivery, after.state, after.at);
    if (after.state == delivery_state::waiting) queue(all, delivery->hook, after.at, true);
    if (after.hook == before) return after.result;
    hook->set(after.hook);
    if (after.result == completion::hook_disabled) {
        hook->is_changing_deliveries = hold_some(all, delivery->hook, now, kept_leases::all);  // `lease` holds the rest
        if (hook->is_changing_deliveries) queue(all, delivery->hook, now, true);
        write_hook(all, delivery->hook, *hook);
    } else {
        all.put(hook_key(delivery->hook), *hook);
    }
    return after.result;
}

}  // namespace key_value_detail

TOLLGATE_DECL result<std::size_t> record_store::append_event(const event& reported, const message_seed& seed, instant now,
                                                             std::optional<hook_id> only_to) noexcept {
    using namespace key_value_detail;
    auto appended = change(database_, [&](rows& all) -> result<std::size_t> {
        std::vector<hook_id> to;
        if (only_to) {
            const auto hook = find_hook(all, reported.account, *only_to);
            if (!hook) return std::size_t{0};
            if (hook->disabled_at) return hook_is_disabled();
            to.push_back(*only_to);
        } else {
            all.scan(hooks_of_event(reported.account, reported.name), all_rows, [&](std::string_view at, std::string_view enabled) {
                if (const auto id = id_of<hook_id>(last_number(at)); id && enabled == "1") to.push_back(*id);
                return true;
            });
        }
        if (to.empty()) return std::size_t{0};
        const digest named = event_digest(reported, seed, only_to);
        if (const auto existing = all.get<event_record>(event_key(named))) return static_cast<std::size_t>(existing->appended);
        const std::size_t event_bytes = reported.data.size();
        if (auto used = find_used_share(all, to, reported.account, event_bytes)) return *std::move(used);
        if (!make_room(all, event_row_bytes + event_bytes + to.size() * delivery_row_bytes))
            return unavailable("The memory store's outbox holds " + std::to_string(all.bounds()->outbox_bytes_max) +
                               " bytes, the maximum (memory_settings::outbox_bytes_max).");
        std::size_t due = 0;
        for (const hook_id each : to)
            if (add_delivery(all, each, named, reported, seed, now)) ++due;
        all.put(event_key(named), event_record{due, reported.account.service, reported.account.account, reported.at, reported.name,
                                               reported.data});
        if (to.size() > 1) all.put(key{table::event_counts}.bytes(named), number_value{to.size()});
        count_bytes(all, static_cast<std::int64_t>(event_row_bytes + event_bytes));
        return due;
    });
    if (appended && *appended != 0) appended_.fetch_add(1, std::memory_order_relaxed);
    return appended;
}

TOLLGATE_DECL result<due_hook_page> record_store::due_hooks(instant now, std::size_t rows_max) noexcept {
    using namespace key_value_detail;
    return read(database_, [&](rows& all) {
        due_hook_page page;
        std::vector<hook_id> ids;
        const key ready{table::ready_hooks};
        const auto add = [&](std::string_view at, std::string_view) {
            const instant ready_at = time_at(at, 1);
            const bool is_due = ready_at <= now || ready_at > latest_due(now);
            if (!is_due || ids.size() == rows_max) return page.next_at = is_due ? now : ready_at, false;
            if (const auto id = id_of<hook_id>(last_number(at))) ids.push_back(*id);
            return true;
        };
        // First those whose time was set by a wrong clock: `lease` corrects it, so that they do not delay the others.
        all.scan(key{ready}.after(latest_due(now)), ready.end(), all_rows, add);
        if (!page.next_at) all.scan(ready, key{ready}.after(latest_due(now)), all_rows, add);
        for (const hook_id id : ids) {
            auto hook = all.existing<hook_record>(hook_key(id));
            page.hooks.push_back({id, hook.owner(), std::move(hook.target_url)});
        }
        return page;
    });
}

TOLLGATE_DECL result<delivery_backlog> record_store::backlog(instant now, std::size_t rows_max) noexcept {
    using namespace key_value_detail;
    return read(database_, [&](rows& all) {
        delivery_backlog found;
        std::vector<hook_id> ready;
        // Hooks that are ready, or whose host is full, have due deliveries.
        const key end = key{table::ready_hooks}.after(now + seconds{limits::full_host_retry_seconds_max});
        all.scan(key{table::ready_hooks}, end, all_rows, [&](std::string_view at, std::string_view) {
            if (const auto id = id_of<hook_id>(last_number(at))) ready.push_back(*id);
            return true;
        });
        for (const hook_id id : ready) {
            if (const auto hook = find_hook(all, id); !hook || hook->disabled_at) continue;
            const key listed = key{table::due_deliveries}.id(id);
            all.scan(listed, key{listed}.after(now), all_rows, [&](std::string_view at, std::string_view) {
                const instant due_at = time_at(at, 9);
                if (!found.due_since || due_at < *found.due_since) found.due_since = due_at;
                if (found.due == rows_max) return false;  // the others are not older
                return ++found.due, true;
            });
        }
        return found;
    });
}

TOLLGATE_DECL result<std::vector<due_delivery>> record_store::lease(std::span<const lease_request> requests,
                                                                    const lease_time& time) noexcept {
    using namespace key_value_detail;
    if (requests.empty()) return std::vector<due_delivery>{};
    auto leased = change(database_, [&](rows& all) {
        std::vector<due_delivery> found;
        leased_events events;
        for (const lease_request& each : requests) lease_for(all, each, time, found, events);
        return found;
    });
    if (!leased) return leased;
    return detail::without_exceptions([&]() -> result<std::vector<due_delivery>> {
        const secret_keys none;
        sql::decrypt_all(hook_secret_keys_ ? std::as_const(*hook_secret_keys_) : none, *leased);
        return std::move(leased);
    });
}

TOLLGATE_DECL result<std::vector<completion>> record_store::complete(std::span<const attempt_result> ended, instant now) noexcept {
    using namespace key_value_detail;
    if (ended.empty()) return std::vector<completion>{};
    return change(database_, [&](rows& all) {
        std::vector<completion> results;
        for (const attempt_result& each : ended) results.push_back(complete_one(all, each, now));
        return results;
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_OUTBOX_IPP

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_DELIVERY_HISTORY_IPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_DELIVERY_HISTORY_IPP

#include <tollgate/store/detail/key_value/outbox.ipp>
#include <tollgate/store/detail/key_value/deliveries.hpp>
#include <tollgate/store/key_value.hpp>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

namespace tollgate::inline v0 {

namespace key_value_detail {

/// The state in a list: that of the hook counts, while its deliveries are still to be held or sent.
[[nodiscard]] inline delivery_state listed_state(const outbox_delivery_record& record, const hook_record& hook) noexcept {
    if (record.state == delivery_state::waiting && hook.disabled_at && !record.leased_host) return delivery_state::held;
    if (record.state == delivery_state::held && !hook.disabled_at) return delivery_state::waiting;
    return record.state;
}

[[nodiscard]] inline listed_delivery describe(hook_id hook, delivery_id id, outbox_delivery_record&& record, delivery_state state) {
    const bool waits = state == delivery_state::waiting;
    return {{id, hook, std::move(record.event_name), record.message_id, record.created_at, state,
             static_cast<unsigned>(record.attempts_made), waits ? std::optional{record.at} : std::nullopt}};
}

[[nodiscard]] inline std::vector<attempt> attempts_of(rows& all, delivery_id made_for, std::size_t attempts_max) {
    std::vector<attempt> found;
    attempt_record<std::string> record;
    const key listed = key{table::attempts}.id(made_for);
    all.scan(listed, attempts_max, [&](std::string_view at, std::string_view value) {
        if (!decode(value, record)) throw_damaged(at);
        found.push_back({record.at, record.duration, record.end, static_cast<unsigned>(record.status), std::move(record.response),
                         std::move(record.request), record.cause});
        return true;
    });
    return found;
}

/// Returns false if the account has no such delivery.
[[nodiscard]] inline result<bool> resend_one(rows& all, const account_ref& account, delivery_id id, instant now) {
    auto delivery = find_delivery(all, id);
    const auto hook = delivery ? find_hook(all, account, delivery->hook) : std::nullopt;
    if (!hook) return false;
    if (hook->disabled_at) return hook_is_disabled();
    if (delivery->is_leased(now)) {  // `complete` makes it due
        delivery->record.resend_requested = true;
        delivery->record.attempts_made = 0;
        all.put(delivery_key(delivery->hook, id), delivery->record);
    } else {
        make_due(all, *delivery, now);
    }
    return true;
}

[[nodiscard]] inline result<std::size_t> resend_given_up(rows& all, const account_ref& account, const given_up_deliveries& selected,
                                                         instant now) {
    const auto hook = find_hook(all, account, selected.hook);
    if (!hook) return std::size_t{0};
    if (hook->disabled_at) return hook_is_disabled();
    std::vector<delivery_id> found;
    outbox_delivery_record record;
    all.scan(key{table::deliveries}.id(selected.hook), all_rows, [&](std::string_view at, std::string_view value) {
        if (!decode(value, record)) throw_damaged(at);
        const auto id = id_of<delivery_id>(~last_number(at));
        if (id && record.state == delivery_state::given_up && record.created_at >= selected.since) found.push_back(*id);
        return true;
    });
    std::reverse(found.begin(), found.end());  // the oldest first
    if (found.size() > selected.rows_max) found.resize(selected.rows_max, delivery_id{1});
    std::size_t count = 0;
    for (const delivery_id each : found) {
        auto delivery = existing_delivery(all, each);
        if (auto used = find_used_share(all, {selected.hook}, account, delivery.record.event_bytes)) {
            if (count == 0) return *std::move(used);
            break;
        }
        make_due(all, delivery, now);
        ++count;
    }
    return count;
}

}  // namespace key_value_detail

TOLLGATE_DECL result<std::vector<listed_delivery>> record_store::deliveries_of(const account_ref& account,
                                                                               const delivery_query& query) noexcept {
    using namespace key_value_detail;
    return read(database_, [&](rows& all) {
        std::vector<listed_delivery> found;
        const auto hook = find_hook(all, account, query.hook);
        if (!hook || query.rows_max == 0) return found;
        const auto add = [&](delivery_id id, outbox_delivery_record&& record) {
            const delivery_state state = listed_state(record, *hook);
            const bool is_older = !query.older_than || id < *query.older_than;
            if (is_older && (!query.state || *query.state == state)) found.push_back(describe(query.hook, id, std::move(record), state));
            return found.size() < query.rows_max;
        };
        if (query.delivery) {
            if (auto delivery = find_delivery(all, *query.delivery); delivery && delivery->hook == query.hook)
                add(delivery->id, std::move(delivery->record));
        } else {
            const key listed = key{table::deliveries}.id(query.hook);
            const key first = query.older_than ? delivery_key(query.hook, *query.older_than) : listed;
            outbox_delivery_record record;
            all.scan(first, listed.end(), all_rows, [&](std::string_view at, std::string_view value) {
                if (!decode(value, record)) throw_damaged(at);
                const auto id = id_of<delivery_id>(~last_number(at));
                return !id || add(*id, std::move(record));
            });
        }
        if (query.attempts_max != 0)
            for (listed_delivery& each : found) each.attempts = attempts_of(all, each.delivery.id, query.attempts_max);
        return found;
    });
}

TOLLGATE_DECL result<std::size_t> record_store::resend(const account_ref& account, const resend_request& resent, instant now) noexcept {
    using namespace key_value_detail;
    return change(database_, [&](rows& all) -> result<std::size_t> {
        if (const auto* const selected = std::get_if<given_up_deliveries>(&resent)) return resend_given_up(all, account, *selected, now);
        return resend_one(all, account, std::get<delivery_id>(resent), now).transform([](bool found) { return std::size_t{found}; });
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_DELIVERY_HISTORY_IPP

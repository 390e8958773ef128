#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_HOOKS_IPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_HOOKS_IPP

#include <tollgate/base/secret.hpp>
#include <tollgate/store/detail/key_value/deliveries.hpp>
#include <tollgate/store/key_value.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace tollgate::inline v0 {

namespace key_value_detail {

/// The stored form of a secret.
[[nodiscard]] inline result<std::string> encrypt(const std::optional<secret_keys>& keys, const std::string& secret,
                                                 const account_ref& account) {
    return keys ? keys->encrypt(secret, hook_secret_context(account)) : result<std::string>{secret};
}

inline result<bool> change_fields(rows& all, hook_id id, hook_record& hook, const hook_fields& changed) {
    const account_ref account = hook.owner();
    if (changed.event != hook.event) {
        if (all.count(hooks_of_event(account, changed.event), changed.hooks_per_event_max) >= changed.hooks_per_event_max)
            return too_many_hooks(changed.hooks_per_event_max);
        all.erase(hooks_of_event(account, hook.event).id(id));
    }
    if (changed.target_url != hook.target_url) hook.failing_since = hook.last_failure_at = std::nullopt;
    const std::uint64_t before = std::exchange(hook.host, host_of(changed.target_url));
    if (before != hook.host) {
        move_unsent(all, id, hook.host);
        for (const delivery_id each : leases_of(all, id, before)) {
            auto leased = existing_delivery(all, each);
            unlist(all, leased);
            leased.record.leased_host = hook.host;
            list(all, leased);
            all.put(delivery_key(id, each), leased.record);
        }
    }
    hook.event = changed.event;
    hook.target_url = changed.target_url;
    write_hook(all, id, hook);
    return true;
}

inline bool replace_secret(rows& all, hook_id id, hook_record& hook, const hook_secret_replacement& changed, const std::string& stored) {
    const digest added = sha256(changed.secret);
    if (hook.secret_digest == added) return true;  // the call is repeated
    if (changed.replaced && hook.secret_digest != *changed.replaced) return false;
    if (hook.previous.size() == limits::previous_secrets_max) hook.previous.pop_back();
    hook.previous.push_back({std::exchange(hook.secret, stored), changed.old_valid_until});
    std::rotate(hook.previous.begin(), hook.previous.end() - 1, hook.previous.end());  // the newest is first
    hook.secret_digest = added;
    all.put(hook_key(id), hook);
    return true;
}

/// The result of a step of enabling a hook.
struct enabling_step {
    bool exists = false, is_done = true;
};
/// First the deliveries that are still to be held, so that all of them are due; then the hook; then the held deliveries.
[[nodiscard]] inline enabling_step enable(rows& all, const account_ref& account, hook_id id, instant now) {
    auto hook = find_hook(all, account, id);
    if (!hook) return {};
    if (hook->disabled_at && hold_some(all, id, now, kept_leases::in_force)) return {true, false};
    hook->set({});
    hook->is_changing_deliveries = release_some(all, id, now);
    write_hook(all, id, *hook);
    return {true, !hook->is_changing_deliveries};
}

}  // namespace key_value_detail

TOLLGATE_DECL result<hook_id> record_store::create_hook(const new_hook& hook, std::size_t hooks_per_event_max) noexcept {
    using namespace key_value_detail;
    return change(database_, [&](rows& all) -> result<hook_id> {
        const auto secret = encrypt(hook_secret_keys_, hook.secret, hook.account);
        if (!secret) return secret.error();
        if (all.count(hooks_of_event(hook.account, hook.event), hooks_per_event_max) >= hooks_per_event_max)
            return too_many_hooks(hooks_per_event_max);
        const auto request = hook.idempotency_key ? std::optional{key{table::hook_requests}.bytes(*hook.idempotency_key)} : std::nullopt;
        if (request && all.has(*request)) return hook_exists();
        if (auto claimed = claim_row(all, bounded_hooks); !claimed) return std::move(claimed).error();
        const auto id = all.next_id<hook_id>(table::hooks);
        const std::uint64_t host = host_of(hook.target_url);
        begin_unsent(all, id, host);
        if (request) all.put(*request, number_value{id});
        write_hook(all, id, {hook.account.service, hook.account.account, hook.event, hook.type, hook.target_url, host,
                             *secret, sha256(hook.secret), hook.source, hook.created_at, {}, hook.idempotency_key});
        return id;
    });
}

TOLLGATE_DECL result<std::vector<hook>> record_store::hooks_of(const account_ref& account) noexcept {
    using namespace key_value_detail;
    return read(database_, [&](rows& all) {
        auto ids = all.ids<hook_id>(hooks_of_account(account));
        std::sort(ids.begin(), ids.end());
        std::vector<hook> found;
        for (const hook_id id : ids) {
            auto hook = all.existing<hook_record>(hook_key(id));
            found.push_back({id, account, std::move(hook.event), hook.source, std::move(hook.type), std::move(hook.target_url),
                             hook.created_at, hook.status().disabled, hook.failing_since, hook.secret_digest});
        }
        return found;
    });
}

TOLLGATE_DECL result<std::optional<account_ref>> record_store::account_of_hook(const service_name& service, hook_id id) noexcept {
    using namespace key_value_detail;
    return read(database_, [&](rows& all) {
        const auto hook = find_hook(all, id);
        return hook && hook->service == service ? std::optional{hook->owner()} : std::nullopt;
    });
}

TOLLGATE_DECL result<bool> record_store::change_hook(const account_ref& account, hook_id id, const hook_change& changed) noexcept {
    using namespace key_value_detail;
    if (const auto* const enabled = std::get_if<hook_enabling>(&changed)) {
        for (;;) {
            const auto step = change(database_, [&](rows& all) { return enable(all, account, id, enabled->now); });
            if (!step) return step.error();
            if (step->is_done) return step->exists;
        }
    }
    return change(database_, [&](rows& all) -> result<bool> {
        auto hook = find_hook(all, account, id);
        if (!hook) return false;
        if (const auto* const fields = std::get_if<hook_fields>(&changed)) return change_fields(all, id, *hook, *fields);
        const auto& replacement = std::get<hook_secret_replacement>(changed);
        const auto secret = encrypt(hook_secret_keys_, replacement.secret, account);
        if (!secret) return secret.error();
        return replace_secret(all, id, *hook, replacement, *secret);
    });
}

TOLLGATE_DECL result<bool> record_store::delete_hook(const account_ref& account, hook_id id) noexcept {
    using namespace key_value_detail;
    return change(database_, [&](rows& all) {
        const auto hook = find_hook(all, account, id);
        if (!hook) return false;
        all.erase(hook_key(id));
        all.erase(hooks_of_event(account, hook->event).id(id));
        if (hook->idempotency_key) all.erase(key{table::hook_requests}.bytes(*hook->idempotency_key));
        queue(all, id, std::nullopt);
        // The others are removed in sweeps, but leases count for the bound of their host.
        for (const delivery_id each : leases_of(all, id, hook->host)) remove_delivery(all, existing_delivery(all, each));
        end_unsent(all, id);
        release_row(all, bounded_hooks);
        all.put(key{table::deleted_hooks}.id(id), "");
        return true;
    });
}

TOLLGATE_DECL result<void> record_store::encrypt_secrets() noexcept {
    using namespace key_value_detail;
    if (!hook_secret_keys_) return {};
    const auto encrypted = [&](std::string& stored, const account_ref& account) {  // returns whether it changed
        const std::string context = hook_secret_context(account);
        auto text = hook_secret_keys_->decrypt(stored, context).and_then([&](const std::string& secret) {
            return hook_secret_keys_->encrypt(secret, context);
        });
        if (!text && text.error().kind == error_kind::internal) return false;  // damaged
        if (!text) {
            text.error().cause = context + ": " + text.error().cause;
            throw failed{std::move(text).error()};
        }
        const bool changes = stored != *text;
        stored = *std::move(text);
        return changes;
    };
    std::string next{key{table::hooks_of_event}};
    for (;;) {
        auto page = change(database_, [&](rows& all) -> std::string {  // returns where the next page begins; empty: there is none
            std::vector<hook_id> ids;
            std::string last;
            all.scan(next, key{table::hooks_of_event}.end(), step_rows_max, [&](std::string_view at, std::string_view) {
                if (const auto id = id_of<hook_id>(last_number(at))) ids.push_back(*id);
                last = at;
                return true;
            });
            for (const hook_id id : ids) {
                auto hook = all.existing<hook_record>(hook_key(id));
                bool changes = encrypted(hook.secret, hook.owner());
                for (auto& each : hook.previous) changes = encrypted(each.secret, hook.owner()) || changes;
                if (changes) all.put(hook_key(id), hook);
            }
            return ids.size() < step_rows_max ? std::string{} : last + '\0';
        });
        if (!page) return std::move(page).error();
        if (page->empty()) return {};
        next = *std::move(page);
    }
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_HOOKS_IPP

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_HOOKS_IPP
#define TOLLGATE_STORE_DETAIL_MEMORY_HOOKS_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/store/detail/memory/bounds.hpp>
#include <tollgate/store/detail/memory/hooks.hpp>
#include <tollgate/store/store_error.hpp>

#include <algorithm>
#include <utility>

namespace tollgate::inline v0::memory {

TOLLGATE_DECL result<hook_id> hooks::create(const new_hook& hook, std::size_t hooks_per_event_max) {
    if (hooks_.size() >= hooks_max_)
        return table_is_full(hooks_max_, "hooks", "hooks_max");
    auto& siblings = of_account_[hook.account];
    if (count_of_event(siblings, hook.event) >= hooks_per_event_max) return too_many_hooks(hooks_per_event_max);
    if (hook.idempotency_key)
        for (const auto& [id, each] : hooks_)
            if (each.hook.idempotency_key == hook.idempotency_key) return hook_exists();

    // The hook is added after everything that may throw.
    reserve_one_more(siblings);
    const hook_id id{++last_id_};
    hooks_.emplace(id, stored_hook{hook});
    siblings.push_back(id);
    return id;
}

TOLLGATE_DECL std::vector<hook> hooks::of(const account_ref& account) const {
    std::vector<hook> found;
    const auto owned = of_account_.find(account);
    if (owned == of_account_.end()) return found;
    found.reserve(owned->second.size());
    for (const hook_id id : owned->second) {
        const stored_hook& stored = hooks_.at(id);
        const new_hook& hook = stored.hook;
        found.push_back({id, hook.account, hook.event, hook.source, hook.type, hook.target_url, hook.created_at,
                         stored.status.disabled, stored.status.failing_since, digest_of(hook.secret)});
    }
    return found;
}

TOLLGATE_DECL std::optional<account_ref> hooks::account_of(const service_name& service, hook_id id) const {
    const auto found = hooks_.find(id);
    if (found == hooks_.end() || found->second.hook.account.service != service) return std::nullopt;
    return found->second.hook.account;
}

TOLLGATE_DECL bool hooks::replace_secret(const account_ref& account, hook_id id, const hook_secret_replacement& replacement) {
    stored_hook* const changed = find(account, id);
    if (changed == nullptr) return false;
    if (changed->hook.secret == replacement.secret) return true;  // the call is repeated
    if (replacement.replaced && digest_of(changed->hook.secret) != *replacement.replaced) return false;
    std::string added = replacement.secret;  // may throw, so before anything is changed
    auto& previous = changed->previous_secrets;
    previous.reserve(limits::previous_secrets_max + 1);
    previous.push_back({std::exchange(changed->hook.secret, std::move(added)), replacement.old_valid_until});
    std::rotate(previous.begin(), previous.end() - 1, previous.end());
    if (previous.size() > limits::previous_secrets_max) previous.pop_back();
    return true;
}

TOLLGATE_DECL result<bool> hooks::update(const account_ref& account, hook_id id, const hook_fields& fields) {
    stored_hook* const found = find(account, id);
    if (found == nullptr) return false;
    if (fields.event != found->hook.event && count_of_event(of_account_.at(account), fields.event) >= fields.hooks_per_event_max)
        return too_many_hooks(fields.hooks_per_event_max);
    hook_fields copied = fields;  // may throw, so before anything is changed
    if (copied.target_url != found->hook.target_url) found->status.failing_since = found->status.last_failure_at = std::nullopt;
    found->hook.event = std::move(copied.event);
    found->hook.target_url = std::move(copied.target_url);
    return true;
}

TOLLGATE_DECL bool hooks::remove(const account_ref& account, hook_id id) {
    const auto found = hooks_.find(id);
    if (found == hooks_.end() || found->second.hook.account != account) return false;
    hooks_.erase(found);
    const auto owned = of_account_.find(account);
    std::erase(owned->second, id);
    if (owned->second.empty()) of_account_.erase(owned);
    return true;
}

TOLLGATE_DECL stored_hook* hooks::find(const account_ref& account, hook_id id) noexcept {
    stored_hook* const found = find(id);
    return found != nullptr && found->hook.account == account ? found : nullptr;
}

TOLLGATE_DECL stored_hook* hooks::find(hook_id id) noexcept {
    const auto found = hooks_.find(id);
    return found == hooks_.end() ? nullptr : &found->second;
}

TOLLGATE_DECL std::size_t hooks::unsent_bytes_of(const account_ref& account) const {
    std::size_t sum = 0;
    if (const auto owned = of_account_.find(account); owned != of_account_.end())
        for (const hook_id id : owned->second) sum += hooks_.at(id).unsent_bytes;
    return sum;
}

TOLLGATE_DECL std::vector<hook_id> hooks::listening_to(const account_ref& account, std::string_view event) const {
    std::vector<hook_id> found;
    const auto owned = of_account_.find(account);
    if (owned == of_account_.end()) return found;
    for (const hook_id id : owned->second)
        if (const stored_hook& each = hooks_.at(id); each.hook.event == event && !each.status.disabled) found.push_back(id);
    return found;
}

TOLLGATE_DECL std::size_t hooks::count_of_event(const std::vector<hook_id>& among, std::string_view event) const {
    const auto count = std::count_if(among.begin(), among.end(), [&](hook_id each) { return hooks_.at(each).hook.event == event; });
    return static_cast<std::size_t>(count);
}

}  // namespace tollgate::memory

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_HOOKS_IPP

#pragma once

#include <tollgate/store/memory/hooks.hpp>
#include <tollgate/store/too_many_hooks.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace tollgate::memory {

TOLLGATE_DECL outcome<hook_id> hooks::create(const new_hook& made, std::size_t hooks_per_event_max) {
    const std::scoped_lock lock{mutex_};
    if (hooks_.size() >= hooks_max_)
        return unavailable("The memory store holds " + std::to_string(hooks_max_) +
                           " hooks, as many as it may (memory_settings::hooks_max).");
    auto& siblings = of_account_[made.account];
    const auto same_event = std::count_if(siblings.begin(), siblings.end(),
                                          [&](hook_id each) { return hooks_.at(each).made.event == made.event; });
    if (static_cast<std::size_t>(same_event) >= hooks_per_event_max) return too_many_hooks(hooks_per_event_max);

    // The hook comes after all that may throw.
    if (siblings.size() == siblings.capacity()) siblings.reserve((std::max)(siblings.size() * 2, std::size_t{4}));
    const hook_id id{++last_id_};
    hooks_.emplace(id, row{made, {}, {}});
    siblings.push_back(id);
    return id;
}

TOLLGATE_DECL outcome<std::vector<hook>> hooks::of(const account_ref& account) const {
    const std::scoped_lock lock{mutex_};
    std::vector<hook> found;
    const auto owned = of_account_.find(account);
    if (owned == of_account_.end()) return found;
    found.reserve(owned->second.size());
    for (const hook_id id : owned->second) {
        const new_hook& kept = hooks_.at(id).made;
        found.push_back({id, kept.account, kept.event, kept.source, kept.type, kept.target_url, kept.created_at});
    }
    return found;
}

TOLLGATE_DECL outcome<std::optional<account_ref>> hooks::account_of(const service_name& service, hook_id id) const {
    const std::scoped_lock lock{mutex_};
    const auto kept = hooks_.find(id);
    if (kept == hooks_.end() || kept->second.made.account.service != service) return std::optional<account_ref>{};
    return std::optional{kept->second.made.account};
}

TOLLGATE_DECL outcome<bool> hooks::replace_secret(const account_ref& account, hook_id id, const std::string& secret,
                                                  instant old_valid_until) {
    std::string added = secret;  // before the lock, and before anything is changed
    const std::scoped_lock lock{mutex_};
    const auto kept = hooks_.find(id);
    if (kept == hooks_.end() || kept->second.made.account != account) return false;
    row& changed = kept->second;
    changed.previous_secret = std::exchange(changed.made.secret, std::move(added));
    changed.previous_secret_until = old_valid_until;
    return true;
}

TOLLGATE_DECL outcome<bool> hooks::remove(const account_ref& account, hook_id id) {
    const std::scoped_lock lock{mutex_};
    const auto kept = hooks_.find(id);
    if (kept == hooks_.end() || kept->second.made.account != account) return false;
    hooks_.erase(kept);
    const auto owned = of_account_.find(account);
    std::erase(owned->second, id);
    if (owned->second.empty()) of_account_.erase(owned);
    return true;
}

}  // namespace tollgate::memory

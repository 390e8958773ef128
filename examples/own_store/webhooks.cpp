// The verbs of hook_store and outbox. What they do with deliveries is in delivery_tables.hpp.
#include "table_store.hpp"

#include <tollgate/base/limits.hpp>

namespace own_store {

hook_row* table_store::find_hook(const account_ref& account, hook_id id) {
    const auto found = hooks_.find(id);
    return found == hooks_.end() || found->second.hook.account != account ? nullptr : &found->second;
}

// [hooks]
result<hook_id> table_store::create_hook(const new_hook& hook, std::size_t hooks_per_event_max) {
    const std::lock_guard transaction{mutex_};
    // counted in the transaction that inserts, so that parallel calls cannot exceed the bound
    std::size_t count = 0;
    for (const auto& [id, row] : hooks_) {
        if (hook.idempotency_key && row.hook.idempotency_key == hook.idempotency_key)
            return error{error_kind::conflict, "The webhook exists.", {}};
        if (row.hook.account == hook.account && row.hook.event == hook.event) ++count;
    }
    if (count >= hooks_per_event_max) return invalid("event has reached its maximum number of webhooks.");
    const auto id = hook_id{++last_hook_};
    hooks_.emplace(id, hook_row{hook});
    return id;
}
// [/hooks]

result<std::vector<hook>> table_store::hooks_of(const account_ref& account) {
    const std::lock_guard transaction{mutex_};
    std::vector<hook> found;
    for (const auto& [id, row] : hooks_)
        if (const new_hook& stored = row.hook; stored.account == account)
            found.push_back({id, stored.account, stored.event, stored.source, stored.type, stored.target_url, stored.created_at,
                             row.status.disabled, row.status.failing_since, sha256(stored.secret)});
    return found;
}

result<std::optional<account_ref>> table_store::account_of_hook(const service_name& service, hook_id id) {
    const std::lock_guard transaction{mutex_};
    const auto found = hooks_.find(id);
    if (found == hooks_.end() || found->second.hook.account.service != service) return std::optional<account_ref>{};
    return std::optional{found->second.hook.account};
}

result<bool> table_store::replace_hook_secret(const account_ref& account, hook_id id, const std::string& secret,
                                              instant old_valid_until, const std::optional<digest>& replaced) {
    const std::lock_guard transaction{mutex_};
    hook_row* const found = find_hook(account, id);
    if (found == nullptr || (replaced && sha256(found->hook.secret) != *replaced)) return false;
    found->old_secrets.insert(found->old_secrets.begin(), {found->hook.secret, old_valid_until});
    if (found->old_secrets.size() > limits::previous_secrets_max) found->old_secrets.pop_back();
    found->hook.secret = secret;
    return true;
}

result<bool> table_store::update_hook(const account_ref& account, hook_id id, const hook_change& changed,
                                      std::size_t hooks_per_event_max) {
    const std::lock_guard transaction{mutex_};
    hook_row* const found = find_hook(account, id);
    if (found == nullptr) return false;
    std::size_t count = 0;
    for (const auto& [other, row] : hooks_)
        if (row.hook.account == account && row.hook.event == changed.event && other != id) ++count;
    if (changed.event != found->hook.event && count >= hooks_per_event_max)
        return invalid("event has reached its maximum number of webhooks.");
    if (found->hook.target_url != changed.target_url)  // the new one has not failed yet
        found->status.failing_since = found->status.last_failure_at = std::nullopt;
    found->hook.event = changed.event;
    found->hook.target_url = changed.target_url;
    return true;
}

result<bool> table_store::delete_hook(const account_ref& account, hook_id id) {
    const std::lock_guard transaction{mutex_};
    if (find_hook(account, id) == nullptr) return false;
    deliveries_.remove_of(id);
    hooks_.erase(id);
    return true;
}

result<std::size_t> table_store::append_event(const event& reported, const message_seed& seed, instant now) {
    const std::lock_guard transaction{mutex_};
    return deliveries_.append_event(reported, seed, now);
}

result<bool> table_store::append_event_to(hook_id to, const event& reported, const message_seed& seed, instant now) {
    const std::lock_guard transaction{mutex_};
    const hook_row* const found = find_hook(reported.account, to);
    if (found == nullptr) return false;
    if (found->status.disabled) return error{error_kind::conflict, "The webhook is disabled.", {}};
    deliveries_.append_event_to(to, reported, seed, now);
    return true;
}

result<due_hook_page> table_store::due_hooks(instant now, std::size_t rows_max) {
    const std::lock_guard transaction{mutex_};
    return deliveries_.due_hooks(now, rows_max);
}

result<std::vector<due_delivery>> table_store::lease(std::span<const lease_request> requests, const lease_time& time) {
    const std::lock_guard transaction{mutex_};
    return deliveries_.lease(requests, time);
}

result<std::vector<completion>> table_store::complete(std::span<const attempt_result> ended, instant now) {
    const std::lock_guard transaction{mutex_};
    return deliveries_.complete(ended, now);
}

result<std::vector<delivery>> table_store::deliveries_of(const account_ref& account, hook_id hook, std::size_t rows_max,
                                                         std::optional<delivery_id> before,
                                                         std::optional<delivery_state> state) {
    const std::lock_guard transaction{mutex_};
    if (find_hook(account, hook) == nullptr) return std::vector<delivery>{};
    return deliveries_.deliveries_of(hook, rows_max, before, state);
}

result<std::vector<recorded_attempt>> table_store::attempts_of(const account_ref& account, hook_id hook, std::size_t rows_max,
                                                               std::optional<delivery_id> delivery) {
    const std::lock_guard transaction{mutex_};
    if (find_hook(account, hook) == nullptr) return std::vector<recorded_attempt>{};
    return deliveries_.attempts_of(hook, rows_max, delivery);
}

result<bool> table_store::resend(const account_ref& account, delivery_id id, instant now) {
    const std::lock_guard transaction{mutex_};
    return deliveries_.resend(account, id, now);
}

result<std::size_t> table_store::resend_given_up(const account_ref& account, hook_id hook, instant since, std::size_t rows_max,
                                                 instant now) {
    const std::lock_guard transaction{mutex_};
    const hook_row* const found = find_hook(account, hook);
    if (found == nullptr) return std::size_t{0};
    if (found->status.disabled) return error{error_kind::conflict, "The webhook is disabled.", {}};
    return deliveries_.resend_given_up(hook, since, rows_max, now);
}

result<bool> table_store::enable_hook(const account_ref& account, hook_id id, instant now) {
    const std::lock_guard transaction{mutex_};
    hook_row* const found = find_hook(account, id);
    if (found == nullptr) return false;
    deliveries_.enable(id, *found, now);
    return true;
}

result<std::size_t> table_store::sweep_deliveries(instant ended_before, std::size_t rows_max) {
    const std::lock_guard transaction{mutex_};
    return deliveries_.sweep(ended_before, rows_max);
}

}  // namespace own_store

// The verbs of hook_store and outbox. What they do with deliveries is in delivery_tables.hpp.
#include "table_store.hpp"

#include <tollgate/base/limits.hpp>

#include <variant>

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

result<bool> table_store::set_fields(hook_id id, hook_row& to, const hook_fields& fields) {
    std::size_t count = 0;
    for (const auto& [other, row] : hooks_)
        if (row.hook.account == to.hook.account && row.hook.event == fields.event && other != id) ++count;
    if (fields.event != to.hook.event && count >= fields.hooks_per_event_max)
        return invalid("event has reached its maximum number of webhooks.");
    if (to.hook.target_url != fields.target_url)  // the new one has not failed yet
        to.status.failing_since = to.status.last_failure_at = std::nullopt;
    to.hook.event = fields.event;
    to.hook.target_url = fields.target_url;
    return true;
}

result<bool> table_store::change_hook(const account_ref& account, hook_id id, const hook_change& change) {
    const std::lock_guard transaction{mutex_};
    hook_row* const found = find_hook(account, id);
    if (found == nullptr) return false;
    if (const auto* const fields = std::get_if<hook_fields>(&change)) return set_fields(id, *found, *fields);
    if (const auto* const replacement = std::get_if<hook_secret_replacement>(&change)) {
        if (found->hook.secret == replacement->secret) return true;  // the call is repeated
        if (replacement->replaced && sha256(found->hook.secret) != *replacement->replaced) return false;
        found->old_secrets.insert(found->old_secrets.begin(), {found->hook.secret, replacement->old_valid_until});
        if (found->old_secrets.size() > limits::previous_secrets_max) found->old_secrets.pop_back();
        found->hook.secret = replacement->secret;
    } else {
        deliveries_.enable(id, *found, std::get<hook_enabling>(change).now);
    }
    return true;
}

result<bool> table_store::delete_hook(const account_ref& account, hook_id id) {
    const std::lock_guard transaction{mutex_};
    if (find_hook(account, id) == nullptr) return false;
    deliveries_.remove_of(id);
    hooks_.erase(id);
    return true;
}

result<std::size_t> table_store::append_event(const event& reported, const message_seed& seed, instant now,
                                              std::optional<hook_id> only_to) {
    const std::lock_guard transaction{mutex_};
    if (!only_to) return deliveries_.append_event(reported, seed, now);
    const hook_row* const found = find_hook(reported.account, *only_to);
    if (found == nullptr) return std::size_t{0};
    if (found->status.disabled) return error{error_kind::conflict, "The webhook is disabled.", {}};
    deliveries_.append_event_to(*only_to, reported, seed, now);
    return std::size_t{1};
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

result<std::vector<listed_delivery>> table_store::deliveries_of(const account_ref& account, const delivery_query& query) {
    const std::lock_guard transaction{mutex_};
    if (find_hook(account, query.hook) == nullptr) return std::vector<listed_delivery>{};
    return deliveries_.deliveries_of(query);
}

result<std::size_t> table_store::resend(const account_ref& account, const resend_request& resent, instant now) {
    const std::lock_guard transaction{mutex_};
    if (const auto* const id = std::get_if<delivery_id>(&resent)) return deliveries_.resend(account, *id, now);
    const auto& given_up = std::get<given_up_deliveries>(resent);
    const hook_row* const found = find_hook(account, given_up.hook);
    if (found == nullptr) return std::size_t{0};
    if (found->status.disabled) return error{error_kind::conflict, "The webhook is disabled.", {}};
    return deliveries_.resend_given_up(given_up, now);
}

}  // namespace own_store

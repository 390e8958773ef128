#pragma once
#ifndef TOLLGATE_CONTRACT_HOOK_STORE_HPP
#define TOLLGATE_CONTRACT_HOOK_STORE_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/model/hook.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tollgate::inline v0 {

/// Stores webhooks. Every verb is atomic; its effect is as durable as the store when it returns.
///
/// Thread rule: callable from many threads at once. Blocking: allowed if the store declares
/// `static constexpr bool blocking = true`. Errors: an `error`; nothing is thrown.
///
/// Exemplars: `memory_store`, `sqlite_store`, `postgres_store`. An adapter is correct if it passes `tollgate/testing/store_suite.hpp`.
template <class S>
concept hook_store = requires(S& s, const new_hook& created, const hook_change& changed, const account_ref& account,
                              const service_name& service, hook_id id, std::size_t hooks_per_event_max,
                              const std::string& secret, instant old_valid_until, const std::optional<digest>& replaced) {
    // Creates a hook with a new id; ids are never reused. error_kind::invalid if the account already has
    // `hooks_per_event_max` hooks for this event: counting and creating is one step, so that parallel calls cannot
    // exceed the bound. error_kind::conflict if a hook that was not deleted has the same `idempotency_key`.
    { s.create_hook(created, hooks_per_event_max) } -> std::same_as<result<hook_id>>;
    // The account's hooks, oldest first.
    { s.hooks_of(account) } -> std::same_as<result<std::vector<hook>>>;
    // The account of this service that a hook belongs to, which never changes; empty if the hook does not exist.
    { s.account_of_hook(service, id) } -> std::same_as<result<std::optional<account_ref>>>;
    // Replaces a hook's secret; returns whether the account has such a hook, and its secret has the digest `replaced`, if that is not
    // empty. From now on, deliveries are signed with `secret`; until `old_valid_until`, also with the replaced secret; and until their own
    // expiry, with secrets replaced earlier. At most the last `limits::previous_secrets_max` replaced secrets are used. Only an outbox
    // returns secrets, with due deliveries. A store without an outbox may pass the secret to the component that signs, or ignore it.
    { s.replace_hook_secret(account, id, secret, old_valid_until, replaced) } -> std::same_as<result<bool>>;
    // Sets a hook's event and target; returns whether the account has such a hook. Waiting deliveries are sent to the new target. A target
    // that differs from the previous one has not failed yet, so `failing_since` becomes empty. error_kind::invalid if the event changes and
    // the new one already has `hooks_per_event_max` hooks; counting and changing is one step, as in `create_hook`.
    { s.update_hook(account, id, changed, hooks_per_event_max) } -> std::same_as<result<bool>>;
    // Deletes a hook; returns whether the account had it.
    { s.delete_hook(account, id) } -> std::same_as<result<bool>>;
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_HOOK_STORE_HPP

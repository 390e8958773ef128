#pragma once

#include <tollgate/base/result.hpp>
#include <tollgate/model/hook.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tollgate::inline v0 {

/// Keeps webhooks. Every verb is one atomic intent, and durable (as far as the store is) when it returns.
///
/// Thread rule: callable from many threads at once. Blocking: allowed if the store declares
/// `static constexpr bool blocking = true`. Errors: an `error`; nothing is thrown.
///
/// Exemplar: `memory_store`, `sqlite_store`. An adapter of one's own is right when it passes
/// `tollgate/testing/store_suite.hpp`.
template <class S>
concept hook_store = requires(S& s, const new_hook& made, const account_ref& account, const service_name& service, hook_id id,
                              std::size_t hooks_per_event_max, const std::string& secret, instant old_valid_until) {
    // A hook with a new id; ids are never used again. error_kind::invalid when the account has `hooks_per_event_max`
    // hooks for this event already: counted and created in one step, so that parallel calls cannot pass the bound.
    { s.create_hook(made, hooks_per_event_max) } -> std::same_as<result<hook_id>>;
    // The account's hooks, oldest first.
    { s.hooks_of(account) } -> std::same_as<result<std::vector<hook>>>;
    // Which account of this service a hook belongs to, which never changes; none when there is no such hook.
    { s.account_of_hook(service, id) } -> std::same_as<result<std::optional<account_ref>>>;
    // Whether the account has such a hook. `secret` signs from now on, and the one that it replaces until
    // `old_valid_until`, too, as do those that were replaced before until their own time is over: of all of them the last
    // `limits::previous_secrets_max`.
    { s.replace_hook_secret(account, id, secret, old_valid_until) } -> std::same_as<result<bool>>;
    // Whether the account had such a hook; it is gone when this returns.
    { s.delete_hook(account, id) } -> std::same_as<result<bool>>;
};

}  // namespace tollgate

#pragma once
#ifndef TOLLGATE_CONTRACT_HOOK_STORE_HPP
#define TOLLGATE_CONTRACT_HOOK_STORE_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/contract/detail/reference.hpp>
#include <tollgate/model/hook.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <vector>

namespace tollgate::inline v0 {

/// Stores webhooks. Every verb is atomic. When it returns, its effect is as durable as the store.
///
/// Thread rule: callable from many threads at once. Blocking: allowed. A store that does not block declares
/// `static constexpr bool blocking = false`; see `may_block`. Errors: an `error`; nothing is thrown.
///
/// Exemplars: `memory_store`, `sqlite_store`, `postgres_store`. An adapter is correct if it passes `tollgate/testing/store_suite.hpp`.
template <class S>
concept hook_store = requires(S& s, const new_hook& created, const hook_change& change, const account_ref& account,
                              const service_name& service, hook_id id, std::size_t hooks_per_event_max) {
    // Creates a hook with a new id. Ids are never reused. error_kind::invalid if the account already has `hooks_per_event_max` hooks for
    // this event: counting and creating is one step, so that parallel calls cannot exceed the bound. error_kind::conflict if a hook that
    // was not deleted has the same `idempotency_key`.
    { s.create_hook(created, hooks_per_event_max) } -> std::same_as<result<hook_id>>;
    // Returns the account's hooks, oldest first.
    { s.hooks_of(account) } -> std::same_as<result<std::vector<hook>>>;
    // Returns the account of this service that a hook belongs to, which never changes, or an empty optional if the hook does not exist.
    { s.account_of_hook(service, id) } -> std::same_as<result<std::optional<account_ref>>>;
    // Changes a hook in one step. Returns true if the account has such a hook and:
    // - `hook_secret_replacement`: unless `replaced` is empty, its secret has the digest `replaced`, or is already the new secret. At most
    //   the last `limits::previous_secrets_max` replaced secrets are used. Only an outbox returns secrets, with due deliveries. A store
    //   without an outbox may pass the secret to the component that signs, or ignore it.
    // `hook_fields`: error_kind::invalid if the event changes and the account already has `hooks_per_event_max` hooks for the new event:
    // counting and changing is one step, as in `create_hook`.
    // `hook_enabling`: error_kind::unavailable if there are so many deliveries that the call takes too long: the hook stays disabled, and
    // another call continues. A store without an outbox disables no hook, so it changes nothing.
    { s.change_hook(account, id, change) } -> std::same_as<result<bool>>;
    // Deletes a hook. Returns true if the account had the hook.
    { s.delete_hook(account, id) } -> std::same_as<result<bool>>;
};

namespace detail {

struct hook_store_calls {
    result<hook_id> (*create_hook)(void*, const new_hook&, std::size_t);
    result<std::vector<hook>> (*hooks_of)(void*, const account_ref&);
    result<std::optional<account_ref>> (*account_of_hook)(void*, const service_name&, hook_id);
    result<bool> (*change_hook)(void*, const account_ref&, hook_id, const hook_change&);
    result<bool> (*delete_hook)(void*, const account_ref&, hook_id);
};

template <class T>
struct calls_of_hook_store {
    static result<hook_id> create_hook(void* object, const new_hook& created, std::size_t hooks_per_event_max) {
        return object_at<T>(object).create_hook(created, hooks_per_event_max);
    }
    static result<std::vector<hook>> hooks_of(void* object, const account_ref& account) { return object_at<T>(object).hooks_of(account); }
    static result<std::optional<account_ref>> account_of_hook(void* object, const service_name& service, hook_id id) {
        return object_at<T>(object).account_of_hook(service, id);
    }
    static result<bool> change_hook(void* object, const account_ref& account, hook_id id, const hook_change& change) {
        return object_at<T>(object).change_hook(account, id, change);
    }
    static result<bool> delete_hook(void* object, const account_ref& account, hook_id id) {
        return object_at<T>(object).delete_hook(account, id);
    }

    static constexpr hook_store_calls table{
            &create_hook, &hooks_of, &account_of_hook, &change_hook, &delete_hook};
};

}  // namespace detail

/// A reference to a `hook_store` of any class, or to no object. The object must outlive the reference. The contract states the thread
/// rule and the errors.
class hook_store_ref : public detail::reference<detail::hook_store_calls> {
public:
    hook_store_ref() noexcept = default;
    /// Constructs a reference to `object`.
    template <class T>
        requires detail::is_erasable<T, hook_store_ref>
    hook_store_ref(T& object) noexcept {
        static_assert(hook_store<T>, "tollgate: this does not satisfy hook_store; read tollgate/contract/hook_store.hpp");
        if constexpr (hook_store<T>) refer_to(object, detail::calls_of_hook_store<T>::table);
    }

    /// Each calls the object's function of this name; see `hook_store`.
    [[nodiscard]] result<hook_id> create_hook(const new_hook& created, std::size_t hooks_per_event_max) const {
        return calls_->create_hook(object_, created, hooks_per_event_max);
    }
    [[nodiscard]] result<std::vector<hook>> hooks_of(const account_ref& account) const { return calls_->hooks_of(object_, account); }
    [[nodiscard]] result<std::optional<account_ref>> account_of_hook(const service_name& service, hook_id id) const {
        return calls_->account_of_hook(object_, service, id);
    }
    [[nodiscard]] result<bool> change_hook(const account_ref& account, hook_id id, const hook_change& change) const {
        return calls_->change_hook(object_, account, id, change);
    }
    [[nodiscard]] result<bool> delete_hook(const account_ref& account, hook_id id) const {
        return calls_->delete_hook(object_, account, id);
    }
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_HOOK_STORE_HPP

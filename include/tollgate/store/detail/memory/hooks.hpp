#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_HOOKS_HPP
#define TOLLGATE_STORE_DETAIL_MEMORY_HOOKS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/hook.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tollgate::inline v0::memory {

/// A hook with the data that is not listed.
struct stored_hook {
    new_hook hook;
    struct old_secret {
        std::string secret;
        instant valid_until;
    };
    std::vector<old_secret> previous_secrets{};  // most recently replaced first
    hook_status status{};
    std::size_t unsent_bytes = 0;  // bytes of its deliveries that have not ended
};

/// The verbs of `hook_store`, in memory. The store locks it together with the outbox, because deliveries belong to
/// hooks.
class hooks {
public:
    explicit hooks(std::size_t hooks_max) : hooks_max_{hooks_max} {}

    TOLLGATE_DECL result<hook_id> create(const new_hook& hook, std::size_t hooks_per_event_max);
    [[nodiscard]] TOLLGATE_DECL std::vector<hook> of(const account_ref& account) const;
    [[nodiscard]] TOLLGATE_DECL std::optional<account_ref> account_of(const service_name& service, hook_id id) const;
    TOLLGATE_DECL bool replace_secret(const account_ref& account, hook_id id, const hook_secret_replacement& replacement);
    TOLLGATE_DECL result<bool> update(const account_ref& account, hook_id id, const hook_fields& fields);
    TOLLGATE_DECL bool remove(const account_ref& account, hook_id id);

    /// Null if the account has no such hook.
    [[nodiscard]] TOLLGATE_DECL stored_hook* find(const account_ref& account, hook_id id) noexcept;
    /// Null if there is none.
    [[nodiscard]] TOLLGATE_DECL stored_hook* find(hook_id id) noexcept;
    /// Precondition: there is such a hook.
    [[nodiscard]] stored_hook& at(hook_id id) { return hooks_.at(id); }
    /// The sum over all hooks of the account.
    [[nodiscard]] TOLLGATE_DECL std::size_t unsent_bytes_of(const account_ref& account) const;
    /// The hooks that an event is delivered to.
    [[nodiscard]] TOLLGATE_DECL std::vector<hook_id> listening_to(const account_ref& account, std::string_view event) const;

private:
    [[nodiscard]] TOLLGATE_DECL std::size_t count_of_event(const std::vector<hook_id>& among, std::string_view event) const;

    const std::size_t hooks_max_;

    std::int64_t last_id_ = 0;
    std::unordered_map<hook_id, stored_hook> hooks_;
    std::map<account_ref, std::vector<hook_id>> of_account_;  // oldest first
};

}  // namespace tollgate::memory

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/memory/hooks.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_HOOKS_HPP

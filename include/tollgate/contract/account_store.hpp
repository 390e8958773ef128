#pragma once
#ifndef TOLLGATE_CONTRACT_ACCOUNT_STORE_HPP
#define TOLLGATE_CONTRACT_ACCOUNT_STORE_HPP

#include <tollgate/contract/detail/reference.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/outbox.hpp>
#include <tollgate/contract/token_store.hpp>

namespace tollgate::inline v0 {

/// A reference to a store with everything that the users of account pages manage: tokens, applications, grants, webhooks and deliveries.
/// The store must outlive the reference. The contracts state the thread rules and the errors.
class account_store_ref : public credential_source_ref, public token_store_ref, public oauth_store_ref, public hook_store_ref,
                          public outbox_ref {
public:
    account_store_ref() noexcept = default;
    /// Refers to `store`, which is a `token_store`, an `oauth_store` and a `hook_store`, and may be an `outbox`.
    template <class Store>
        requires detail::is_erasable<Store, account_store_ref>
    account_store_ref(Store& store) noexcept
        : credential_source_ref{store}, token_store_ref{store}, oauth_store_ref{store}, hook_store_ref{store} {
        if constexpr (outbox<Store>) static_cast<outbox_ref&>(*this) = outbox_ref{store};
    }

    /// The same functions of the store, whichever contract names them.
    using token_store_ref::revoke;
    using oauth_store_ref::sweep;

    /// Returns true if the store is an `outbox`. Otherwise no function of `outbox` may be called.
    [[nodiscard]] bool has_outbox() const noexcept { return static_cast<bool>(static_cast<const outbox_ref&>(*this)); }
    /// Whether it refers to a store.
    explicit operator bool() const noexcept { return static_cast<bool>(static_cast<const token_store_ref&>(*this)); }
    [[nodiscard]] bool may_block() const noexcept { return token_store_ref::may_block(); }
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_ACCOUNT_STORE_HPP

#pragma once
#ifndef TOLLGATE_STORE_ANY_STORE_HPP
#define TOLLGATE_STORE_ANY_STORE_HPP

#include <tollgate/contract/account_store.hpp>
#include <tollgate/contract/session_source.hpp>

#include <memory>
#include <utility>

namespace tollgate::inline v0 {

/// A store of any class that satisfies all contracts: tokens, OAuth, webhooks with their outbox, and sessions. It can be chosen at run time
/// and be a member of a class that does not name the class of the store:
///
///     any_store store = file.empty() ? memory_store::make_any() : sqlite_store::open_any(file).value();
///     account_service service{settings, users, store, sessions};
///
/// Copies share the store. Thread rule, blocking and errors: as for the store.
class any_store : public account_store_ref, public session_store_ref {
public:
    /// Constructs an object that shares `store`, which is a `token_store`, an `oauth_store`, a `hook_store`, an `outbox` and a
    /// `session_store`.
    template <class Store>
    explicit any_store(std::shared_ptr<Store> store) noexcept
        : account_store_ref{*store}, session_store_ref{*store}, owner_{std::move(store)} {
        static_assert(outbox<Store>, "tollgate: this does not satisfy outbox; read tollgate/contract/outbox.hpp");
    }

    /// Constructs a `Store` from `arguments`. Throws what its constructor throws.
    template <class Store, class... Arguments>
    [[nodiscard]] static any_store of(Arguments&&... arguments) {
        return any_store{std::make_shared<Store>(std::forward<Arguments>(arguments)...)};
    }

    /// Returns true if calls of the store may wait; see `tollgate::may_block`.
    [[nodiscard]] bool may_block() const noexcept { return account_store_ref::may_block(); }

private:
    std::shared_ptr<void> owner_;
};

}  // namespace tollgate

#endif  // TOLLGATE_STORE_ANY_STORE_HPP

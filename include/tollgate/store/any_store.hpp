#pragma once
#ifndef TOLLGATE_STORE_ANY_STORE_HPP
#define TOLLGATE_STORE_ANY_STORE_HPP

#include <tollgate/base/backend_statistics.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/account_store.hpp>
#include <tollgate/contract/session_source.hpp>

#include <chrono>
#include <concepts>
#include <memory>
#include <utility>

namespace tollgate::inline v0 {

namespace detail {

/// What a store may have besides its contracts.
struct store_extras {
    backend_statistics (*statistics)(const void*) noexcept = nullptr;  // null if the store has none
    instant (*now)(const void*) noexcept = nullptr;                    // null if the store has no clock
};

template <class Store>
struct extras_of_store {
    static backend_statistics statistics(const void* store) noexcept { return static_cast<const Store*>(store)->statistics(); }
    static instant now(const void* store) noexcept { return static_cast<const Store*>(store)->clock().now(); }

    static consteval store_extras make_table() {
        store_extras extras;
        if constexpr (requires(const Store& store) { { store.statistics() } noexcept -> std::same_as<backend_statistics>; })
            extras.statistics = &statistics;
        if constexpr (requires(const Store& store) { { store.clock().now() } noexcept -> std::same_as<instant>; }) extras.now = &now;
        return extras;
    }
    static constexpr store_extras table = make_table();
};

}  // namespace detail

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
        : account_store_ref{*store}, session_store_ref{*store}, extras_{&detail::extras_of_store<Store>::table}, owner_{std::move(store)} {
        static_assert(outbox<Store>, "tollgate: this does not satisfy outbox; read tollgate/contract/outbox.hpp");
    }

    /// Constructs a `Store` from `arguments`. Throws what its constructor throws.
    template <class Store, class... Arguments>
    [[nodiscard]] static any_store of(Arguments&&... arguments) {
        return any_store{std::make_shared<Store>(std::forward<Arguments>(arguments)...)};
    }

    using account_store_ref::sweep;

    /// Returns true if calls of the store may wait; see `tollgate::may_block`.
    [[nodiscard]] bool may_block() const noexcept { return account_store_ref::may_block(); }

    /// Returns true if the store counts its calls, as stores in databases do.
    [[nodiscard]] bool has_statistics() const noexcept { return extras_->statistics != nullptr; }
    /// Returns what the store has done since it was opened; nothing if it does not count.
    [[nodiscard]] backend_statistics statistics() const noexcept {
        return has_statistics() ? extras_->statistics(owner_.get()) : backend_statistics{};
    }
    /// Returns the time of the store's clock, which all nodes share (`postgres_store::clock`), or of the system if the store has no clock.
    /// `any_store` satisfies the contract `time_source`: `policies.with_clock(store)`.
    [[nodiscard]] instant now() const noexcept { return extras_->now != nullptr ? extras_->now(owner_.get()) : system_clock{}.now(); }
    /// Returns the time of a clock that never goes backwards, for durations.
    [[nodiscard]] static std::chrono::nanoseconds steady_now() noexcept { return system_clock{}.steady_now(); }

private:
    const detail::store_extras* extras_;
    std::shared_ptr<void> owner_;
};

}  // namespace tollgate

#endif  // TOLLGATE_STORE_ANY_STORE_HPP

#pragma once
#ifndef TOLLGATE_CONTRACT_USER_DIRECTORY_HPP
#define TOLLGATE_CONTRACT_USER_DIRECTORY_HPP

#include <tollgate/base/detail/lookup.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/account.hpp>
#include <tollgate/model/detail/activity.hpp>
#include <tollgate/model/quota.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// The integrator's users.
///
/// Thread rule: every function may be called from many threads at once. Blocking: allowed if the directory declares
/// `static constexpr bool blocking = true`. Errors: an `error`; `error_kind::not_found` for a user that no longer
/// exists, whose credentials are then invalid. Never throws.
///
/// Exemplar:
///
///     struct shop_directory {
///         result<balance> balance_of(user_id user);
///         result<std::vector<account>> accounts_of(user_id user, std::string_view service);
///         result<std::optional<quota>> quota_of(user_id user);
///     };
///
/// Optional parts: `account_checker`, `quota_cache`, `balance_cache`, `activity_source`.
template <class D>
concept user_directory = requires(D& d, user_id user, std::string_view service) {
    // The user's balance, in the user's currency. Called for a balance request whose credential does not
    // include the balance.
    { d.balance_of(user) } -> std::same_as<result<balance>>;
    // The user's accounts at one service, in a stable order; empty if there are none or the service is unknown.
    { d.accounts_of(user, service) } -> std::same_as<result<std::vector<account>>>;
    // The user's own rate limit; empty for the default. Called for every request whose credential does not include it,
    // so it should be quick and not allocate. A changed value applies at once.
    { d.quota_of(user) } -> std::same_as<result<std::optional<quota>>>;
};

/// A blocking directory that caches quotas. Optional.
///
/// Never blocks; called on I/O threads, from many at once.
template <class D>
concept quota_cache = user_directory<D> && requires(const D& d, user_id user) {
    // What `quota_of` would return now. A miss is a user that no longer exists; for unknown, `quota_of` is called on a worker.
    { d.cached_quota_of(user) } noexcept -> std::same_as<lookup<std::optional<quota>>>;
};

/// A blocking directory that caches balances. Optional.
///
/// Never blocks; called on I/O threads, from many at once.
template <class D>
concept balance_cache = user_directory<D> && requires(const D& d, user_id user) {
    // The same for `balance_of`.
    { d.cached_balance_of(user) } noexcept -> std::same_as<lookup<balance>>;
};

/// A directory that can look up one account more cheaply than all accounts of a user. Optional.
///
/// Thread rule, blocking and errors: as those of `user_directory`.
template <class D>
concept account_checker = user_directory<D> && requires(D& d, user_id user, const account_ref& account) {
    // Whether the account belongs to the user.
    { d.has_account(user, account) } -> std::same_as<result<bool>>;
};

/// The user's quota, if the directory has cached it; unknown if it caches none.
template <user_directory D>
[[nodiscard]] lookup<std::optional<quota>> cached_quota_of(const D& directory, user_id user) noexcept {
    if constexpr (quota_cache<D>)
        return directory.cached_quota_of(user);
    else return lookup<std::optional<quota>>::unknown();
}

/// The same for a balance.
template <user_directory D>
[[nodiscard]] lookup<balance> cached_balance_of(const D& directory, user_id user) noexcept {
    if constexpr (balance_cache<D>)
        return directory.cached_balance_of(user);
    else return lookup<balance>::unknown();
}

/// Whether the account belongs to the user.
template <user_directory D>
[[nodiscard]] result<bool> has_account(D& directory, user_id user, const account_ref& ref) {
    if constexpr (account_checker<D>) {
        return directory.has_account(user, ref);
    } else {
        auto accounts = directory.accounts_of(user, ref.service.view());
        if (!accounts) return std::move(accounts).error();
        for (const account& each : *accounts)
            if (each.id == ref.account) return true;
        return false;
    }
}

/// A directory that keeps an audit log (see `activity_observer`) and lets users see theirs. Optional: with it `account_pages` has a
/// page of recent activity.
template <class D>
concept activity_source = user_directory<D> && requires(D& d, user_id user, std::size_t rows_max) {
    // What happened in the user's account, newest first, at most `rows_max`.
    { d.activity_of(user, rows_max) } -> std::same_as<result<std::vector<activity>>>;
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_USER_DIRECTORY_HPP

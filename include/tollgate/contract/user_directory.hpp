#pragma once

#include <tollgate/base/detail/lookup.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/account.hpp>
#include <tollgate/model/quota.hpp>

#include <concepts>
#include <optional>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// The integrator's users: what the process that Tollgate is a guest of knows about them already.
///
/// Thread rule: every function may be called from many threads at once. Blocking: allowed if the directory declares
/// `static constexpr bool blocking = true`. Errors: an `error`; `error_kind::not_found` for a user who is gone, whose
/// credentials then no longer let anyone in. Nothing is thrown.
///
/// Exemplar:
///
///     struct shop_directory {
///         result<balance> balance_of(user_id user);
///         result<std::vector<account>> accounts_of(user_id user, std::string_view service);
///         result<std::optional<quota>> quota_of(user_id user);
///     };
///
/// A directory may also have `result<bool> has_account(user_id, const account_ref&)`, where asking for one account is
/// cheaper than listing them all. One that blocks may also say what it has cached, see `cached_quota_of`.
template <class D>
concept user_directory = requires(D& d, user_id user, std::string_view service) {
    // What the user has, in the currency of their settings.
    { d.balance_of(user) } -> std::same_as<result<balance>>;
    // The user's accounts at one service, in a stable order; empty when there are none or the service is not known.
    { d.accounts_of(user, service) } -> std::same_as<result<std::vector<account>>>;
    // The user's own rate limit; none for the default. Asked on every request whose credential did not come with
    // it, so it should be quick and without heap memory; what it says counts at once.
    { d.quota_of(user) } -> std::same_as<result<std::optional<quota>>>;
};

/// What a directory says of a user without blocking: `lookup<std::optional<quota>> cached_quota_of(user_id) const noexcept`, optional.
/// It returns what `quota_of` would; a miss is a user who is gone, and unknown means that `quota_of` has to be asked.
template <user_directory D>
[[nodiscard]] lookup<std::optional<quota>> cached_quota_of(const D& directory, user_id user) noexcept {
    if constexpr (requires { { directory.cached_quota_of(user) } noexcept -> std::same_as<lookup<std::optional<quota>>>; })
        return directory.cached_quota_of(user);
    else return lookup<std::optional<quota>>::unknown();
}

/// The same of `balance_of`: `lookup<balance> cached_balance_of(user_id) const noexcept`, optional.
template <user_directory D>
[[nodiscard]] lookup<balance> cached_balance_of(const D& directory, user_id user) noexcept {
    if constexpr (requires { { directory.cached_balance_of(user) } noexcept -> std::same_as<lookup<balance>>; })
        return directory.cached_balance_of(user);
    else return lookup<balance>::unknown();
}

/// Whether the account is one of the user's.
template <user_directory D>
[[nodiscard]] result<bool> has_account(D& directory, user_id user, const account_ref& wanted) {
    if constexpr (requires { { directory.has_account(user, wanted) } -> std::same_as<result<bool>>; }) {
        return directory.has_account(user, wanted);
    } else {
        auto accounts = directory.accounts_of(user, wanted.service.view());
        if (!accounts) return std::move(accounts).error();
        for (const account& each : *accounts)
            if (each.id == wanted.account) return true;
        return false;
    }
}

}  // namespace tollgate

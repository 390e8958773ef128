#pragma once
#ifndef TOLLGATE_CONTRACT_USER_DIRECTORY_HPP
#define TOLLGATE_CONTRACT_USER_DIRECTORY_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/contract/detail/member_names.hpp>
#include <tollgate/contract/detail/reference.hpp>
#include <tollgate/model/account.hpp>
#include <tollgate/model/activity.hpp>
#include <tollgate/model/quota.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// The integrator's users.
///
/// Thread rule: every function may be called from many threads at once. Blocking: allowed, unless the directory declares
/// `static constexpr bool blocking = false`; see `may_block`. Errors: an `error`; `error_kind::not_found` for a user that no longer
/// exists, whose credentials are then invalid. Never throws.
///
/// Exemplar:
///
///     struct shop_directory {
///         static constexpr bool blocking = true;  // asks a database
///         result<balance> balance_of(user_id user);
///         result<std::vector<account>> accounts_of(user_id user, std::string_view service);
///     };
///
/// Optional parts: `quota_source`, `account_checker`, `activity_source`.
template <class D>
concept user_directory = requires(D& d, user_id user, std::string_view service) {
    // The user's balance, in the user's currency. Called for a balance request whose credential does not
    // include the balance.
    { d.balance_of(user) } -> std::same_as<result<balance>>;
    // The user's accounts at one service, in a stable order; empty if there are none or the service is unknown.
    { d.accounts_of(user, service) } -> std::same_as<result<std::vector<account>>>;
};

/// A directory whose users have rate limits of their own. Optional: without it, all have the one of the settings, and a user who no
/// longer exists is noticed only by the functions above.
///
/// Thread rule, blocking and errors: as those of `user_directory`.
template <class D>
concept quota_source = user_directory<D> && requires(D& d, user_id user) {
    // The user's own rate limit; empty for the default. Called for every request whose credential does not include it,
    // so it should be quick and not allocate. A changed value applies at once.
    { d.quota_of(user) } -> std::same_as<result<std::optional<quota>>>;
};

/// A directory that can look up one account more cheaply than all accounts of a user. Optional.
///
/// Thread rule, blocking and errors: as those of `user_directory`.
template <class D>
concept account_checker = user_directory<D> && requires(D& d, user_id user, const account_ref& account) {
    // Whether the account belongs to the user.
    { d.has_account(user, account) } -> std::same_as<result<bool>>;
};

/// A directory that keeps an audit log (see `activity_observer`) and lets users see theirs. Optional: with it `account_pages` has a
/// page of recent activity.
template <class D>
concept activity_source = user_directory<D> && requires(D& d, user_id user, std::size_t rows_max) {
    // What happened in the user's account, newest first, at most `rows_max`.
    { d.activity_of(user, rows_max) } -> std::same_as<result<std::vector<activity>>>;
};

namespace detail {

struct user_directory_calls {
    result<balance> (*balance_of)(void*, user_id);
    result<std::vector<account>> (*accounts_of)(void*, user_id, std::string_view);
    result<std::optional<quota>> (*quota_of)(void*, user_id);               // null if the directory has none
    result<bool> (*has_account)(void*, user_id, const account_ref&);        // null, too
    result<std::vector<activity>> (*activity_of)(void*, user_id, std::size_t);  // null, too
};

template <class D>
struct calls_of_user_directory {
    static result<balance> balance_of(void* object, user_id user) { return object_at<D>(object).balance_of(user); }
    static result<std::vector<account>> accounts_of(void* object, user_id user, std::string_view service) {
        return object_at<D>(object).accounts_of(user, service);
    }
    static result<std::optional<quota>> quota_of(void* object, user_id user) { return object_at<D>(object).quota_of(user); }
    static result<bool> has_account(void* object, user_id user, const account_ref& account) {
        return object_at<D>(object).has_account(user, account);
    }
    static result<std::vector<activity>> activity_of(void* object, user_id user, std::size_t rows_max) {
        return object_at<D>(object).activity_of(user, rows_max);
    }

    static consteval user_directory_calls make_table() {
        user_directory_calls calls{&balance_of, &accounts_of, nullptr, nullptr, nullptr};
        if constexpr (quota_source<D>) calls.quota_of = &quota_of;
        if constexpr (account_checker<D>) calls.has_account = &has_account;
        if constexpr (activity_source<D>) calls.activity_of = &activity_of;
        return calls;
    }
    static constexpr user_directory_calls table = make_table();
};

}  // namespace detail

/// Refers to a `user_directory` of any class, which must outlive it, or to none. Thread rule and errors: those of the directory.
class user_directory_ref : public detail::reference<detail::user_directory_calls> {
public:
    user_directory_ref() noexcept = default;
    /// Refers to `users`.
    template <class D>
        requires detail::is_erasable<D, user_directory_ref>
    user_directory_ref(D& users) noexcept {
        static_assert(user_directory<D>, "tollgate: this does not satisfy user_directory; read tollgate/contract/user_directory.hpp");
        if constexpr (user_directory<D>) {
            static_assert(quota_source<D> || !detail::names_quota_of<D>,
                          "tollgate: a member named quota_of exists, but this does not satisfy quota_source; "
                          "read tollgate/contract/user_directory.hpp");
            static_assert(account_checker<D> || !detail::names_has_account<D>,
                          "tollgate: a member named has_account exists, but this does not satisfy account_checker; "
                          "read tollgate/contract/user_directory.hpp");
            static_assert(activity_source<D> || !detail::names_activity_of<D>,
                          "tollgate: a member named activity_of exists, but this does not satisfy activity_source; "
                          "read tollgate/contract/user_directory.hpp");
            refer_to(users, detail::calls_of_user_directory<D>::table);
        }
    }

    /// The functions of `user_directory`.
    [[nodiscard]] result<balance> balance_of(user_id user) const { return calls_->balance_of(object_, user); }
    [[nodiscard]] result<std::vector<account>> accounts_of(user_id user, std::string_view service) const {
        return calls_->accounts_of(object_, user, service);
    }

    /// Whether the directory is a `quota_source`.
    [[nodiscard]] bool has_quotas() const noexcept { return calls_->quota_of != nullptr; }
    /// The user's own quota; empty if the directory has none.
    [[nodiscard]] result<std::optional<quota>> quota_of(user_id user) const {
        if (calls_->quota_of == nullptr) return std::optional<quota>{};
        return calls_->quota_of(object_, user);
    }
    /// Whether the account belongs to the user. Lists the user's accounts if the directory is no `account_checker`.
    [[nodiscard]] result<bool> has_account(user_id user, const account_ref& ref) const {
        if (calls_->has_account != nullptr) return calls_->has_account(object_, user, ref);
        const auto accounts = accounts_of(user, ref.service.view());
        if (!accounts) return accounts.error();
        for (const account& each : *accounts)
            if (each.id == ref.account) return true;
        return false;
    }
    /// Whether the directory is an `activity_source`.
    [[nodiscard]] bool has_activity() const noexcept { return calls_->activity_of != nullptr; }
    /// Precondition: has_activity().
    [[nodiscard]] result<std::vector<activity>> activity_of(user_id user, std::size_t rows_max) const {
        return calls_->activity_of(object_, user, rows_max);
    }
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_USER_DIRECTORY_HPP

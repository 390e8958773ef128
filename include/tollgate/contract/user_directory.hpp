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
/// Thread rule: every function may be called from many threads at once. Blocking: allowed. A directory that does not block declares
/// `static constexpr bool blocking = false`; see `may_block`. Errors: an `error`, which is `error_kind::not_found` for a user that no
/// longer exists, whose credentials are then invalid. Nothing is thrown.
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
    // Returns the user's balance, in the user's currency. Called for a balance request whose credential does not include the balance.
    { d.balance_of(user) } -> std::same_as<result<balance>>;
    // Returns the user's accounts at one service, in a stable order; empty if there are none or the service is unknown.
    { d.accounts_of(user, service) } -> std::same_as<result<std::vector<account>>>;
};

/// A directory whose users have rate limits of their own. Optional: without it, all users have the quota of the settings, and only
/// `balance_of` and `accounts_of` report that a user no longer exists.
///
/// Thread rule, blocking and errors: as for `user_directory`.
template <class D>
concept quota_source = user_directory<D> && requires(D& d, user_id user) {
    // Returns the user's own rate limit, or an empty optional for the default. Called for every request whose credential does not include
    // the rate limit, so it should be quick and not allocate. A changed value applies at once.
    { d.quota_of(user) } -> std::same_as<result<std::optional<quota>>>;
};

/// A directory that can look up one account more cheaply than all accounts of a user. Optional.
///
/// Thread rule, blocking and errors: as for `user_directory`.
template <class D>
concept account_checker = user_directory<D> && requires(D& d, user_id user, const account_ref& account) {
    // Returns true if the account belongs to the user.
    { d.has_account(user, account) } -> std::same_as<result<bool>>;
};

/// A directory that keeps an audit log (see `activity_observer`) and lets users see their entries. Optional: with it `account_pages` has a
/// page of recent activity. Thread rule, blocking and errors: as for `user_directory`.
template <class D>
concept activity_source = user_directory<D> && requires(D& d, user_id user, std::size_t rows_max) {
    // Returns the activities of the user's account, newest first, at most `rows_max`.
    { d.activity_of(user, rows_max) } -> std::same_as<result<std::vector<activity>>>;
};

namespace detail {

struct user_directory_calls {
    result<balance> (*balance_of)(void*, user_id);
    result<std::vector<account>> (*accounts_of)(void*, user_id, std::string_view);
    result<std::optional<quota>> (*quota_of)(void*, user_id);               // null if the directory has no such function
    result<bool> (*has_account)(void*, user_id, const account_ref&);        // null if the directory has no such function
    result<std::vector<activity>> (*activity_of)(void*, user_id, std::size_t);  // null if the directory has no such function
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

/// A reference to a `user_directory` of any class, or to no object. The object must outlive the reference. The contract states the
/// thread rule and the errors.
class user_directory_ref : public detail::reference<detail::user_directory_calls> {
public:
    user_directory_ref() noexcept = default;
    /// Constructs a reference to `users`.
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

    /// Each calls the object's function of this name; see `user_directory`.
    [[nodiscard]] result<balance> balance_of(user_id user) const { return calls_->balance_of(object_, user); }
    [[nodiscard]] result<std::vector<account>> accounts_of(user_id user, std::string_view service) const {
        return calls_->accounts_of(object_, user, service);
    }

    /// Returns true if the object is a `quota_source`.
    [[nodiscard]] bool has_quotas() const noexcept { return calls_->quota_of != nullptr; }
    /// Returns the user's own quota; empty if the user or the directory has none.
    [[nodiscard]] result<std::optional<quota>> quota_of(user_id user) const {
        if (calls_->quota_of == nullptr) return std::optional<quota>{};
        return calls_->quota_of(object_, user);
    }
    /// Returns true if the account belongs to the user. Lists the user's accounts if the directory is not an `account_checker`.
    [[nodiscard]] result<bool> has_account(user_id user, const account_ref& ref) const {
        if (calls_->has_account != nullptr) return calls_->has_account(object_, user, ref);
        const auto accounts = accounts_of(user, ref.service.view());
        if (!accounts) return accounts.error();
        for (const account& each : *accounts)
            if (each.id == ref.account) return true;
        return false;
    }
    /// Returns true if the object is an `activity_source`.
    [[nodiscard]] bool has_activity() const noexcept { return calls_->activity_of != nullptr; }
    /// Calls the object's function of this name. Precondition: has_activity().
    [[nodiscard]] result<std::vector<activity>> activity_of(user_id user, std::size_t rows_max) const {
        return calls_->activity_of(object_, user, rows_max);
    }
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_USER_DIRECTORY_HPP

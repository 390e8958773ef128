#pragma once

#include <tollgate/base/backend_statistics.hpp>
#include <tollgate/base/decimal.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/model/account.hpp>
#include <tollgate/model/delivery.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reference {

/// Accounts of one user at one service: the API lists them in one response, of less than 600 KB.
inline constexpr std::int64_t accounts_max = 1000;

/// What is needed to create a user.
struct new_user {
    std::string login;          ///< unique, case-insensitive
    std::string password_hash;  ///< of `hash_password`
    tollgate::currency_code currency;
    tollgate::decimal balance;
};

/// A user as operators list them: without the password's hash.
struct user_record {
    tollgate::user_id id;
    std::string login;
    tollgate::currency_code currency;
    tollgate::decimal balance;
    std::optional<std::int64_t> requests_per_day;  ///< none: the default
    bool disabled = false;
};

/// Bounds of the audit log.
inline constexpr std::size_t activities_per_kind_max = 200;  // of one user: an activity that a program repeats displaces no other kind
inline constexpr std::chrono::days activity_lifetime{400};  // a year, and time to look back at it
inline constexpr std::size_t activities_swept = 4;          // of all users, with each new one: more than it adds

/// What a user has granted an application.
struct application_grant {
    tollgate::user_id user;
    tollgate::scope_set scopes;
    tollgate::instant created_at;
    std::optional<tollgate::instant> last_used_at;
};

/// What sign-in needs of a user.
struct known_login {
    tollgate::user_id user;
    std::string password_hash;
};

/// Replaces a hash if it is still the current one, so that a password that was changed meanwhile is not overwritten.
struct renewed_hash {
    std::string before;
    std::string after;
};

/// The server's users, their accounts and quotas, with the audit log: the contracts `user_directory`, `quota_source`, `account_checker` and
/// `activity_source`, and what sign-in needs. One class for each kind of store derives from it.
///
/// To requests, a disabled user does not exist: their tokens and sessions stop working at once.
///
/// Thread rule: any thread. Errors: an `error`; not_found for a user who does not exist.
class directory {
public:
    virtual ~directory() = default;
    /// Whether it is in a database.
    [[nodiscard]] virtual bool may_block() const noexcept = 0;
    /// Statistics of the calls to the database; nothing without one.
    [[nodiscard]] virtual tollgate::backend_statistics statistics() const noexcept { return {}; }

    [[nodiscard]] virtual tollgate::result<tollgate::balance> balance_of(tollgate::user_id user) = 0;
    [[nodiscard]] virtual tollgate::result<std::optional<tollgate::quota>> quota_of(tollgate::user_id user) = 0;
    [[nodiscard]] virtual tollgate::result<std::vector<tollgate::account>> accounts_of(tollgate::user_id user,
                                                                                       std::string_view service) = 0;
    [[nodiscard]] tollgate::result<bool> has_account(tollgate::user_id user, const tollgate::account_ref& account) {
        auto owner = owner_of(account);
        if (!owner) return std::move(owner).error();
        return *owner == user;
    }
    /// The owner of the account; none if there is no such account.
    [[nodiscard]] virtual tollgate::result<std::optional<tollgate::user_id>> owner_of(const tollgate::account_ref& account) = 0;
    /// Whether the user exists and is not disabled.
    [[nodiscard]] virtual tollgate::result<bool> is_active(tollgate::user_id user) = 0;

    /// None when there is no such login, or its user is disabled.
    [[nodiscard]] virtual tollgate::result<std::optional<known_login>> find_login(std::string_view login) = 0;
    virtual tollgate::result<void> set_password_hash(tollgate::user_id user, std::string_view hash) = 0;
    /// not_found if the user has another hash.
    virtual tollgate::result<void> replace_password_hash(tollgate::user_id user, const renewed_hash& renewed) = 0;
    /// The key of this name, the same for all nodes and starts: `proposed` if there is none yet.
    [[nodiscard]] virtual tollgate::result<std::string> shared_key(std::string_view name, std::string_view proposed) = 0;

    /// error_kind::conflict if the login is in use.
    virtual tollgate::result<tollgate::user_id> add_user(const new_user& user) = 0;
    /// Ids are unique over all services. not_found if the user does not exist; conflict if they have `accounts_max` accounts there.
    virtual tollgate::result<tollgate::account_id> add_account(tollgate::user_id user, const tollgate::service_name& service,
                                                               std::string_view name, bool admin) = 0;

    /// Adds an entry to the audit log, and removes entries beyond its bounds.
    virtual tollgate::result<void> record(const tollgate::activity& activity) = 0;
    /// The newest first, at most `rows_max`.
    [[nodiscard]] virtual tollgate::result<std::vector<tollgate::activity>> activity_of(tollgate::user_id user, std::size_t rows_max) = 0;

protected:
    directory() = default;
    directory(const directory&) = default;  // so that the classes in databases can be moved
    directory& operator=(const directory&) = default;
};

static_assert(tollgate::quota_source<directory> && tollgate::account_checker<directory> && tollgate::activity_source<directory>);

/// A directory in a database, in which operators change users while servers run.
class database_directory : public directory {
public:
    [[nodiscard]] bool may_block() const noexcept final { return true; }

    /// Users from this id on, disabled ones too, by id, at most `rows_max`.
    [[nodiscard]] virtual tollgate::result<std::vector<user_record>> users_from(tollgate::user_id first, std::size_t rows_max) = 0;
    virtual tollgate::result<void> set_disabled(tollgate::user_id user, bool disabled) = 0;
    virtual tollgate::result<void> set_requests_per_day(tollgate::user_id user, std::optional<std::uint32_t> requests) = 0;
    /// Deletes the user with their accounts. Hooks and tokens are in the store and must be deleted before.
    virtual tollgate::result<void> delete_user(tollgate::user_id user) = 0;
    /// The newest activities of a user, or of all users, at most `rows_max`.
    [[nodiscard]] virtual tollgate::result<std::vector<tollgate::activity>> activities(std::optional<tollgate::user_id> user,
                                                                                       std::size_t rows_max) = 0;
    [[nodiscard]] tollgate::result<std::vector<tollgate::activity>> activity_of(tollgate::user_id user, std::size_t rows_max) final {
        return activities(user, rows_max);
    }

    using directory::owner_of;
    /// The owner of a token, and the account of a delivery's webhook. They read the store's tables, because its verbs require the owner.
    [[nodiscard]] virtual tollgate::result<std::optional<tollgate::user_id>> owner_of(tollgate::token_id token) = 0;
    [[nodiscard]] virtual tollgate::result<std::optional<tollgate::account_ref>> account_of_delivery(tollgate::delivery_id delivery) = 0;
    /// The grants of an application from this user on, by user, at most `rows_max`. No verb of the store lists them.
    [[nodiscard]] virtual tollgate::result<std::vector<application_grant>> grants_of(tollgate::application_id application,
                                                                                     tollgate::user_id first, std::size_t rows_max) = 0;
};

}  // namespace reference

#pragma once

#include "user_records.hpp"

#include <tollgate/base/result.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/store/postgres_database.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reference {

/// Users, their accounts and their quotas, in the same PostgreSQL database as the store, with tables and a
/// schema version of its own. Any number of nodes use it at once, and see each other's changes with their next call:
/// every verb is one round trip.
///
/// To requests, a disabled user does not exist: their tokens and sessions stop working at once.
///
/// Thread rule: any thread. Errors: an `error`; not_found for a user who does not exist.
class postgres_directory {
public:
    static constexpr bool blocking = true;

    /// Creates the tables if they do not exist, and brings older ones up to date. Times are those of the server, from the store's
    /// `clock`.
    static tollgate::result<postgres_directory> open(const std::string& connection_string,
                                                      std::size_t connections_max);

    /// The query of `quota_of` and `balance_of`, which the store in the same database runs with each credential
    /// (`postgres_settings::owner_query`). A trigger notifies nodes that cache it.
    static constexpr const char* owner_query =
        "SELECT requests_per_day, 86400, balance, currency FROM directory_users "
        "WHERE directory_users.id = owner.id AND NOT directory_users.disabled";

    /// The version of the tables, without changing them.
    static tollgate::result<tollgate::schema_status> check_schema(const std::string& connection_string);

    /// Statistics of the calls to the database.
    [[nodiscard]] tollgate::backend_statistics statistics() const noexcept { return database_.statistics(); }

    // The contract `user_directory`.
    tollgate::result<tollgate::balance> balance_of(tollgate::user_id user);
    tollgate::result<std::vector<tollgate::account>> accounts_of(tollgate::user_id user, std::string_view service);
    tollgate::result<std::optional<tollgate::quota>> quota_of(tollgate::user_id user);
    tollgate::result<bool> has_account(tollgate::user_id user, const tollgate::account_ref& account);

    /// Whether the user exists and is not disabled: an optional function of `password_source`.
    tollgate::result<bool> is_active(tollgate::user_id user);

    /// The owner of the account; none if there is no such account.
    tollgate::result<std::optional<tollgate::user_id>> owner_of(const tollgate::account_ref& account);

    /// error_kind::conflict if the login is in use.
    tollgate::result<tollgate::user_id> add_user(const new_user& user);
    /// None when there is no such login, or its user is disabled.
    tollgate::result<std::optional<known_login>> find_login(std::string_view login);
    /// The key of this name, the same for all nodes and starts: `proposed` if there is none yet.
    tollgate::result<std::string> shared_key(std::string_view name, std::string_view proposed);
    /// Users from this id on, disabled ones too, by id, at most `rows_max`.
    tollgate::result<std::vector<user_record>> users_from(tollgate::user_id first, std::size_t rows_max);
    tollgate::result<void> set_disabled(tollgate::user_id user, bool disabled);
    /// Deletes the user with their accounts. Hooks and tokens are in the store and must be deleted before.
    tollgate::result<void> delete_user(tollgate::user_id user);
    /// The owner of a token, and the account of a delivery's webhook. They read the store's tables, because its verbs require
    /// the owner.
    tollgate::result<std::optional<tollgate::user_id>> owner_of(tollgate::token_id token);
    tollgate::result<std::optional<tollgate::account_ref>> account_of_delivery(tollgate::delivery_id delivery);

    /// Adds an entry to the audit log, and removes entries beyond its bounds.
    tollgate::result<void> record(const tollgate::activity& activity);
    /// Newest first, at most `rows_max`; without a user, of all.
    tollgate::result<std::vector<tollgate::activity>> activities(std::optional<tollgate::user_id> user, std::size_t rows_max);
    /// The contract `activity_source`.
    tollgate::result<std::vector<tollgate::activity>> activity_of(tollgate::user_id user, std::size_t rows_max) {
        return activities(user, rows_max);
    }

    tollgate::result<void> set_password_hash(tollgate::user_id user, std::string_view hash);
    /// not_found if the user has another hash.
    tollgate::result<void> replace_password_hash(tollgate::user_id user, const renewed_hash& renewed);
    tollgate::result<void> set_requests_per_day(tollgate::user_id user, std::optional<std::uint32_t> requests);
    /// Ids are counted over all services. not_found if the user does not exist; conflict if they have `accounts_max` accounts there.
    tollgate::result<tollgate::account_id> add_account(tollgate::user_id user, const tollgate::service_name& service,
                                                        std::string_view name, bool admin);

private:
    /// Runs a statement that changes one row; not_found when there was none.
    template <class... Values>
    tollgate::result<void> change_one(tollgate::sql::statement_text text, const Values&... values);

    /// What `balance_of` and `quota_of` return.
    struct user_row {
        tollgate::decimal balance;
        tollgate::currency_code currency;
        std::optional<std::int64_t> requests_per_day;

        [[nodiscard]] std::optional<tollgate::quota> own_quota() const noexcept {
            if (!requests_per_day) return std::nullopt;
            return tollgate::quota{static_cast<std::uint32_t>(*requests_per_day), std::chrono::hours{24}};
        }
    };

    explicit postgres_directory(tollgate::postgres_database opened) : database_{std::move(opened)} {}

    /// not_found for a user who does not exist.
    tollgate::result<user_row> find_user(tollgate::user_id user);

    tollgate::postgres_database database_;
};

static_assert(tollgate::activity_source<postgres_directory>);

}  // namespace reference

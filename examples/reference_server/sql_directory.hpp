#pragma once

#include "directory.hpp"

#include <tollgate/base/result.hpp>
#include <tollgate/contract/user_directory.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reference {

/// The component under which a database stores the version of the directory's tables.
inline constexpr std::string_view directory_component = "reference_directory";

/// Of the columns id, login, currency, balance, requests_per_day, disabled.
[[nodiscard]] inline user_record to_user_record(tollgate::user_id id, std::string& login,
                                                const tollgate::currency_code& currency, const tollgate::decimal& balance,
                                                std::optional<std::int64_t> requests_per_day, bool disabled) {
    return {id, std::move(login), currency, balance, requests_per_day, disabled};
}

/// Of the columns kind, user_id, subject, client, at; client is empty for an operator.
[[nodiscard]] inline tollgate::activity to_activity(std::string& kind, tollgate::user_id user, std::string& subject,
                                                    std::string& client, tollgate::instant at) {
    return {tollgate::activity_kind_of(kind).value_or(tollgate::activity_kind::count_), user, std::move(subject),
            tollgate::ip_address::parse(client), at};
}

[[nodiscard]] inline std::string client_text(const tollgate::activity& done) {
    return done.client ? done.client->to_text() : std::string{};
}

[[nodiscard]] inline application_grant to_application_grant(tollgate::user_id user, const tollgate::scope_set& scopes,
                                                            tollgate::instant created_at, std::optional<tollgate::instant> last_used_at) {
    return {user, scopes, created_at, last_used_at};
}

/// The verbs of `sqlite_directory` and `postgres_directory` whose statements are the same on both. SQLite numbers parameters such as $1
/// by their first occurrence, so they must occur in order.
///
/// `Directory` derives from it and runs the statements; `make` makes a record from the columns of a row:
///
///     result<std::vector<record>> read_all(make, text, values...);
///     result<std::optional<record>> read_one(make, text, values...);
///     result<record> insert_one(make, text, values...);   // a statement that changes one row and returns it
///     result<void> change_one(text, values...);           // not_found if no row was changed
template <class Directory>
class sql_directory : public database_directory {
public:
    using database_directory::owner_of;

    tollgate::result<tollgate::balance> balance_of(tollgate::user_id user) override {
        auto found = find_user(user);
        if (!found) return std::move(found).error();
        return tollgate::balance{user, found->balance, found->currency};
    }
    tollgate::result<std::optional<tollgate::quota>> quota_of(tollgate::user_id user) override {
        auto found = find_user(user);
        if (!found) return std::move(found).error();
        if (!found->requests_per_day) return std::optional<tollgate::quota>{};
        return std::optional{tollgate::quota{static_cast<std::uint32_t>(*found->requests_per_day), std::chrono::hours{24}}};
    }
    tollgate::result<std::vector<tollgate::account>> accounts_of(tollgate::user_id user, std::string_view service) override {
        return self().read_all(
            [](tollgate::account_id id, std::string& name, bool admin) { return tollgate::account{id, std::move(name), admin}; },
            "SELECT id, name, admin FROM directory_accounts WHERE user_id = $1 AND service = $2 ORDER BY id", user, service);
    }
    tollgate::result<bool> is_active(tollgate::user_id user) override {
        auto found = find_user(user);
        if (found) return true;
        if (found.error().kind == tollgate::error_kind::not_found) return false;
        return std::move(found).error();
    }

    tollgate::result<std::optional<tollgate::user_id>> owner_of(const tollgate::account_ref& account) override {
        return self().read_one([](tollgate::user_id owner) { return owner; },
                               "SELECT user_id FROM directory_accounts WHERE service = $1 AND id = $2", account.service,
                               account.account);
    }

    tollgate::result<tollgate::user_id> add_user(const new_user& user) override {
        return self().insert_one(
            [](tollgate::user_id id) { return id; },
            "INSERT INTO directory_users (login, password_hash, currency, balance) VALUES ($1, $2, $3, $4) RETURNING id", user.login,
            user.password_hash, user.currency, user.balance);
    }
    tollgate::result<std::optional<known_login>> find_login(std::string_view login) override {
        return self().read_one([](tollgate::user_id user, std::string& hash) { return known_login{user, std::move(hash)}; },
                               Directory::login_query, login);
    }
    tollgate::result<std::string> shared_key(std::string_view name, std::string_view proposed) override {
        return self().insert_one([](std::string& value) { return std::move(value); },
                                 "INSERT INTO directory_keys AS keys (name, value) VALUES ($1, $2) "
                                 "ON CONFLICT (name) DO UPDATE SET value = keys.value RETURNING value",
                                 name, proposed);
    }
    tollgate::result<std::vector<user_record>> users_from(tollgate::user_id first, std::size_t rows_max) override {
        return self().read_all(to_user_record,
                               "SELECT id, login, currency, balance, requests_per_day, disabled FROM directory_users "
                               "WHERE id >= $1 ORDER BY id LIMIT $2",
                               first, static_cast<std::int64_t>(rows_max));
    }
    tollgate::result<void> set_disabled(tollgate::user_id user, bool disabled) override {
        return self().change_one("UPDATE directory_users SET disabled = $1 WHERE id = $2", disabled, user);
    }

    tollgate::result<std::vector<tollgate::activity>> activities(std::optional<tollgate::user_id> user, std::size_t rows_max) override {
        const auto rows = static_cast<std::int64_t>(rows_max);
        if (!user)
            return self().read_all(
                to_activity, "SELECT kind, user_id, subject, client, at FROM directory_activities ORDER BY id DESC LIMIT $1", rows);
        return self().read_all(to_activity,
                               "SELECT kind, user_id, subject, client, at FROM directory_activities "
                               "WHERE user_id = $1 ORDER BY id DESC LIMIT $2",
                               *user, rows);
    }

    tollgate::result<void> set_password_hash(tollgate::user_id user, std::string_view hash) override {
        return self().change_one("UPDATE directory_users SET password_hash = $1 WHERE id = $2", hash, user);
    }
    tollgate::result<void> replace_password_hash(tollgate::user_id user, const renewed_hash& renewed) override {
        return self().change_one("UPDATE directory_users SET password_hash = $1 WHERE id = $2 AND password_hash = $3", renewed.after, user,
                                 renewed.before);
    }
    tollgate::result<void> set_requests_per_day(tollgate::user_id user, std::optional<std::uint32_t> requests) override {
        return self().change_one("UPDATE directory_users SET requests_per_day = $1 WHERE id = $2",
                                 requests ? std::optional{std::int64_t{*requests}} : std::nullopt, user);
    }

private:
    /// What `balance_of` and `quota_of` return.
    struct user_row {
        tollgate::decimal balance;
        tollgate::currency_code currency;
        std::optional<std::int64_t> requests_per_day;
    };

    Directory& self() noexcept { return static_cast<Directory&>(*this); }

    /// not_found for a user who does not exist.
    tollgate::result<user_row> find_user(tollgate::user_id user) {
        auto found = self().read_one(
            [](const tollgate::decimal& amount, const tollgate::currency_code& currency, std::optional<std::int64_t> requests) {
                return user_row{amount, currency, requests};
            },
            "SELECT balance, currency, requests_per_day FROM directory_users WHERE id = $1 AND NOT disabled", user);
        if (!found) return std::move(found).error();
        if (!*found) return tollgate::not_found();
        return **found;
    }
};

}  // namespace reference

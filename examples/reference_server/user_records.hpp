#pragma once

#include <tollgate/base/decimal.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/model/account.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace reference {

/// The component under which a database stores the version of the directory's tables.
inline constexpr std::string_view directory_component = "reference_directory";

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

/// Of the columns id, login, currency, balance, requests_per_day, disabled.
[[nodiscard]] inline user_record to_user_record(tollgate::user_id id, std::string& login,
                                                const tollgate::currency_code& currency, const tollgate::decimal& balance,
                                                std::optional<std::int64_t> requests_per_day, bool disabled) {
    return {id, std::move(login), currency, balance, requests_per_day, disabled};
}

/// Bounds of the audit log.
inline constexpr std::size_t activities_per_kind_max = 200;  // of one user: an activity that a program repeats displaces no other kind
inline constexpr std::chrono::days activity_lifetime{400};  // a year, and time to look back at it
inline constexpr std::size_t activities_swept = 4;          // of all users, with each new one: more than it adds

/// Of the columns kind, user_id, subject, client, at; client is empty for an operator.
[[nodiscard]] inline tollgate::activity to_activity(std::string& kind, tollgate::user_id user, std::string& subject,
                                                    std::string& client, tollgate::instant at) {
    return {tollgate::activity_kind_of(kind).value_or(tollgate::activity_kind::count_), user, std::move(subject),
            tollgate::ip_address::parse(client), at};
}

[[nodiscard]] inline std::string client_text(const tollgate::activity& done) {
    return done.client ? done.client->to_text() : std::string{};
}

/// What a user has granted an application.
struct application_grant {
    tollgate::user_id user;
    tollgate::scope_set scopes;
    tollgate::instant created_at;
    std::optional<tollgate::instant> last_used_at;
};

[[nodiscard]] inline application_grant to_application_grant(tollgate::user_id user, const tollgate::scope_set& scopes,
                                                            tollgate::instant created_at, std::optional<tollgate::instant> last_used_at) {
    return {user, scopes, created_at, last_used_at};
}

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

}  // namespace reference

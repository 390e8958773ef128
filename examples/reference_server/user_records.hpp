#pragma once

#include <tollgate/base/decimal.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/model/account.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace reference {

/// What is needed to make a user.
struct new_user {
    std::string login;          ///< unique, in any case
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

/// What signing in asks of a user.
struct known_login {
    tollgate::user_id user;
    std::string password_hash;
};

/// A hash that takes another's place, if that one is still there: a password that was changed meanwhile stays changed.
struct renewed_hash {
    std::string before;
    std::string after;
};

}  // namespace reference

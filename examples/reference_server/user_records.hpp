#pragma once

#include <tollgate/base/decimal.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/model/account.hpp>

#include <string>

namespace reference {

/// What is needed to make a user.
struct new_user {
    std::string login;          ///< unique, in any case
    std::string password_hash;  ///< of `hash_password`
    tollgate::currency_code currency;
    tollgate::decimal balance;
};

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

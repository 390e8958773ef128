#pragma once
#ifndef TOLLGATE_MODEL_ACCOUNT_HPP
#define TOLLGATE_MODEL_ACCOUNT_HPP

#include <tollgate/base/decimal.hpp>
#include <tollgate/base/detail/inline_text.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/model/quota.hpp>

#include <optional>
#include <string>

namespace tollgate::inline v0 {

/// The path segment that names a product, such as `sitesmaker`.
using service_name = detail::inline_text<limits::service_name_bytes_max>;

/// A user's account at one service.
struct account {
    account_id id;
    std::string name;
    bool admin = false;  ///< true if the user administers the account; clients and pages display it, but no decision depends on it
};

/// Names an account. Account ids are unique only within a service.
struct account_ref {
    service_name service;
    account_id account;

    friend bool operator==(const account_ref&, const account_ref&) noexcept = default;
    friend auto operator<=>(const account_ref&, const account_ref&) noexcept = default;
};

/// A currency code of ISO 4217: three capital letters.
using currency_code = detail::inline_text<3>;

/// A user's balance, in the currency of their settings.
struct balance {
    user_id user;
    decimal amount;  ///< exact, never a binary float
    currency_code currency;

    friend bool operator==(const balance&, const balance&) noexcept = default;
};

/// The data about a user that a store in the directory's database read together with their credential.
struct known_user {
    std::optional<quota> own_quota;            ///< the result of `quota_of`; empty means the default
    std::optional<tollgate::balance> balance;  ///< the result of `balance_of`; if empty, the library calls the directory

    friend bool operator==(const known_user&, const known_user&) noexcept = default;
};

}  // namespace tollgate

#endif  // TOLLGATE_MODEL_ACCOUNT_HPP

#pragma once

#include <tollgate/base/decimal.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/inline_text.hpp>

namespace tollgate {

/// Three capital letters of ISO 4217.
using currency_code = inline_text<3>;

/// What a user has, in the currency of their settings.
struct balance {
    user_id user;
    decimal amount;  ///< its digits, never a binary float
    currency_code currency;
};

}  // namespace tollgate

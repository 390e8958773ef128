#pragma once

#include <tollgate/base/ids.hpp>
#include <tollgate/base/outcome.hpp>

#include <concepts>
#include <optional>
#include <string_view>

namespace tollgate {

/// Checks a login and its password. Only the sign-in page needs one; an integrator with a sign-in of their own has none.
///
/// Thread rule: callable from many threads at once. Blocking: yes in all likelihood; `static constexpr bool blocking = true`.
/// Errors: a `problem` when it could not be found out (unavailable also when too many checks run already); nothing is thrown.
template <class P>
concept password_source = requires(P& p, std::string_view login, std::string_view password) {
    // Whose they are; none when they are nobody's. Takes as long for a login that does not exist as for a wrong password.
    { p.check_password(login, password) } -> std::same_as<outcome<std::optional<user_id>>>;
};

}  // namespace tollgate

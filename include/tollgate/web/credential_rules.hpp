#pragma once
#ifndef TOLLGATE_WEB_CREDENTIAL_RULES_HPP
#define TOLLGATE_WEB_CREDENTIAL_RULES_HPP

#include <tollgate/base/config.hpp>

#include <string_view>

/// Rules for logins and passwords that people enter, also for your own sign-in and registration pages.
namespace tollgate::inline v0 {

/// Returns a login without the blanks before and after it, which keyboards and copied text add. The result is a view of `typed`.
[[nodiscard]] TOLLGATE_DECL std::string_view trim_login(std::string_view typed) noexcept;

/// Returns true if a password is among those that attackers try first: if it is in a list of common passwords, or equals the login. ASCII
/// case is ignored. Refuse such a new password (NIST SP 800-63B section 5.1.1.2), but accept it at sign-in.
[[nodiscard]] TOLLGATE_DECL bool is_common_password(std::string_view password, std::string_view login = {});

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/web/credential_rules.ipp>
#endif

#endif  // TOLLGATE_WEB_CREDENTIAL_RULES_HPP

#pragma once
#ifndef TOLLGATE_WEB_CREDENTIAL_RULES_HPP
#define TOLLGATE_WEB_CREDENTIAL_RULES_HPP

#include <tollgate/base/config.hpp>

#include <string_view>

/// Rules for logins and passwords that people type: for your own sign-in and registration pages, too.
namespace tollgate::inline v0 {

/// A typed login without the blanks before and after it, which keyboards and copied text add. A view of `typed`.
[[nodiscard]] TOLLGATE_DECL std::string_view trim_login(std::string_view typed) noexcept;

/// Whether a password is one of those that attackers try first: one of a list of common passwords, or the login itself. ASCII
/// case is ignored. Refuse such a new password (NIST SP 800-63B section 5.1.1.2), but accept it at sign-in.
[[nodiscard]] TOLLGATE_DECL bool is_common_password(std::string_view password, std::string_view login = {});

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/web/credential_rules.ipp>
#endif

#endif  // TOLLGATE_WEB_CREDENTIAL_RULES_HPP

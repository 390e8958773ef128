#pragma once
#ifndef TOLLGATE_WEB_CREDENTIAL_RULES_IPP
#define TOLLGATE_WEB_CREDENTIAL_RULES_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/web/credential_rules.hpp>
#include <tollgate/web/detail/common_passwords.hpp>

#include <algorithm>
#include <iterator>
#include <string>

namespace tollgate::inline v0 {
namespace detail {

/// The blanks of Unicode, and what is as invisible: zero-width space and byte order mark.
inline constexpr std::string_view typed_blanks[] = {
    " ", "\t", "\n", "\v", "\f", "\r", "\xc2\x85", "\xc2\xa0", "\xe1\x9a\x80",
    "\xe2\x80\x80", "\xe2\x80\x81", "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86", "\xe2\x80\x87",
    "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\x8b", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f",
    "\xe3\x80\x80", "\xef\xbb\xbf"};

}  // namespace detail

TOLLGATE_DECL std::string_view trim_login(std::string_view typed) noexcept {
    for (bool is_trimmed = false; !is_trimmed;) {
        is_trimmed = true;
        for (const auto blank : detail::typed_blanks) {
            const auto bytes = typed.size();
            while (typed.starts_with(blank)) typed.remove_prefix(blank.size());
            while (typed.ends_with(blank)) typed.remove_suffix(blank.size());
            is_trimmed = is_trimmed && typed.size() == bytes;
        }
    }
    return typed;
}

TOLLGATE_DECL bool is_common_password(std::string_view password, std::string_view login) {
    if (!login.empty() && detail::ascii_iequals(password, login)) return true;
    if (password.size() > detail::common_password_bytes_max) return false;
    std::string lower;
    std::transform(password.begin(), password.end(), std::back_inserter(lower), detail::ascii_lower);
    return std::binary_search(std::begin(detail::common_passwords), std::end(detail::common_passwords), std::string_view{lower});
}

}  // namespace tollgate

#endif  // TOLLGATE_WEB_CREDENTIAL_RULES_IPP

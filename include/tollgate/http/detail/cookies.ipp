#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_COOKIES_IPP
#define TOLLGATE_HTTP_DETAIL_COOKIES_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/http/detail/cookies.hpp>

#include <algorithm>
#include <string>

namespace tollgate::inline v0::http {

TOLLGATE_DECL bool add_cookie(response& out, const new_cookie& cookie) {
    // RFC 6265 section 4.1.1
    const auto is_cookie_octet = [](char c) {
        return tollgate::detail::is_visible_ascii(c) && c != '"' && c != ',' && c != ';' && c != '\\';
    };
    if (cookie.name.empty() || !std::all_of(cookie.name.begin(), cookie.name.end(), tollgate::detail::is_token_char) ||
        !std::all_of(cookie.value.begin(), cookie.value.end(), is_cookie_octet))
        return false;

    std::string text;
    text.append(cookie.name).append("=").append(cookie.value).append("; Path=/");
    if (cookie.max_age) {
        const auto left = (std::max)(cookie.max_age->count(), seconds::rep{0});
        text.append("; Max-Age=").append(std::to_string(left));
        // Some clients know Expires but not Max-Age.
        if (left == 0) text.append("; Expires=Thu, 01 Jan 1970 00:00:00 GMT");
    }
    if (cookie.secure) text.append("; Secure");
    text.append("; HttpOnly; SameSite=").append(cookie.same_site == same_site::strict ? "Strict" : "Lax");
    const auto value = field_value::from(text);
    if (!value) return false;
    out.add("Set-Cookie", *value);
    return true;
}

}  // namespace tollgate::http

#endif  // TOLLGATE_HTTP_DETAIL_COOKIES_IPP

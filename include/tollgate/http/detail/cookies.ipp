#pragma once

#include <tollgate/base/detail/text.hpp>
#include <tollgate/http/detail/cookies.hpp>

#include <algorithm>
#include <string>

namespace tollgate::inline v0::http {

TOLLGATE_DECL std::optional<std::string_view> find_cookie(const field_lines& fields, std::string_view name) noexcept {
    std::optional<std::string_view> found;
    if (fields.count(field_id::cookie) == 0) return found;
    for (const field& line : fields) {
        if (to_field_id(line.name) != field_id::cookie) continue;
        std::string_view left = line.value;
        while (!left.empty()) {
            const std::string_view pair = trim_ows(left.substr(0, left.find(';')));
            left.remove_prefix((std::min)(left.find(';'), left.size() - 1) + 1);
            const auto equals = pair.find('=');
            if (equals == std::string_view::npos || trim_ows(pair.substr(0, equals)) != name) continue;
            const auto value = trim_ows(pair.substr(equals + 1));
            if (found && *found != value) return std::nullopt;
            found = value;
        }
    }
    return found;
}

namespace detail {

/// cookie-octet of RFC 6265 section 4.1.1.
[[nodiscard]] constexpr bool is_cookie_octet(char c) noexcept {
    return is_visible_ascii(c) && c != '"' && c != ',' && c != ';' && c != '\\';
}

}  // namespace detail

TOLLGATE_DECL bool add_cookie(response& out, const new_cookie& cookie) {
    if (cookie.name.empty() || !std::all_of(cookie.name.begin(), cookie.name.end(), is_token_char) ||
        !std::all_of(cookie.value.begin(), cookie.value.end(), detail::is_cookie_octet))
        return false;

    std::string text;
    text.append(cookie.name).append("=").append(cookie.value).append("; Path=/");
    if (cookie.max_age) {
        const auto left = (std::max)(cookie.max_age->count(), seconds::rep{0});
        text.append("; Max-Age=").append(std::to_string(left));
        // For clients that know Expires but not Max-Age.
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

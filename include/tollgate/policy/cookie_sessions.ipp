#pragma once

#include <tollgate/base/ascii.hpp>
#include <tollgate/base/encoding.hpp>
#include <tollgate/http/cookies.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/policy/cookie_sessions.hpp>

#include <algorithm>
#include <stdexcept>

namespace tollgate {

TOLLGATE_DECL session_cookie::session_cookie(const session_settings& with) {
    const auto at = http::url::parse(with.auth_url);
    if (!at || at->has_query || at->has_fragment || at->has_user_info)
        throw std::invalid_argument{"tollgate: '" + with.auth_url + "' is no absolute http or https URL"};
    if (with.cookie_name.empty() || !std::all_of(with.cookie_name.begin(), with.cookie_name.end(), is_token_char))
        throw std::invalid_argument{"tollgate: '" + with.cookie_name + "' is no name for a cookie"};
    secure_ = at->scheme == http::url_scheme::https;
    name_ = (secure_ ? "__Host-" : "") + with.cookie_name;
    sign_in_path_ = at->path;
    if (sign_in_path_.ends_with('/')) sign_in_path_.pop_back();
    sign_in_path_ += "/en/user/sign_in/";
}

TOLLGATE_DECL std::optional<std::string_view> session_cookie::read(const http::request& asked) const noexcept {
    const auto found = http::find_cookie(asked.fields, name_);
    return found && is_well_formed(secret_kind::session, *found) ? found : std::nullopt;
}

TOLLGATE_DECL bool session_cookie::give(std::string_view cookie, http::response& out) const {
    return http::add_cookie(out, {.name = name_, .value = cookie, .max_age = std::nullopt, .secure = secure_});
}

TOLLGATE_DECL void session_cookie::take_back(http::response& out) const {
    (void)http::add_cookie(out, {.name = name_, .value = "", .max_age = seconds{0}, .secure = secure_});
}

TOLLGATE_DECL std::string session_cookie::sign_in_url(std::string_view return_to) const {
    std::string url = sign_in_path_;
    return url.append("?").append(return_to_name).append("=").append(percent_encode(return_to));
}

TOLLGATE_DECL std::string session_cookie::session_secret_of(std::string_view cookie) {
    return hex_encode(hmac_sha256({.key = cookie, .message = "session secret"}).raw());
}

}  // namespace tollgate

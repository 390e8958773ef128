#pragma once
#ifndef TOLLGATE_WEB_SESSION_COOKIES_IPP
#define TOLLGATE_WEB_SESSION_COOKIES_IPP

#include <tollgate/base/detail/bounded_time.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/detail/random_key.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/http/detail/cookies.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/web/detail/language.hpp>
#include <tollgate/web/session_cookies.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace tollgate::inline v0 {

TOLLGATE_DECL std::string cookie_name_of(std::string_view auth_url, std::string_view chosen, std::string_view use) {
    const auto at = http::url::root(auth_url, "auth_url");
    constexpr std::size_t chosen_bytes_max = 64;
    if (chosen.size() > chosen_bytes_max || !std::all_of(chosen.begin(), chosen.end(), detail::is_token_char) || chosen.starts_with("__"))
        throw std::invalid_argument{"tollgate: cookie_name must be a token of at most 64 characters that does not begin with '__'"};
    std::string name{at.scheme == http::url_scheme::https ? "__Host-" : ""};
    if (chosen.empty()) {
        constexpr std::size_t hash_bytes = 4;
        name.append("tollgate_").append(detail::hex_encode(sha256(at.origin() + at.path).raw().substr(0, hash_bytes)));
    } else {
        name.append(chosen);
    }
    return name.append("_").append(use);
}

TOLLGATE_DECL session_cookie::session_cookie(const session_settings& settings)
    : name_{cookie_name_of(settings.auth_url, settings.cookie_name, "session")} {
    auto at = http::url::root(settings.auth_url, "auth_url");
    detail::require_bounds("session", {{"idle_lifetime", settings.idle_lifetime},
                                       {"lifetime", settings.lifetime},
                                       {"touch_interval", settings.touch_interval, seconds{0}},
                                       {"browser_lifetime", settings.browser_lifetime}});
    constexpr std::size_t key_bytes_min = 16;  // 128 bits
    if (!settings.browser_key.empty() && settings.browser_key.size() < key_bytes_min)
        throw std::invalid_argument{"tollgate: the session setting browser_key is shorter than 16 bytes"};
    secure_ = at.scheme == http::url_scheme::https;
    root_ = std::move(at.path);
}

TOLLGATE_DECL std::optional<std::string_view> session_cookie::read(const http::request& request) const noexcept {
    const auto found = http::find_cookie(request.fields, name_);
    return found && is_well_formed(secret_kind::session, *found) ? found : std::nullopt;
}

TOLLGATE_DECL bool session_cookie::set(std::string_view cookie, http::response& response) const {
    return http::add_cookie(response, {.name = name_, .value = cookie, .max_age = std::nullopt, .secure = secure_});
}

TOLLGATE_DECL void session_cookie::clear(http::response& response) const {
    (void)http::add_cookie(response, {.name = name_, .value = "", .max_age = seconds{0}, .secure = secure_});
}

TOLLGATE_DECL std::string session_cookie::sign_in_url(std::string_view return_to) const {
    std::string_view language;
    if (return_to.starts_with(root_ + "/")) {
        const auto path = return_to.substr(root_.size() + 1);
        language = path.substr(0, path.find('/'));
        const auto page = path.substr(language.size(), path.find('?') - language.size());
        const bool is_ours = page.starts_with("/user/") || page.ends_with("/oauth/") || page.ends_with("/oauth");
        if (!web::is_language_tag(language) || !is_ours) language = {};
    }
    // If the path has no language, the page redirects to the reader's language.
    std::string url = root_;
    if (!language.empty()) url.append("/").append(language);
    url.append("/user/sign_in/");
    return url.append("?").append(return_to_name).append("=").append(detail::percent_encode(return_to));
}

TOLLGATE_DECL std::string session_cookie::session_secret_of(std::string_view cookie) {
    return detail::hex_encode(hmac_sha256({.key = cookie, .message = "session secret"}).raw());
}

namespace detail {

/// The rest of a successor is derived from its family, so that it can be recognized without the cookie before it.
[[nodiscard]] inline secret_text complete_successor(std::string_view family, std::string_view body) {
    std::string text{family};
    text.resize(secret_text_bytes, '0');
    return make_successor(text, sha256(body));
}

}  // namespace detail

TOLLGATE_DECL secret_text session_cookie::successor_of(std::string_view cookie, std::string_view body) {
    const auto derived = hmac_sha256({.key = cookie, .message = std::string{"session after a form\0", 21}.append(sha256(body).raw())});
    std::array<std::byte, digest::size_bytes> bytes;
    std::memcpy(bytes.data(), derived.bytes().data(), bytes.size());
    return detail::complete_successor(family_of(make_secret(secret_kind::session, bytes)), body);
}

TOLLGATE_DECL bool session_cookie::is_successor(std::string_view cookie, std::string_view body) {
    return is_well_formed(secret_kind::session, cookie) && detail::complete_successor(family_of(cookie), body) == cookie;
}

TOLLGATE_DECL browser_cookie::browser_cookie(const session_settings& settings)
    : name_{cookie_name_of(settings.auth_url, settings.cookie_name, "browser")},
      key_{settings.browser_key},
      lifetime_{settings.browser_lifetime},
      secure_{http::url::root(settings.auth_url, "auth_url").scheme == http::url_scheme::https} {
    if (!key_.empty()) return;
    const auto random = detail::random_key<std::array<char, 16>>();
    key_.assign(random.data(), random.size());
}

TOLLGATE_DECL digest browser_cookie::sign(std::string_view random, std::string_view login) const {
    std::string message{"known browser\0", 14};
    message.append(random);
    std::transform(login.begin(), login.end(), std::back_inserter(message), detail::ascii_lower);
    return hmac_sha256({.key = key_, .message = message});
}

TOLLGATE_DECL std::uint64_t browser_cookie::find(const http::request& request, std::string_view login) const {
    const auto found = http::find_cookie(request.fields, name_);
    if (!found || found->size() > 128) return 0;
    const auto dot = found->find('.');
    if (dot == std::string_view::npos) return 0;
    const auto random = detail::base64url_decode(found->substr(0, dot));
    const auto mac = detail::base64url_decode(found->substr(dot + 1));
    const auto claimed = mac ? digest::from(*mac) : std::nullopt;
    if (!random || random->size() != 16 || !claimed || *claimed != sign(*random, login)) return 0;
    std::uint64_t number = 0;
    std::memcpy(&number, random->data(), sizeof number);
    return number | 1;  // never 0
}

TOLLGATE_DECL void browser_cookie::set(std::span<const std::byte, 16> random, std::string_view login,
                                http::response& response) const {
    const std::string_view bytes{reinterpret_cast<const char*>(random.data()), random.size()};
    const auto value = detail::base64url_encode(bytes) + "." + detail::base64url_encode(sign(bytes, login).raw());
    (void)http::add_cookie(response, {.name = name_, .value = value, .max_age = lifetime_, .secure = secure_});
}

}  // namespace tollgate

#endif  // TOLLGATE_WEB_SESSION_COOKIES_IPP

#pragma once

#include <tollgate/base/encoding.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/oauth/redirect.hpp>

namespace tollgate::oauth {

namespace detail {

/// 127.0.0.0/8 and ::1. Not the name `localhost`, which somebody may make point elsewhere (RFC 8252 section 8.3).
inline bool is_loopback(const http::url& at) noexcept {
    if (!at.address) return false;
    const auto& bytes = at.address->bytes();
    return at.address->is_v4() ? bytes[12] == 127 : *at.address == *ip_address::parse("::1");
}

}  // namespace detail

TOLLGATE_DECL bool matches_registered(std::string_view registered, std::string_view redirect_uri) {
    if (registered == redirect_uri) return true;
    const auto known = http::url::parse(registered);
    const auto sent = http::url::parse(redirect_uri);
    if (!known || !sent) return false;
    return known->scheme == http::url_scheme::http && sent->scheme == http::url_scheme::http && detail::is_loopback(*known) &&
           known->address == sent->address && known->request_target() == sent->request_target() && !sent->has_user_info &&
           !sent->has_fragment && !known->has_fragment;
}

TOLLGATE_DECL bool matches_website(std::string_view website, std::string_view redirect_uri) {
    const auto home = http::url::parse(website);
    const auto sent = http::url::parse(redirect_uri);
    return home && sent && home->origin() == sent->origin() && !sent->has_user_info && !sent->has_fragment;
}

TOLLGATE_DECL std::optional<std::string> choose_redirect(const application& client, const std::optional<std::string>& redirect_uri) {
    if (client.redirect_url) {
        if (!redirect_uri) return client.redirect_url;
        return matches_registered(*client.redirect_url, *redirect_uri) ? redirect_uri : std::nullopt;
    }
    return redirect_uri && matches_website(client.website, *redirect_uri) ? redirect_uri : std::nullopt;
}

TOLLGATE_DECL std::string with_parameters(std::string_view url,
                                          const std::vector<std::pair<std::string_view, std::string_view>>& parameters) {
    std::string made{url};
    const auto mark = made.find('?');
    char before = mark == std::string::npos ? '?' : '&';
    if (mark != std::string::npos && (mark + 1 == made.size() || made.back() == '&')) before = '\0';
    for (const auto& [name, value] : parameters) {
        if (before != '\0') made.push_back(before);
        made.append(percent_encode(name)).append("=").append(percent_encode(value));
        before = '&';
    }
    return made;
}

}  // namespace tollgate::oauth

#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_REDIRECT_IPP
#define TOLLGATE_OAUTH_DETAIL_REDIRECT_IPP

#include <tollgate/account/register_application.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/oauth/detail/redirect.hpp>

#include <algorithm>
#include <vector>

namespace tollgate::inline v0::oauth {

namespace detail {

/// `text` without the port of its loopback address; empty for other hosts. Only `http`, and only addresses: the name
/// `localhost` may resolve to another host (RFC 8252 section 8.3).
inline std::optional<std::string> without_loopback_port(std::string_view text) {
    const auto url = http::url::parse(text);
    if (!url || url->scheme != http::url_scheme::http || url->has_user_info || url->has_fragment) return std::nullopt;
    if (!url->address || (url->host != "127.0.0.1" && url->host != "::1")) return std::nullopt;
    const auto authority = text.find("//") + 2;
    const auto end = (std::min)(text.find_first_of("/?", authority), text.size());
    const auto colon = text.substr(0, end).rfind(':');
    const bool has_port = colon >= authority && text.substr(colon, end - colon).find(']') == std::string_view::npos;
    if (has_port && colon + 1 == end) return std::nullopt;  // browsers drop such a colon: the application did not send it
    return std::string{text.substr(0, has_port ? colon : end)}.append(text.substr(end));
}

}  // namespace detail

TOLLGATE_DECL bool is_redirect_text(std::string_view text) noexcept {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return tollgate::detail::is_visible_ascii(c) && c != '#'; });
}

TOLLGATE_DECL bool equals_registered(std::string_view registered, std::string_view redirect_uri) {
    return registered == redirect_uri || tollgate::detail::normalized_redirect_url(registered) == redirect_uri;
}

TOLLGATE_DECL bool matches_registered(std::string_view registered, std::string_view redirect_uri) {
    if (equals_registered(registered, redirect_uri)) return true;
    const auto sent = detail::without_loopback_port(redirect_uri);
    return sent && (detail::without_loopback_port(registered) == sent ||
                    detail::without_loopback_port(tollgate::detail::normalized_redirect_url(registered)) == sent);
}

TOLLGATE_DECL bool matches_website(std::string_view website, std::string_view redirect_uri) {
    const auto site = http::url::parse(website);
    const auto sent = http::url::parse(redirect_uri);
    return site && sent && site->origin() == sent->origin() && !sent->has_user_info && !sent->has_fragment &&
           !sent->has_final_dot && !tollgate::detail::has_response_parameter(redirect_uri);
}

TOLLGATE_DECL std::optional<std::string> choose_redirect(const application& client,
                                                         const std::optional<std::string>& redirect_uri) {
    const auto& registered = client.redirect_urls;
    const auto chosen = !redirect_uri && registered.size() == 1 ? std::optional{registered.front()} : redirect_uri;
    if (!chosen || !is_redirect_text(*chosen)) return std::nullopt;
    const bool matches_one = std::any_of(registered.begin(), registered.end(),
                                         [&](const std::string& each) { return matches_registered(each, *chosen); });
    const bool needs_none = registered.empty() && client.type == client_type::confidential;
    return matches_one || (needs_none && matches_website(client.website, *chosen)) ? chosen : std::nullopt;
}

TOLLGATE_DECL std::string with_parameters(std::string_view url, std::span<const redirect_parameter> parameters) {
    std::string result{url};
    const auto mark = result.find('?');
    bool separated = mark != std::string::npos && (mark + 1 == result.size() || result.back() == '&');
    for (const auto& [name, value] : parameters) {
        if (!separated) result.push_back(result.find('?') == std::string::npos ? '?' : '&');
        separated = false;
        result.append(tollgate::detail::percent_encode(name)).append("=").append(tollgate::detail::percent_encode(value));
    }
    return result;
}

namespace detail {

inline std::string url_with(const redirect_target& to, std::vector<redirect_parameter> parameters) {
    if (to.state) parameters.push_back({"state", *to.state});
    parameters.push_back({"iss", to.issuer});
    return with_parameters(to.redirect, parameters);
}

}  // namespace detail

TOLLGATE_DECL std::string code_url(const redirect_target& to, std::string_view code) {
    return detail::url_with(to, {{"code", code}});
}

TOLLGATE_DECL std::string failure_url(const redirect_target& to, const failure& error) {
    return detail::url_with(to, {{"error", to_text(error.code)}, {"error_description", error.description}});
}

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_REDIRECT_IPP

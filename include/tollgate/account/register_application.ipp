#pragma once
#ifndef TOLLGATE_ACCOUNT_REGISTER_APPLICATION_IPP
#define TOLLGATE_ACCOUNT_REGISTER_APPLICATION_IPP

#include <tollgate/account/register_application.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/http/url.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace tollgate::inline v0 {

namespace detail {

/// What is wrong with a URL of an application, which was parsed from `text`; empty if nothing is. http is allowed for programs on the
/// user's machine only (RFC 9700 section 2.6): elsewhere, a code could be read in transit.
[[nodiscard]] inline std::optional<field_error> fault_of_url(std::string_view text, const std::optional<http::url>& url) noexcept {
    if (!detail::is_ascii(text)) return field_error::not_ascii;
    if (!url) return field_error::malformed;
    if (url->has_final_dot) return field_error::malformed;  // normalizing would make it another origin
    const bool loopback = url->host == "localhost" ||
                          (url->address && (url->address->is_v4() ? url->address->bytes()[12] == 127
                                                                  : *url->address == ip_address::parse("::1")));
    if (url->scheme == http::url_scheme::http && !loopback) return field_error::insecure;
    return std::nullopt;
}

TOLLGATE_DECL std::string normalized_url(std::string_view text) {
    const auto url = http::url::parse(text);
    if (!url || url->has_user_info) return std::string{text};
    const auto fragment = text.find('#');
    auto normalized = url->origin() + url->request_target();
    if (fragment != std::string_view::npos) normalized.append(text.substr(fragment));
    return normalized;
}

/// Returns true if a URL has a private-use scheme (RFC 8252 section 7.1): a domain name in reverse order, so that it has a dot,
/// which the schemes of browsers do not. The rest is visible ASCII without a fragment.
[[nodiscard]] inline bool is_private_use_url(std::string_view text) noexcept {
    const auto scheme = text.substr(0, text.find(':'));
    if (scheme.size() == text.size() || text.size() > limits::target_url_bytes_max || scheme.starts_with('.') ||
        scheme.ends_with('.') || scheme.find('.') == std::string_view::npos || scheme.find("..") != std::string_view::npos)
        return false;
    if (detail::is_digit(scheme.front()) || !detail::is_alphanumeric(scheme.front())) return false;
    for (char c : scheme)
        if (!detail::is_alphanumeric(c) && c != '.' && c != '-' && c != '+') return false;
    const auto rest = text.substr(scheme.size() + 1);
    return rest.starts_with('/') &&
           std::all_of(rest.begin(), rest.end(), [](char c) { return detail::is_visible_ascii(c) && c != '#'; });
}

TOLLGATE_DECL std::string normalized_redirect_url(std::string_view text) {
    if (!is_private_use_url(text)) return normalized_url(text);
    std::string normalized{text};
    for (std::size_t i = 0; normalized[i] != ':'; ++i) normalized[i] = detail::ascii_lower(normalized[i]);
    return normalized;
}

TOLLGATE_DECL std::vector<std::string> distinct_redirect_urls(const std::vector<std::string>& texts) {
    std::vector<std::string> urls;
    for (const std::string& text : texts) {
        const auto stands_for_text = [&](const std::string& each) { return each == text || normalized_redirect_url(each) == text; };
        if (std::none_of(urls.begin(), urls.end(), stands_for_text)) urls.push_back(text);
    }
    return urls;
}

TOLLGATE_DECL bool has_response_parameter(std::string_view url) {
    const auto mark = url.find('?');
    if (mark == std::string_view::npos) return false;
    constexpr std::string_view added[] = {"code", "state", "iss", "error", "error_description"};
    for (auto query = url.substr(mark + 1); !query.empty();) {
        const auto piece = query.substr(0, query.find('&'));
        const auto name = detail::percent_decode(piece.substr(0, piece.find('=')), detail::plus_sign::space);
        if (name && std::find(std::begin(added), std::end(added), *name) != std::end(added)) return true;
        query.remove_prefix((std::min)(piece.size() + 1, query.size()));
    }
    return false;
}

}  // namespace detail

TOLLGATE_DECL std::vector<field_fault> faults_of(const application_request& request) {
    std::vector<field_fault> faults;
    constexpr std::string_view private_use = ", or one with a private-use scheme such as com.example.app:/callback,";
    const bool is_public = request.type == client_type::public_client;
    const auto check_url = [&](std::string_view field, std::string_view text, std::size_t index) {
        const bool is_redirect = field == "redirect_url";
        const auto add = [&](std::string_view message, field_error kind = field_error::malformed) {
            faults.push_back({field, std::string{field}.append(message), kind, index});
        };
        const auto url = http::url::parse(text);
        const auto fault = detail::fault_of_url(text, url);
        if (fault == field_error::insecure)
            return add(" must be https; http is allowed for loopback addresses only.", *fault);
        if (fault == field_error::not_ascii)
            return add(" must be ASCII: write an international domain name in its ASCII form (xn--...).", *fault);
        if (fault)
            return add(" must be an absolute http or https URL" + std::string{is_public && is_redirect ? private_use : ""} +
                       " of at most " + std::to_string(limits::target_url_bytes_max) + " bytes.");
        if (url->has_user_info) add(" must not contain a username or password.");
        else if (url->has_fragment && is_redirect) add(" must not have a fragment (#).");
    };
    const auto check_redirect = [&](std::string_view text, std::size_t index) {
        const auto before = faults.size();
        if (!is_public || !detail::is_private_use_url(text)) check_url("redirect_url", text, index);
        if (faults.size() == before && detail::has_response_parameter(text))
            faults.push_back({"redirect_url", "redirect_url must not have a query parameter code, state, iss, error or error_description.",
                              field_error::reserved_parameter, index});
    };
    if (!detail::is_visible_line(request.name, limits::application_name_bytes_max))
        faults.push_back({"name", "name must be a line of 1 to " + std::to_string(limits::application_name_bytes_max) +
                                      " bytes without control or invisible characters."});
    if (request.owner != no_owner || !request.website.empty()) check_url("website", request.website, 0);
    if (!request.description.empty() && !detail::is_visible_line(request.description, limits::application_description_bytes_max))
        faults.push_back({"description",
                          "description must be a line of at most " + std::to_string(limits::application_description_bytes_max) +
                              " bytes without control or invisible characters."});
    if (request.redirect_urls.size() > limits::redirect_urls_max) {
        // All URLs share one fault: there may be as many as fit into the body of a request.
        faults.push_back({"redirect_url", "redirect_url is given more than " + std::to_string(limits::redirect_urls_max) + " times.",
                          field_error::too_many});
        return faults;
    }
    for (std::size_t i = 0; i < request.redirect_urls.size(); ++i) check_redirect(request.redirect_urls[i], i);
    return faults;
}

}  // namespace tollgate

#endif  // TOLLGATE_ACCOUNT_REGISTER_APPLICATION_IPP

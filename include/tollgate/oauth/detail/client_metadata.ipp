#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_CLIENT_METADATA_IPP
#define TOLLGATE_OAUTH_DETAIL_CLIENT_METADATA_IPP

#include <tollgate/account/register_application.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/oauth/detail/client_metadata.hpp>

#include <algorithm>
#include <utility>

namespace tollgate::inline v0::oauth {

namespace detail {

/// The description of an error is visible ASCII without quote and backslash, so metadata is never part of it.
inline failure bad_metadata(std::string_view description) { return {error_code::invalid_client_metadata, std::string{description}}; }

/// Returns true if the member is missing, or is an array of texts that contains `value`.
inline bool may_use(const http::json_object& sent, std::string_view name, std::string_view value) {
    const auto* member = sent.find(name);
    if (member == nullptr || member->kind == http::json_kind::null) return true;
    return std::find(member->texts.begin(), member->texts.end(), value) != member->texts.end();
}

/// The text of a member; null if it is missing. Error: a member of another type.
inline result<const std::string*> text_of(const http::json_object& sent, std::string_view name) {
    const auto* member = sent.find(name);
    if (member == nullptr || member->kind == http::json_kind::null) return nullptr;
    if (member->kind != http::json_kind::text) return invalid(std::string{name} + " must be a string.");
    return &member->value;
}

/// The scopes of a text that exist. Others are left out (RFC 7591 section 2): clients name scopes of every provider that they know.
inline scope_set existing_scopes(std::string_view text, const service_catalog& services) {
    std::string known;
    while (!text.empty()) {
        const auto end = (std::min)(text.find(' '), text.size());
        if (services.has_scope(text.substr(0, end))) known.append(text.substr(0, end)).append(" ");
        text.remove_prefix((std::min)(end + 1, text.size()));
    }
    return scope_set::parse(known).value_or(scope_set{});
}

/// The host of a redirect URL, or its private-use scheme.
inline std::string name_of(std::string_view redirect) {
    const auto url = http::url::parse(redirect);
    return url ? url->authority() : std::string{redirect.substr(0, redirect.find(':'))};
}

}  // namespace detail

TOLLGATE_DECL std::variant<client_metadata, failure> read_client_metadata(const http::json_object& sent, const service_catalog& services,
                                                                          metadata_source source) {
    const auto method = detail::text_of(sent, "token_endpoint_auth_method");
    const auto name = detail::text_of(sent, "client_name");
    const auto website = detail::text_of(sent, "client_uri");
    const auto scope = detail::text_of(sent, "scope");
    for (const auto* each : {&method, &name, &website, &scope})
        if (!*each) return detail::bad_metadata(each->error().message);

    client_metadata read;
    const bool is_document = source == metadata_source::document;
    read.auth_method = *method != nullptr ? **method : is_document ? "none" : "client_secret_basic";
    const bool is_public = read.auth_method == "none";
    if (is_document ? !is_public : !is_public && read.auth_method != "client_secret_basic" && read.auth_method != "client_secret_post")
        return detail::bad_metadata(is_document ? "token_endpoint_auth_method must be none."
                                                : "token_endpoint_auth_method must be client_secret_basic, client_secret_post or none.");
    if (is_document && sent.find("client_secret") != nullptr) return detail::bad_metadata("The document must not contain a client_secret.");
    read.type = is_public ? client_type::public_client : client_type::confidential;
    if (!detail::may_use(sent, "grant_types", "authorization_code"))
        return detail::bad_metadata("grant_types must be an array with authorization_code.");
    if (!detail::may_use(sent, "response_types", "code")) return detail::bad_metadata("response_types must be an array with code.");

    const auto* redirects = sent.find("redirect_uris");
    if (redirects == nullptr || redirects->texts.empty())
        return failure{error_code::invalid_redirect_uri, "redirect_uris must be an array of at least one URL."};
    read.redirect_urls = redirects->texts;
    read.name = *name != nullptr && !(*name)->empty() ? **name : detail::name_of(read.redirect_urls.front());
    if (*website != nullptr) read.website = **website;
    if (*scope != nullptr) read.default_scopes = detail::existing_scopes(**scope, services);

    const auto faults = faults_of({.owner = no_owner,
                                   .name = read.name,
                                   .website = read.website,
                                   .redirect_urls = read.redirect_urls,
                                   .type = read.type});
    if (faults.empty()) return read;
    const auto& fault = faults.front();
    // The messages begin with the name of a field of our forms.
    auto message = fault.message.substr((std::min)(fault.field.size(), fault.message.size()));
    if (fault.field == "redirect_url") return failure{error_code::invalid_redirect_uri, "redirect_uris: each" + message};
    return detail::bad_metadata((fault.field == "name" ? "client_name" : "client_uri") + message);
}

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_CLIENT_METADATA_IPP

#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_CONSENT_IPP
#define TOLLGATE_OAUTH_DETAIL_CONSENT_IPP

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/oauth/detail/consent.hpp>
#include <tollgate/web/detail/form.hpp>
#include <tollgate/web/detail/sign_in_form.hpp>

#include <array>
#include <cstring>

namespace tollgate::inline v0::oauth {

namespace detail {

/// The part of the URL that users recognize.
inline std::string displayed_host(std::string_view redirect) {
    if (const auto url = http::url::parse(redirect)) return url->authority();
    return std::string{redirect.substr(0, redirect.find_first_of(":?/"))};
}

}  // namespace detail

TOLLGATE_DECL std::string signed_text_of(const authorization_request& request) {
    return to_query(request) + "\n" + request.redirect;
}

TOLLGATE_DECL secret_text make_code(const code_derivation& derivation) {
    const std::string message = "authorization code\n" + std::to_string(derivation.user.value()) + "\n" +
                                web::form_nonce_text(derivation.nonce) + "\n" + std::string{derivation.signed_text};
    const auto mac = hmac_sha256({.key = derivation.key, .message = message});
    std::array<std::byte, digest::size_bytes> bytes;
    std::memcpy(bytes.data(), mac.bytes().data(), bytes.size());
    return make_secret(secret_kind::authorization_code, bytes);
}

TOLLGATE_DECL std::string consent_title(const consent_view& view) {
    return fill_in(view.texts.consent.title, view.request.client.name);
}

TOLLGATE_DECL void write_form_notice(html_writer& html, std::string_view text) {
    if (!text.empty()) html.add("<p class=\"caution\" role=\"alert\">{}</p>\n", text);
}

TOLLGATE_DECL void write_client(html_writer& html, const page_texts& texts, const application& client, std::string_view asks,
                                const scope_set& scopes, const web::scope_text_list& scope_texts) {
    html.add("<p>{}</p>\n", asks);
    if (!client.description.empty()) html.add("<blockquote>{}</blockquote>\n", client.description);
    html.add("<p>{}</p>\n", texts.consent.scopes);
    web::write_scopes(html, scopes, scope_texts);
    switch (client.registration) {
        case registration_kind::by_owner: html.add("<p class=\"hint\">{}</p>\n", fill_in(texts.consent.website, client.website)); break;
        case registration_kind::by_itself:
            if (!client.website.empty()) html.add("<p class=\"hint\">{}</p>\n", fill_in(texts.consent.website, client.website));
            html.add("<p class=\"caution\">{}</p>\n", texts.consent.registered_itself);
            break;
        case registration_kind::metadata_document:
            html.add("<p class=\"caution\">{}</p>\n", fill_in(texts.consent.not_registered, detail::displayed_host(client.website)));
            break;
    }
    if (client.type == client_type::public_client) html.add("<p class=\"caution\">{}</p>\n", texts.consent.unproved);
}

TOLLGATE_DECL void write_decision(html_writer& html, const consent_texts& texts, std::string_view client_name,
                                  std::string_view login, bool can_sign_out) {
    if (!login.empty()) {
        html.add("<p class=\"as\">{}", fill_in(texts.signed_in_as, login));
        if (can_sign_out)
            html.add(" <button class=\"link\" name=\"{}\" value=\"other_user\">{}</button>", decision_name, texts.other_user);
        html.add("</p>\n");
    }
    // Denying does not require signing in.
    html.add(R"(<p class="buttons"><button name="{}" value="allow">{}</button>
<button class="quiet" name="{}" value="deny" formnovalidate>{}</button></p>
)",
             decision_name, fill_in(texts.allow, client_name), decision_name, texts.deny);
}

TOLLGATE_DECL void write_consent(html_writer& html, const consent_view& view) {
    const auto& texts = view.texts.consent;
    const auto& client = view.request.client;
    html.add("<h1>{}</h1>\n", consent_title(view));
    write_form_notice(html, view.notice);
    if (view.sign_in != nullptr) web::write_faults(html, view.sign_in->faults, view.texts.forms);
    write_client(html, view.texts, client, fill_in(texts.asks, client.name, view.operator_name), view.request.scopes,
                 view.scopes);
    if (view.shows_resources)
        for (const auto& each : view.request.resource_urls) html.add("<p class=\"hint\">{}</p>\n", fill_in(texts.resource, each));

    const auto carried = form_parameters(view.request);
    web::form_target to{.url = view.url, .form_token = view.form_token, .hidden = {}};
    for (const auto& [name, value] : carried) to.hidden.emplace_back(name, value);
    web::begin_form(html, to);
    if (view.sign_in != nullptr) {
        html.add("<h2>{}</h2>\n", texts.sign_in);
        web::write_sign_in_fields(html, view.sign_in->login, view.sign_in->faults, view.texts);
    }
    write_decision(html, texts, client.name, view.login, view.can_sign_out);
    html.add("</form>\n<p class=\"hint\">{} {}</p>\n",
             fill_in(texts.leads_to, detail::displayed_host(view.request.redirect)), texts.revocable);
}

TOLLGATE_DECL void write_received_redirect(html_writer& html, const consent_texts& texts, std::string_view redirect_uri) {
    // Percent-encoded, other bytes change neither the order of the text nor what it looks like.
    std::string visible;
    for (const char c : redirect_uri.substr(0, limits::target_url_bytes_max))
        visible.append(tollgate::detail::is_visible_ascii(c) ? std::string(1, c) : tollgate::detail::percent_encode({&c, 1}));
    if (redirect_uri.size() > limits::target_url_bytes_max) visible.append(" ...");
    html.add("<p>{}</p>\n<pre>\n{}</pre>\n<p class=\"hint\">{}</p>\n", texts.received_redirect, visible, texts.compare_redirect);
}

TOLLGATE_DECL decision read_decision(const parameters& sent) {
    const auto value = sent.find(decision_name);
    if (!value || sent.is_repeated(decision_name)) return decision::none;
    if (*value == "other_user") return decision::other_user;
    return *value == "allow" ? decision::allow : *value == "deny" ? decision::deny : decision::none;
}

TOLLGATE_DECL const message_texts& texts_for(page_failure failure, const consent_texts& texts) noexcept {
    switch (failure) {
        case page_failure::missing_client_id: return texts.missing_client;
        case page_failure::unknown_client: return texts.unknown_client;
        case page_failure::stopped_client: return texts.stopped_client;
        case page_failure::no_redirect_url: return texts.no_redirect_url;
        case page_failure::missing_redirect: return texts.missing_redirect;
        case page_failure::unregistered_redirect: break;
    }
    return texts.unregistered_redirect;
}

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_CONSENT_IPP

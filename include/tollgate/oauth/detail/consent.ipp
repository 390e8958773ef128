#pragma once

#include <tollgate/base/digest.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/oauth/detail/consent.hpp>
#include <tollgate/web/detail/form.hpp>
#include <tollgate/web/detail/sign_in_form.hpp>

#include <array>
#include <cstring>

namespace tollgate::inline v0::oauth {

namespace detail {

/// What a person recognises an address by.
inline std::string place_of(std::string_view redirect) {
    if (const auto url = http::url::parse(redirect)) return url->authority();
    return std::string{redirect.substr(0, redirect.find_first_of("?/"))};
}

}  // namespace detail

TOLLGATE_DECL std::string covered_by(const authorization_request& request) {
    return to_query(request) + "\n" + request.redirect;
}

TOLLGATE_DECL secret_text make_code(const code_seed& seed) {
    const std::string message = "authorization code\n" + std::to_string(seed.user.value()) + "\n" +
                                pipeline::form_nonce_text(seed.nonce) + "\n" + std::string{seed.covered};
    const auto made = hmac_sha256({.key = seed.key, .message = message});
    std::array<std::byte, digest::size_bytes> bytes;
    std::memcpy(bytes.data(), made.bytes().data(), bytes.size());
    return make_secret(secret_kind::authorization_code, bytes);
}

TOLLGATE_DECL std::string consent_title(const consent_view& view) {
    return fill_in(view.texts.consent.title, view.request.client.name);
}

TOLLGATE_DECL void write_consent(http::html_writer& html, const consent_view& view) {
    const auto& texts = view.texts.consent;
    const auto& client = view.request.client;
    html.add("<h1>{}</h1>\n", consent_title(view));
    if (view.sign_in != nullptr) pipeline::write_faults(html, view.sign_in->faults, view.texts.forms);
    html.add("<p>{}</p>\n", fill_in(texts.asks, client.name));
    if (!client.description.empty()) html.add("<blockquote>{}</blockquote>\n", client.description);
    html.add("<p>{}</p>\n<ul>\n", texts.scopes);
    view.request.scopes.for_each([&](std::string_view scope) {
        html.add("<li>{} <code>{}</code></li>\n", view.scopes.find(scope), scope);
        return true;
    });
    html.add("</ul>\n<p class=\"hint\">{}</p>\n", fill_in(texts.website, client.website));

    const auto carried = carried_by(view.request);
    pipeline::form_target to{.url = view.url, .form_token = view.form_token, .hidden = {}};
    for (const auto& [name, value] : carried) to.hidden.emplace_back(name, value);
    if (view.sign_in != nullptr) to.hidden.emplace_back(nonce_name, view.sign_in->nonce);
    pipeline::begin_form(html, to);
    if (view.sign_in != nullptr) {
        html.add("<h2>{}</h2>\n", texts.sign_in);
        pipeline::write_sign_in_fields(html, view.sign_in->login, view.sign_in->faults, view.texts);
    }
    // Whoever refuses need not sign in for it.
    html.add(R"(<p class="buttons"><button name="{}" value="allow">{}</button>
<button class="quiet" name="{}" value="deny" formnovalidate>{}</button></p>
</form>
<p class="hint">{}</p>
)",
             decision_name, texts.allow, decision_name, texts.deny,
             fill_in(texts.leads_to, detail::place_of(view.request.redirect)));
}

}  // namespace tollgate::oauth

#pragma once

#include <tollgate/oauth/detail/device_page.hpp>

namespace tollgate::inline v0::oauth {

TOLLGATE_DECL void write_device_form(html_writer& html, const device_form_view& view) {
    const auto& texts = view.texts.device;
    html.add("<h1>{}</h1>\n<p>{}</p>\n", texts.title, texts.about);
    web::begin_form(html, {.url = view.url, .form_token = view.form_token});
    web::write_text_field(html,
                          {.name = user_code_name,
                           .label = texts.code,
                           .hint = texts.code_hint,
                           .value = view.typed,
                           .bytes_max = 64,
                           .focused = true},
                          view.faults, view.texts.forms);
    html.add("<p class=\"buttons\"><button>{}</button></p>\n</form>\n", texts.next);
}

TOLLGATE_DECL void write_device_request(html_writer& html, const device_request_view& view) {
    const auto& texts = view.texts.device;
    const auto& consent = view.texts.consent;
    html.add("<h1>{}</h1>\n<p>{}</p>\n", fill_in(consent.title, view.client.name), fill_in(texts.asks, view.client.name));
    if (!view.client.description.empty()) html.add("<blockquote>{}</blockquote>\n", view.client.description);
    html.add("<p>{}</p>\n<ul>\n", consent.scopes);
    view.request.scopes.for_each([&](std::string_view scope) {
        html.add("<li>{} <code>{}</code></li>\n", view.scopes.find(scope), scope);
        return true;
    });
    html.add("</ul>\n<p class=\"hint\">{}</p>\n", fill_in(consent.website, view.client.website));
    html.add("<p class=\"caution\">{}</p>\n<p>{}</p>\n",
             fill_in(fill_in(texts.warning, view.request.requested_from), web::moment_text(view.request.created_at)),
             fill_in(texts.code_shown, view.user_code));
    web::begin_form(html, {.url = view.url,
                           .form_token = view.form_token,
                           .hidden = {{user_code_name, std::string{view.user_code}}}});
    html.add(R"(<p class="buttons"><button name="{}" value="allow">{}</button>
<button class="quiet" name="{}" value="deny">{}</button></p>
</form>
)",
             decision_name, consent.allow, decision_name, consent.deny);
}

}  // namespace tollgate::oauth

#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_DEVICE_PAGE_IPP
#define TOLLGATE_OAUTH_DETAIL_DEVICE_PAGE_IPP

#include <tollgate/oauth/detail/device_page.hpp>

#include <algorithm>

namespace tollgate::inline v0::oauth {

namespace detail {

/// The sentence with the code on a line of its own.
inline void write_code(html_writer& html, std::string_view sentence, std::string_view code) {
    const auto place = (std::min)(sentence.find("{}"), sentence.size());
    const auto after = sentence.substr((std::min)(place + 2, sentence.size()));
    html.add("<p>{}<strong class=\"code\">{}</strong>{}</p>\n", sentence.substr(0, place), code, after);
}

}  // namespace detail

namespace detail {

struct device_result {
    std::string_view name;
    message_texts device_texts::*texts;
};
inline constexpr device_result device_results[] = {{"approved", &device_texts::approved},
                                                   {"denied", &device_texts::denied},
                                                   {"approved before", &device_texts::approved_before},
                                                   {"denied before", &device_texts::denied_before},
                                                   {"other user", &device_texts::answered_by_other},
                                                   {"answered", &device_texts::answered}};

}  // namespace detail

TOLLGATE_DECL std::string_view device_result_of(const device_answer& answer, const device_decision& decision) noexcept {
    if (!answer.user) return "answered";
    if (*answer.user != decision.user) return "other user";
    const bool is_same = answer.state == decision.answer;
    if (answer.state == device_code_state::approved) return is_same ? "approved" : "approved before";
    return is_same ? "denied" : "denied before";
}

TOLLGATE_DECL const message_texts* find_device_result(std::string_view name, const device_texts& texts) noexcept {
    for (const detail::device_result& each : detail::device_results)
        if (each.name == name) return &(texts.*each.texts);
    return nullptr;
}

TOLLGATE_DECL void write_device_form(html_writer& html, const device_form_view& view) {
    const auto& texts = view.texts.device;
    html.add("<h1>{}</h1>\n", texts.title);
    write_form_notice(html, view.notice);
    html.add("<p>{}</p>\n", texts.about);
    web::begin_form(html, {.url = view.url, .form_token = view.form_token});
    web::write_text_field(html,
                          {.name = user_code_name,
                           .label = texts.code,
                           .hint = texts.code_hint,
                           .value = view.typed,
                           .focused = true},
                          view.faults, view.texts.forms);
    html.add("<p class=\"buttons\"><button>{}</button></p>\n</form>\n", texts.next);
}

TOLLGATE_DECL void write_device_request(html_writer& html, const device_request_view& view) {
    const auto& texts = view.texts.device;
    const auto& consent = view.texts.consent;
    html.add("<h1>{}</h1>\n", fill_in(consent.title, view.client.name));
    write_form_notice(html, view.notice);
    write_client(html, view.texts, view.client, fill_in(texts.asks, view.client.name, view.operator_name),
                 view.request.scopes, view.scopes);
    html.add("<p class=\"caution\">{}</p>\n",
             fill_in(texts.warning, view.request.requested_from, web::moment_text(view.request.created_at, view.texts.dates)));
    detail::write_code(html, texts.code_shown, view.user_code);
    web::begin_form(html, {.url = view.url,
                           .form_token = view.form_token,
                           .hidden = {{user_code_name, std::string{view.user_code}}}});
    write_decision(html, consent, view.client.name, view.login, view.can_sign_out);
    html.add("</form>\n<p class=\"hint\">{}</p>\n", consent.revocable);
}

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_DEVICE_PAGE_IPP

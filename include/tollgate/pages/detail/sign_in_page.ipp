#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_SIGN_IN_PAGE_IPP
#define TOLLGATE_PAGES_DETAIL_SIGN_IN_PAGE_IPP

#include <tollgate/pages/detail/sign_in_page.hpp>

namespace tollgate::inline v0::pages {

TOLLGATE_DECL sign_in_form sign_in_form::read(const http::form_fields& fields) {
    sign_in_form form{.login = std::string{trim_login(fields.value_of(web::login_name))}};
    if (const auto target = fields.value_of(return_to_name); is_local_target(target)) form.return_to = target;
    const auto read_line = [&](std::string_view name, std::string& into) {
        if (const auto line = trim_login(fields.value_of(name));
            tollgate::detail::is_visible_line(line, limits::login_bytes_max))
            into = line;
    };
    read_line(prompt_name, form.prompt);
    read_line(login_hint_name, form.login_hint);
    return form;
}

TOLLGATE_DECL void write_sign_in(html_writer& html, const sign_in_view& view, const sign_in_form& typed,
                                 const web::form_faults& faults) {
    const sign_in_texts& texts = view.texts.sign_in;
    html.add("<h1>{}</h1>\n", texts.title);
    if (view.signed_out) write_notice(html, texts.signed_out);
    if (!view.lost_cookie.empty()) html.add("<p class=\"caution\" role=\"alert\">{}</p>\n", view.lost_cookie);
    web::write_faults(html, faults, view.texts.forms);
    web::begin_form(html, {.url = view.url, .form_token = {}, .hidden = {}});
    if (!typed.return_to.empty())
        html.add("<input type=\"hidden\" name=\"{}\" value=\"{}\">\n", return_to_name, typed.return_to);
    if (!typed.prompt.empty()) html.add("<input type=\"hidden\" name=\"{}\" value=\"{}\">\n", prompt_name, typed.prompt);
    web::write_sign_in_fields(html, typed.login, faults, view.texts);
    html.add("<button>{}</button>\n</form>\n", texts.button);
}

TOLLGATE_DECL void write_sign_out(html_writer& html, const sign_out_view& view) {
    const sign_in_texts& texts = view.texts.sign_in;
    html.add("<h1>{}</h1>\n", texts.out_title);
    if (!view.stale.empty()) html.add("<p class=\"caution\" role=\"alert\">{}</p>\n", view.stale);
    html.add("<p>{}</p>\n", fill_in(texts.out_about, view.login));
    web::begin_form(html, {.url = view.url, .form_token = view.form_token, .hidden = {}});
    html.add("<button>{}</button>\n</form>\n", texts.out_title);
}

}  // namespace tollgate::pages

#endif  // TOLLGATE_PAGES_DETAIL_SIGN_IN_PAGE_IPP

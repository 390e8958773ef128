#pragma once

#include <tollgate/pages/sign_in_page.hpp>
#include <tollgate/pipeline/page_text.hpp>

#include <algorithm>

namespace tollgate::pages {

TOLLGATE_DECL std::string read_return_to(const http::form_fields& fields) {
    const auto wanted = fields.value_of("return_to");
    return is_local_target(wanted) ? std::string{wanted} : std::string{};
}

TOLLGATE_DECL pipeline::form_faults faults_of(const sign_in_form& typed, std::string_view password,
                                              const sign_in_words& words) {
    pipeline::form_faults found;
    if (typed.login.empty()) found.add("login", words.login_missing);
    if (password.empty()) found.add("password", words.password_missing);
    return found;
}

TOLLGATE_DECL pipeline::form_faults faults_of(const sign_in_answer& answer, const sign_in_words& words) {
    pipeline::form_faults found;
    if (answer.result == sign_in_result::refused) found.add("password", words.refused);
    if (answer.result == sign_in_result::throttled)
        found.add("password",
                  pipeline::fill_in(words.throttled, pipeline::duration_text(answer.retry_after, words.durations)));
    return found;
}

TOLLGATE_DECL void write_sign_in(http::html_writer& html, const sign_in_view& view, const sign_in_form& typed,
                                 const pipeline::form_faults& faults) {
    const sign_in_words& words = view.words.sign_in;
    html.add("<h1>{}</h1>\n", words.title);
    if (view.signed_out) html.add("<p class=\"notice\" role=\"status\">{}</p>\n", words.signed_out);
    pipeline::write_faults(html, faults, view.words.forms);
    pipeline::begin_form(html, {.url = view.url, .form_token = {}, .hidden = {}});
    if (!typed.return_to.empty())
        html.add("<input type=\"hidden\" name=\"return_to\" value=\"{}\">\n", typed.return_to);
    pipeline::write_text_field(
        html,
        {.name = "login", .label = words.login, .value = typed.login, .autocomplete = "username", .focused = true},
        faults, view.words.forms);
    pipeline::write_text_field(
        html, {.name = "password", .label = words.password, .type = "password", .autocomplete = "current-password"},
        faults, view.words.forms);
    html.add("<button>{}</button>\n</form>\n", words.button);
}

TOLLGATE_DECL void write_sign_out(http::html_writer& html, const sign_out_view& view) {
    const sign_in_words& words = view.words.sign_in;
    html.add("<h1>{}</h1>\n<p>{}</p>\n", words.out_title, pipeline::fill_in(words.out_about, view.login));
    pipeline::begin_form(html, {.url = view.url, .form_token = view.form_token, .hidden = {}});
    html.add("<button>{}</button>\n</form>\n", words.out_title);
}

}  // namespace tollgate::pages

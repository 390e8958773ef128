#pragma once

#include <tollgate/pipeline/page_sign_in.hpp>
#include <tollgate/pipeline/page_text.hpp>

namespace tollgate::pipeline {

TOLLGATE_DECL form_faults faults_of(const sign_in_attempt& typed, const sign_in_words& words) {
    form_faults found;
    if (typed.login.empty()) found.add(login_name, words.login_missing);
    if (typed.password.empty()) found.add(password_name, words.password_missing);
    return found;
}

TOLLGATE_DECL form_faults faults_of(const sign_in_answer& answer, const sign_in_words& words) {
    form_faults found;
    if (answer.result == sign_in_result::refused) found.add(password_name, words.refused);
    if (answer.result == sign_in_result::throttled)
        found.add(password_name, fill_in(words.throttled, duration_text(answer.retry_after, words.durations)));
    return found;
}

TOLLGATE_DECL void write_sign_in_fields(http::html_writer& html, std::string_view login, const form_faults& faults,
                                        const page_words& words) {
    write_text_field(
        html,
        {.name = login_name, .label = words.sign_in.login, .value = login, .autocomplete = "username", .focused = true},
        faults, words.forms);
    write_text_field(html,
                     {.name = password_name,
                      .label = words.sign_in.password,
                      .type = "password",
                      .autocomplete = "current-password"},
                     faults, words.forms);
}

}  // namespace tollgate::pipeline

#pragma once
#ifndef TOLLGATE_WEB_DETAIL_SIGN_IN_FORM_HPP
#define TOLLGATE_WEB_DETAIL_SIGN_IN_FORM_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/web/credential_rules.hpp>
#include <tollgate/web/detail/form.hpp>
#include <tollgate/web/detail/page.hpp>
#include <tollgate/web/html_writer.hpp>
#include <tollgate/web/texts.hpp>

#include <string_view>

/// What all pages with a sign-in form share.
namespace tollgate::inline v0::web {

inline constexpr std::string_view login_name = "login";
inline constexpr std::string_view password_name = "password";

/// The missing fields. An attempt with any is not checked.
[[nodiscard]] inline form_faults faults_of(const sign_in_attempt& typed, const sign_in_texts& texts) {
    form_faults found;
    if (typed.login.empty()) found.add(login_name, texts.login_missing);
    if (typed.password.empty()) found.add(password_name, texts.password_missing);
    return found;
}

/// The reason why the sign-in failed; empty if it succeeded.
[[nodiscard]] inline form_faults faults_of(const sign_in_response& response, const sign_in_texts& texts) {
    form_faults found;
    if (response.result == sign_in_result::refused) found.add(password_name, texts.refused);
    if (response.result == sign_in_result::throttled)
        found.add(password_name, fill_in(texts.throttled, duration_text(response.retry_after, texts.durations)));
    return found;
}

/// The two fields. `login` is the submitted value; a password is never sent back.
inline void write_sign_in_fields(html_writer& html, std::string_view login, const form_faults& faults,
                                 const page_texts& texts) {
    write_text_field(
        html,
        {.name = login_name, .label = texts.sign_in.login, .value = login, .autocomplete = "username", .focused = login.empty()},
        faults, texts.forms);
    write_text_field(html,
                     {.name = password_name,
                      .label = texts.sign_in.password,
                      .type = "password",
                      .autocomplete = "current-password",
                      .focused = !login.empty()},
                     faults, texts.forms);
}

}  // namespace tollgate::web

#endif  // TOLLGATE_WEB_DETAIL_SIGN_IN_FORM_HPP

#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/contract/page_words.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/http/html_writer.hpp>
#include <tollgate/pipeline/page_form.hpp>

#include <string_view>

/// What every page has on which people sign in.
namespace tollgate::pipeline {

inline constexpr std::string_view login_name = "login";
inline constexpr std::string_view password_name = "password";

/// What is missing of what was typed. Nothing is tried then.
[[nodiscard]] TOLLGATE_DECL form_faults faults_of(const sign_in_attempt& typed, const sign_in_words& words);

/// Why they were not let in; empty if they were.
[[nodiscard]] TOLLGATE_DECL form_faults faults_of(const sign_in_answer& answer, const sign_in_words& words);

/// The two fields. `login` is what was typed; a password never comes back.
TOLLGATE_DECL void write_sign_in_fields(http::html_writer& html, std::string_view login, const form_faults& faults,
                                        const page_words& words);

}  // namespace tollgate::pipeline

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pipeline/page_sign_in.ipp>
#endif

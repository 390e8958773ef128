#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/page_theme.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/http/form_body.hpp>
#include <tollgate/pages/room.hpp>
#include <tollgate/pipeline/page_form.hpp>

#include <string>
#include <string_view>

namespace tollgate::pages {

/// What was typed, but for the password, and where to go afterwards.
struct sign_in_form {
    std::string login = {};
    std::string return_to = {};  ///< empty: to the settings
};

/// A target that is not this site's own is none.
[[nodiscard]] TOLLGATE_DECL std::string read_return_to(const http::form_fields& fields);

/// Fields that are empty.
[[nodiscard]] TOLLGATE_DECL pipeline::form_faults faults_of(const sign_in_form& typed, std::string_view password,
                                                            const sign_in_words& words);

/// Why they were not let in.
[[nodiscard]] TOLLGATE_DECL pipeline::form_faults faults_of(const sign_in_answer& answer, const sign_in_words& words);

struct sign_in_view {
    const page_words& words;
    std::string_view url;
    bool signed_out = false;  ///< they come from the sign-out page
};

TOLLGATE_DECL void write_sign_in(http::html_writer& html, const sign_in_view& view, const sign_in_form& typed,
                                 const pipeline::form_faults& faults);

struct sign_out_view {
    const page_words& words;
    std::string_view url;
    std::string_view form_token;
    std::string_view login;
};

/// For those who follow a link: only a form signs out.
TOLLGATE_DECL void write_sign_out(http::html_writer& html, const sign_out_view& view);

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/sign_in_page.ipp>
#endif

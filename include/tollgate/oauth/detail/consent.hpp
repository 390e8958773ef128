#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/oauth/detail/authorization_request.hpp>
#include <tollgate/web/detail/form.hpp>
#include <tollgate/web/detail/page.hpp>
#include <tollgate/web/html_writer.hpp>
#include <tollgate/web/texts.hpp>

#include <string>
#include <string_view>

namespace tollgate::inline v0::oauth {

/// What a consent form does, for its form token.
inline constexpr std::string_view consent_purpose = "oauth/consent";

/// What a consent is about: two are the same exactly if these texts are.
[[nodiscard]] TOLLGATE_DECL std::string covered_by(const authorization_request& request);

/// Where a code comes from that is to be the same however often one form is sent.
struct code_seed {
    std::string_view key;    ///< nobody knows it who could use it: a session's secret, or a server's
    pipeline::form_nonce nonce;  ///< the form's
    user_id user;
    std::string_view covered;
};
[[nodiscard]] TOLLGATE_DECL secret_text make_code(const code_seed& seed);

/// The part of a consent form where people sign in.
struct sign_in_part {
    std::string_view nonce;
    std::string_view login;  ///< as typed
    const pipeline::form_faults& faults;
};

/// The names of what a consent form sends, besides the request's parameters.
inline constexpr std::string_view decision_name = "decision";
inline constexpr std::string_view nonce_name = "form_nonce";

struct consent_view {
    const page_texts& texts;
    const pipeline::scope_text_list& scopes;
    const authorization_request& request;
    std::string_view url;         ///< of the page itself
    std::string_view form_token;  ///< empty where people sign in on it
    const sign_in_part* sign_in;  ///< null where they have
};

[[nodiscard]] TOLLGATE_DECL std::string consent_title(const consent_view& view);
TOLLGATE_DECL void write_consent(http::html_writer& html, const consent_view& view);

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/consent.ipp>
#endif

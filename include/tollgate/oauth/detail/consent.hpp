#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_CONSENT_HPP
#define TOLLGATE_OAUTH_DETAIL_CONSENT_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/caller.hpp>
#include <tollgate/oauth/detail/authorization_request.hpp>
#include <tollgate/oauth/detail/failure.hpp>
#include <tollgate/oauth/detail/paths.hpp>
#include <tollgate/pipeline/detail/observed_request.hpp>
#include <tollgate/web/detail/form.hpp>
#include <tollgate/web/detail/page.hpp>
#include <tollgate/web/html_writer.hpp>
#include <tollgate/web/texts.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tollgate::inline v0::oauth {

/// Responds to an error of the server with a page; the observer gets the error.
inline void respond_error_page(const error& failed, const web::localized_pages& pages, const tollgate::policies& policies,
                               const pipeline::observed_request& observed, http::response& response) {
    observed.report(policies, failed);
    const auto status = status_of_server_error(failed);
    http::add_retry_after(response, status);
    pages.respond_status(response, status);
}

/// What the user chose on a consent form; `other_user`: to sign in as somebody else.
enum class decision : std::uint8_t { allow, deny, other_user, none };
[[nodiscard]] TOLLGATE_DECL decision read_decision(const parameters& sent);

/// The error page of a failure.
[[nodiscard]] TOLLGATE_DECL const message_texts& texts_for(page_failure failure, const consent_texts& texts) noexcept;

/// The redirect_uri of a request that was refused because of it, and what to compare it with.
TOLLGATE_DECL void write_received_redirect(html_writer& html, const consent_texts& texts, std::string_view redirect_uri);

/// The purposes of consent forms, for their form tokens.
inline constexpr std::string_view consent_purpose = "oauth/consent";
inline constexpr std::string_view sign_in_purpose = "oauth/sign_in";

/// The text that a form token of this request covers.
[[nodiscard]] TOLLGATE_DECL std::string signed_text_of(const authorization_request& request);

/// What a code is derived from, so that submitting a form twice gives the same code.
struct code_derivation {
    std::string_view key;   ///< secret: a session's
    web::form_nonce nonce;  ///< the form's
    user_id user;
    std::string_view signed_text;
};
[[nodiscard]] TOLLGATE_DECL secret_text make_code(const code_derivation& derivation);

/// The sign-in part of a consent form.
struct sign_in_part {
    std::string_view login;  ///< the login that the user submitted
    const web::form_faults& faults;
};

/// The field of the consent form's buttons.
inline constexpr std::string_view decision_name = "decision";

struct consent_view {
    const page_texts& texts;
    std::string_view operator_name;  ///< name of the site's operator
    const web::scope_text_list& scopes;
    const authorization_request& request;
    std::string_view url;         ///< URL of this page
    std::string_view form_token;
    const sign_in_part* sign_in;  ///< null if signed in
    std::string_view login = {};  ///< login of the user
    bool can_sign_out = false;
    bool shows_resources = false;  ///< there are several, so the user sees which are requested
    std::string_view notice = {};  ///< reason for displaying the form again; empty if there is none
};

/// Writes the reason for displaying a form again; nothing if `text` is empty.
TOLLGATE_DECL void write_form_notice(html_writer& html, std::string_view text);
/// Writes the application and the scopes that it requests, on this page and on that of a device. `asks` is the first sentence.
TOLLGATE_DECL void write_client(html_writer& html, const page_texts& texts, const application& client, std::string_view asks,
                                const scope_set& scopes, const web::scope_text_list& scope_texts);
/// Writes the name of the signed-in user, and the buttons.
TOLLGATE_DECL void write_decision(html_writer& html, const consent_texts& texts, std::string_view client_name,
                                  std::string_view login, bool can_sign_out);

[[nodiscard]] TOLLGATE_DECL std::string consent_title(const consent_view& view);
TOLLGATE_DECL void write_consent(html_writer& html, const consent_view& view);

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/consent.ipp>
#endif

#endif  // TOLLGATE_OAUTH_DETAIL_CONSENT_HPP

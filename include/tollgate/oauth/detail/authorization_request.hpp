#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_AUTHORIZATION_REQUEST_HPP
#define TOLLGATE_OAUTH_DETAIL_AUTHORIZATION_REQUEST_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/oauth/detail/client_documents.hpp>
#include <tollgate/oauth/detail/parameters.hpp>
#include <tollgate/oauth/detail/resources.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tollgate::inline v0::oauth {

/// The values of `prompt` (OpenID Connect Core section 3.1.2.1): what the user must see, whatever they did before.
struct prompt_set {
    bool none = false;            ///< nothing: an error is returned instead
    bool login = false;           ///< the sign-in form
    bool consent = false;         ///< the consent form
    bool select_account = false;  ///< asks the page to display who is signed in, and the way to sign in as someone else

    [[nodiscard]] constexpr bool empty() const noexcept { return !none && !login && !consent && !select_account; }
    friend bool operator==(const prompt_set&, const prompt_set&) noexcept = default;
};

/// Separated by spaces. Empty for another value, and for `none` with any other.
[[nodiscard]] TOLLGATE_DECL std::optional<prompt_set> parse_prompts(std::string_view text);
[[nodiscard]] TOLLGATE_DECL std::string to_text(const prompt_set& prompts);

/// A valid authorization request (RFC 6749 section 4.1.1).
struct authorization_request {
    application client;
    std::string redirect;                     ///< the URL to which the browser returns
    std::optional<std::string> redirect_uri;  ///< the redirect_uri as sent
    scope_set scopes;
    resource_set resources{};               ///< the resources that the tokens are for
    std::vector<std::string> resource_urls{};  ///< their URLs
    std::optional<std::string> state;
    std::optional<std::string> code_challenge;  ///< S256 (RFC 7636 section 4.2)
    prompt_set prompt{};
    std::optional<std::string> login_hint{};  ///< a visible line of a login's size
};

/// Errors in the redirect URL or client, which must be displayed on a page instead of a redirect (RFC 6749 section
/// 4.1.2.1).
enum class page_failure : std::uint8_t {
    missing_client_id,      ///< client_id is missing or repeated
    unknown_client,         ///< the application does not exist
    stopped_client,         ///< the application is suspended, or its owner is not active
    no_redirect_url,        ///< a public client that has not registered a redirect URL
    unregistered_redirect,  ///< the redirect_uri is not allowed for the application
    missing_redirect,  ///< there is no redirect_uri, and the application has not registered exactly one redirect URL
};

/// The error code for logs and metrics. It is not sent to the client.
[[nodiscard]] constexpr error_code to_code(page_failure failure) noexcept {
    if (failure == page_failure::unknown_client) return error_code::invalid_client;
    return failure == page_failure::stopped_client ? error_code::unauthorized_client : error_code::invalid_request;
}

/// An error that is redirected to the application.
struct redirect_failure {
    std::string redirect;
    oauth::failure failure;
    std::optional<std::string> state;
};

using judged_request = std::variant<authorization_request, page_failure, redirect_failure, document_failure>;

/// Returns true if a text can be a client_id: visible ASCII (RFC 6749 appendix A.1) of bounded size. Databases cannot hold every
/// other text.
[[nodiscard]] TOLLGATE_DECL bool is_client_id_text(std::string_view text) noexcept;

/// The client_id, if there is exactly one that can exist.
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> client_id_of(const parameters& sent);

/// Checks a request of this client: the redirect URL first, since it decides where errors go.
[[nodiscard]] TOLLGATE_DECL judged_request judge_request_of(application client, const parameters& sent,
                                                            const service_catalog& services, const resource_list& resources);

/// Returns true if a user may have tokens, and their applications may get any; true if the sessions do not know.
[[nodiscard]] inline result<bool> is_active(const session_source_ref& sessions, user_id user) {
    if (!sessions.knows_active_users()) return true;
    return sessions.is_active(user);
}

/// Returns the owner of an application if they have to be active so that it gets codes and tokens, and the sessions know whether they are.
[[nodiscard]] inline std::optional<user_id> owner_to_ask(const application& client, const session_source_ref& sessions) noexcept {
    const bool asks = !client.suspended && client.owner != no_owner && sessions.knows_active_users();
    return asks ? std::optional{client.owner} : std::nullopt;
}

/// Returns true if an application gets no codes and tokens: it is suspended, or its owner is not active. `is_active(user)`: `result<bool>`.
template <class IsActive>
[[nodiscard]] result<bool> is_stopped(const application& client, const IsActive& is_active) {
    if (client.suspended) return true;
    if (client.owner == no_owner) return false;
    auto active = is_active(client.owner);
    return active ? result<bool>{!*active} : std::move(active).error();
}

/// Stores an application that a document describes, or what has changed in its document, and returns its id. Only applications with users
/// are stored.
[[nodiscard]] TOLLGATE_DECL result<application_id> store_described(const application& described, const oauth_store_ref& applications,
                                                                   const account_service_settings& settings, const observer_ref& observer,
                                                                   instant now);

/// The parameters of the request in a fixed order, for hidden fields and for the return after signing in. Browsers
/// normalize line ends in forms, so a state with control characters is sent in base64url as `encoded_state`. So is a state that would
/// be much longer if it was percent-encoded: the URL of a sign-in page contains the query of the page to return to, encoded once more.
[[nodiscard]] TOLLGATE_DECL std::vector<http::form_member> form_parameters(const authorization_request& request);

/// Returns the parameters as a query. Two requests are equal exactly if their queries are; form tokens and codes are bound to the query.
[[nodiscard]] TOLLGATE_DECL std::string to_query(const authorization_request& request);

/// A request that is not valid, as a query, with the same encoding of its state.
[[nodiscard]] TOLLGATE_DECL std::string to_query(const parameters& sent);

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/authorization_request.ipp>
#endif

#endif  // TOLLGATE_OAUTH_DETAIL_AUTHORIZATION_REQUEST_HPP

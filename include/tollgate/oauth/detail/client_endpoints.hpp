#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_CLIENT_ENDPOINTS_HPP
#define TOLLGATE_OAUTH_DETAIL_CLIENT_ENDPOINTS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/oauth/detail/authorization_request.hpp>
#include <tollgate/oauth/detail/device_codes.hpp>
#include <tollgate/oauth/detail/failure.hpp>
#include <tollgate/oauth/detail/parameters.hpp>
#include <tollgate/oauth/detail/paths.hpp>
#include <tollgate/oauth/detail/resources.hpp>
#include <tollgate/oauth/detail/token_endpoint.hpp>
#include <tollgate/oauth/detail/token_response.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/policy/policies.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tollgate::inline v0::oauth {

/// Client credentials (RFC 6749 section 2.3.1). A public client sends its client_id alone (section 3.2.1).
struct client_credentials {
    std::string client_id;
    std::string client_secret = {};

    friend bool operator==(const client_credentials&, const client_credentials&) = default;
};

/// A request that cannot be read, and the status of its response.
struct refused_request {
    failure reason;
    http::status status = http::status::bad_request;
};

/// Reads the credentials from the Authorization field, where both parts are form-encoded, or from the body. Both are
/// accepted if they are equal. Refuses a request without a client_id, and says where it should be.
[[nodiscard]] TOLLGATE_DECL std::variant<client_credentials, refused_request> read_client_credentials(
    const http::request& request, const parameters& sent);

/// Returns true if the Authorization field is repeated or is not Basic, so that the request fails whatever its body says. Other credentials
/// in it may contradict those in the body, which is another error.
[[nodiscard]] TOLLGATE_DECL bool has_unusable_authorization(const http::request& request);

/// Returns true if the credentials can be valid.
[[nodiscard]] TOLLGATE_DECL bool are_well_formed(const client_credentials& credentials) noexcept;

/// The reason why a client is not authenticated. Only guesses of a secret are counted.
enum class client_fault : std::uint8_t {
    unknown_client,  ///< no secret was sent, and there is no such application
    missing_secret,  ///< the application has a secret
    needless_secret,  ///< a public client sent a secret
    needs_secret,  ///< a public client, at an endpoint for clients with a secret
    wrong_secret,
    unknown_with_secret,  ///< there is no such application, which is not revealed to those who sent a secret
    stopped,              ///< the application is suspended, or its owner is not active
};
/// Returns true if the fault may be a guess of a secret.
[[nodiscard]] constexpr bool may_be_guess(client_fault fault) noexcept {
    return fault == client_fault::wrong_secret || fault == client_fault::unknown_with_secret;
}
[[nodiscard]] TOLLGATE_DECL failure to_failure(client_fault fault);

/// The application with these credentials: of a confidential client with its secret, of a public one without any.
[[nodiscard]] inline result<std::variant<application, client_fault>> authenticate_client(const client_credentials& credentials,
                                                                                         const oauth_store_ref& applications) {
    const bool has_secret = !credentials.client_secret.empty();
    const auto unknown = has_secret ? client_fault::unknown_with_secret : client_fault::unknown_client;
    if (!is_client_id_text(credentials.client_id)) return unknown;
    auto found = applications.find_application(credentials.client_id);
    if (!found) return std::move(found).error();
    if (!*found) return unknown;
    application& client = **found;
    if (client.type == client_type::public_client) {
        if (has_secret) return client_fault::needless_secret;
        return std::move(client);
    }
    if (!has_secret) return client_fault::missing_secret;
    const auto presented = digest_of(credentials.client_secret);
    if (client.secret_digest != presented && client.older_secret_digest != presented) return client_fault::wrong_secret;
    return std::move(client);
}

/// A request to an endpoint for applications, parsed but not authenticated.
struct client_request {
    parameters sent;
    client_credentials credentials;
};

/// Refuses a malformed body, a repeated parameter, and credentials that are missing, malformed or contradictory.
[[nodiscard]] TOLLGATE_DECL std::variant<client_request, refused_request> read_client_request(const http::request& request);

/// Returns true if this is a refresh with a well-formed token.
[[nodiscard]] TOLLGATE_DECL bool is_refresh(const parameters& sent);

/// 401, or 429 if the request was counted and the address has used up its window (RFC 6749 section 5.2). The challenge is sent only
/// to clients that used the Authorization field.
TOLLGATE_DECL void respond_invalid_client(const http::request& request, const limit_decision& window, client_fault fault, instant now,
                                          http::response& response, std::string_view documentation_url);

/// The challenge of a 401 (RFC 6749 section 5.2).
TOLLGATE_DECL void add_client_challenge(const http::request& request, http::response& response);

/// 429 with Retry-After, where failures have used up the window of the client's address.
TOLLGATE_DECL void write_rate_limited(http::response& response, const failure& failed, const limit_decision& window, instant now,
                                      std::string_view documentation_url);

/// 429, and when the client may try again.
TOLLGATE_DECL void respond_too_many(instant retry_at, instant now, http::response& response, std::string_view documentation_url,
                                    std::string_view description);

/// The introspection response for a token (RFC 7662 section 2.2). `token`: null unless the caller may ask about it.
TOLLGATE_DECL void write_introspection(http::response& response, const oauth_token* token, std::string_view issuer,
                                       const resource_list& resources);

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/client_endpoints.ipp>
#endif

#endif  // TOLLGATE_OAUTH_DETAIL_CLIENT_ENDPOINTS_HPP

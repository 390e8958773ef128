#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/oauth/detail/parameters.hpp>

#include <optional>
#include <string>
#include <variant>

namespace tollgate::inline v0::oauth {

/// Client credentials (RFC 6749 section 2.3.1).
struct client_credentials {
    std::string client_id;
    std::string client_secret;

    friend bool operator==(const client_credentials&, const client_credentials&) = default;
};

/// Reads the credentials from the Authorization field, where both parts are form-encoded, or from the body. Both are
/// accepted if they are equal. Empty if they are missing or malformed.
[[nodiscard]] TOLLGATE_DECL std::variant<client_credentials, failure> read_client_credentials(const http::request& request,
                                                                                       const parameters& sent);

/// Whether they can be valid: other texts are refused without a look-up.
[[nodiscard]] TOLLGATE_DECL bool are_well_formed(const client_credentials& credentials) noexcept;

/// The application with these credentials, if any.
template <application_store Applications>
[[nodiscard]] result<std::optional<application>> authenticate_client(const client_credentials& credentials,
                                                                      Applications& applications) {
    if (!are_well_formed(credentials)) return std::optional<application>{};
    auto found = applications.find_application(credentials.client_id);
    if (found && *found && (*found)->secret_digest != digest_of(credentials.client_secret))
        return std::optional<application>{};
    return found;
}

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/client_authentication.ipp>
#endif

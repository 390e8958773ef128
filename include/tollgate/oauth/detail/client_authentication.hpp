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

/// What a client shows to prove who it is (RFC 6749 section 2.3.1).
struct client_credentials {
    std::string client_id;
    std::string client_secret;

    friend bool operator==(const client_credentials&, const client_credentials&) = default;
};

/// Takes the credentials from the Authorization field, where both parts are form-encoded, or from the body. Both at
/// once are fine if they say the same. Where there are none, or none that can be read, both texts are empty.
[[nodiscard]] TOLLGATE_DECL std::variant<client_credentials, failure> read_credentials(const http::request& asked,
                                                                                       const parameters& sent);

/// Whether these could be some application's: what is no secret of ours is refused without asking the store.
[[nodiscard]] TOLLGATE_DECL bool could_be_good(const client_credentials& shown) noexcept;

/// The application that these are the credentials of; none if they are nobody's.
template <application_store Applications>
[[nodiscard]] result<std::optional<application>> authenticate_client(const client_credentials& shown,
                                                                      Applications& applications) {
    if (!could_be_good(shown)) return std::optional<application>{};
    auto found = applications.find_application(shown.client_id);
    if (found && *found && (*found)->secret_digest != digest_of(shown.client_secret))
        return std::optional<application>{};
    return found;
}

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/client_authentication.ipp>
#endif

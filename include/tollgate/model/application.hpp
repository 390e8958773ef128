#pragma once
#ifndef TOLLGATE_MODEL_APPLICATION_HPP
#define TOLLGATE_MODEL_APPLICATION_HPP

#include <tollgate/base/detail/inline_text.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/time.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tollgate::inline v0 {

/// The public identifier of an OAuth client (RFC 6749 section 2.2).
using client_id_text = detail::inline_text<limits::client_id_bytes_max>;

/// The type of an OAuth client (RFC 6749 section 2.1), or of a service of the operator.
enum class client_type : std::uint8_t {
    confidential,     ///< has a secret
    public_client,    ///< runs on the devices of its users, so it cannot keep a secret and uses PKCE
    resource_server,  ///< a service of the operator, which introspects every access token and requests none
};

/// Returns the name under which stores keep the type.
[[nodiscard]] constexpr std::string_view to_text(client_type type) noexcept {
    switch (type) {
        case client_type::confidential: return "confidential";
        case client_type::public_client: return "public";
        case client_type::resource_server: return "resource_server";
    }
    return "confidential";
}

/// The reason why an application is suspended. A suspended application has no access tokens and gets none.
enum class suspension : std::uint8_t {
    by_operator,
    owner_disabled,  ///< until its owner is enabled again
};

/// Returns the name under which stores keep the reason.
[[nodiscard]] constexpr std::string_view to_text(suspension reason) noexcept {
    return reason == suspension::by_operator ? "operator" : "owner_disabled";
}

/// An OAuth 2.0 client.
struct application {
    application_id id;
    user_id owner;
    client_id_text client_id;
    digest secret_digest;  ///< SHA-256 of the client secret; zero for a public client
    std::string name;
    std::string website;
    std::string description;                 ///< may be empty
    std::vector<std::string> redirect_urls;  ///< the URLs as registered; a redirect_uri may also equal their normalized form
    instant created_at;
    client_type type = client_type::confidential;
    std::optional<digest> older_secret_digest = {};  ///< digest of the previous secret, which stays valid until it is removed
    bool acts_for_owner = false;  ///< may get tokens for its owner's accounts (RFC 6749 section 4.4)
    std::int64_t users = 0;       ///< the number of users who have authorized it; only in the list of an owner
    std::optional<suspension> suspended = {};  ///< empty unless it is suspended
};

/// The properties that the owner of an application may change, as one change: all are set.
struct application_fields {
    std::string name;
    std::string website;
    std::string description;
    std::vector<std::string> redirect_urls;  ///< no URL is empty or contains control characters; the order is kept
    /// If false, the tokens with `new_access_token::for_owner` are revoked.
    bool acts_for_owner = false;
};

/// Adds a client secret. The previous secret stays valid beside it; a secret before the previous one is invalid as soon as the call
/// returns.
struct client_secret_addition {
    digest secret_digest;
    /// The digest of the secret that is the newest until now; a different newest secret is not changed. Empty: any secret.
    std::optional<digest> replaced{};
};

/// Removes the older of two client secrets, which is invalid as soon as the call returns.
struct older_secret_removal {};

/// Suspends an application, changes the reason, or resumes the application (empty). Suspending revokes all its access tokens.
struct suspension_change {
    std::optional<suspension> suspended;
};

/// A change of an application.
using application_change = std::variant<application_fields, client_secret_addition, older_secret_removal, suspension_change>;

/// An application to be stored.
struct new_application {
    user_id owner;
    client_id_text client_id;  ///< unique; a duplicate is a conflict
    digest secret_digest;
    std::string name;
    std::string website;
    std::string description;
    std::vector<std::string> redirect_urls;  ///< no URL is empty or contains control characters; the order is kept
    instant created_at;
    client_type type = client_type::confidential;
};

}  // namespace tollgate

#endif  // TOLLGATE_MODEL_APPLICATION_HPP

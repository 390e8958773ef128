#pragma once
#ifndef TOLLGATE_MODEL_PERSONAL_TOKEN_HPP
#define TOLLGATE_MODEL_PERSONAL_TOKEN_HPP

#include <tollgate/base/detail/inline_text.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/account.hpp>
#include <tollgate/model/scope.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace tollgate::inline v0 {

/// The public part of a personal token, which is the user name of Basic credentials.
using token_username = detail::inline_text<limits::token_username_bytes_max>;

/// A personal token as its owner's settings list it. The store keeps only the digest of the token's secret.
struct personal_token {
    token_id id;
    user_id user;
    token_username username;
    std::string description;
    scope_set scopes;
    instant created_at;
    std::optional<instant> last_used_at;  ///< recorded at a bounded rate, so it may lag
    std::optional<instant> expires_at = {};  ///< the time from which the token is invalid; empty: valid until revoked
    std::string last_used_from = {};         ///< the network of the last use; empty if unknown
    digest secret_digest = {};               ///< SHA-256 of the secret
};

/// A personal token to be stored.
struct new_personal_token {
    user_id user;
    token_username username;  ///< 1 to 32 bytes of any value, never empty; unique; a duplicate is a conflict
    digest secret_digest;     ///< SHA-256 of the secret
    std::string description;  ///< at most limits::token_description_bytes_max
    scope_set scopes;
    instant created_at;
    std::optional<instant> expires_at = {};  ///< the time from which the token is invalid; empty: valid until revoked
};

/// The next secret of a personal token.
struct personal_token_renewal {
    digest secret_digest;  ///< SHA-256 of the secret
    instant created_at;
    std::optional<instant> expires_at = {};
    std::optional<digest> replaced = {};  ///< the digest of the secret to be replaced; empty: any secret is replaced
};

/// An access token to store (RFC 6749 section 1.4).
struct new_access_token {
    user_id user;
    application_id application;
    digest token_digest;  ///< SHA-256 of the token; unique
    scope_set scopes;
    instant created_at;
    instant expires_at;
    /// True for a token for the accounts of the application's owner (RFC 6749 section 4.4). It is created only if the application is
    /// confidential, may act for its owner and is not suspended, and if the owner is `user`.
    bool for_owner = false;
};

/// Names a personal token by its username: 0 to 32 bytes of any value, valid during the call.
struct personal_token_key {
    std::string_view username;

    friend bool operator==(const personal_token_key&, const personal_token_key&) noexcept = default;
};

/// Names an access token by the SHA-256 of the token.
struct access_token_key {
    digest token_digest;

    friend bool operator==(const access_token_key&, const access_token_key&) noexcept = default;
};

/// Names the credential of a request.
using credential_key = std::variant<personal_token_key, access_token_key>;

/// Names the tokens that a store's `revoke` revokes: a personal token, by its id.
struct personal_token_revocation {
    token_id token;
};

/// Names an access token, or a refresh token with the access tokens that were created with it (RFC 7009). A refresh token is found by its
/// own digest or its family's digest.
struct oauth_token_revocation {
    digest token_digest;
    std::optional<application_id> application{};  ///< revokes only a token of this application; empty: a token of any application
};

/// Names the grant of a user to an application, with its codes, access tokens and refresh tokens.
struct grant_revocation {
    user_id user;
    application_id application;
};

/// Names what a store's `revoke` revokes.
using revocation = std::variant<personal_token_revocation, oauth_token_revocation, grant_revocation>;

/// A credential with the data that authentication needs. It is read on every request, so it does not allocate.
struct token_credential {
    user_id user;
    digest secret_digest;  ///< digest of a personal token's secret, or of a whole access token, by which the credential was found
    scope_set scopes;
    std::optional<instant> expires_at;  ///< the time from which the credential is invalid; empty: valid until revoked
    std::optional<application_id> application;  ///< the application of an access token
    std::optional<instant> last_used_at{};  ///< the recorded time; always empty if the store does not record uses
    std::optional<known_user> owner{};  ///< the user's data, if the store read it with the credential
    std::optional<token_id> token{};  ///< the id of a personal token, for logs; may be left empty
};

}  // namespace tollgate

#endif  // TOLLGATE_MODEL_PERSONAL_TOKEN_HPP

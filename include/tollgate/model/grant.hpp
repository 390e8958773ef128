#pragma once

#include <tollgate/base/digest.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/scope.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tollgate::inline v0 {

/// What one user has let one application do, as that user's settings list it.
struct grant {
    grant_id id;
    user_id user;
    application_id application;
    std::string application_name;
    std::string application_website;
    scope_set scopes;
    instant created_at;
    std::optional<instant> last_used_at;  ///< recorded at a bounded rate, so it may lag
};

/// An authorization code on its way (RFC 6749 section 4.1.2). The code itself is in the redirect alone.
struct new_authorization_code {
    digest code_digest;
    user_id user;
    application_id application;
    scope_set scopes;
    std::string redirect;                       ///< where the browser is really sent; an exchange that names one names this
    std::optional<std::string> code_challenge;  ///< S256, base64url (RFC 7636 section 4.2)
    instant created_at;
    instant expires_at;
    /// Nobody was asked, because all of it was granted before: a code is made only while that still holds.
    bool only_if_granted = false;
};

/// What came of keeping a code. A form that was sent twice asks for the same code twice.
enum class code_result : std::uint8_t {
    created,
    waiting,      ///< it is there already, and was not redeemed yet
    spent,        ///< it is there already, and was redeemed
    not_granted,  ///< there is none: not all of its scopes are granted (any more)
};

/// A pair of tokens that is about to be handed out, as the store keeps it.
struct issued_tokens {
    digest access_digest;
    instant access_expires_at;
    digest refresh_digest;
    instant refresh_expires_at;  ///< moves on with each use ...
    instant refresh_ends_at;     ///< ... but never beyond this
};

/// What an application shows to redeem a code (RFC 6749 section 4.1.3).
struct code_redemption {
    digest code_digest;
    application_id application;
    std::optional<std::string> redirect_uri{};    ///< as sent with the exchange; compared byte for byte, if it was sent
    std::optional<std::string> code_challenge{};  ///< S256 of the verifier that was sent: there exactly if the code has one
    instant now;
    issued_tokens tokens;  ///< kept exactly if the code is redeemed
};

/// What came of it. Everything but `redeemed` is `invalid_grant` to the client.
enum class redemption_result : std::uint8_t {
    redeemed,
    unknown,   ///< no such code, an expired one, or another application's: nothing changed
    mismatch,  ///< another redirect_uri or verifier, or a verifier too few or too many: the code is still good
    reused,    ///< a code that was redeemed before: the tokens made from it are revoked by now
};

struct redeemed_code {
    redemption_result result = redemption_result::unknown;
    std::optional<user_id> user;  ///< set exactly if redeemed
    scope_set scopes;             ///< what was granted, if redeemed
};

/// What an application shows to get a new access token (RFC 6749 section 6).
struct token_refresh {
    digest refresh_digest;
    application_id application;
    std::optional<scope_set> narrowed{};  ///< fewer scopes for this access token; none: as many as were granted
    instant now;
    digest access_digest;
    instant access_expires_at;
    seconds refresh_lifetime;  ///< from `now`, at most until the token's own end
};

enum class refresh_result : std::uint8_t {
    refreshed,
    unknown,    ///< no such token, an expired or revoked one, or another application's
    too_wide,   ///< a scope that the refresh token does not have
};

struct refreshed_token {
    refresh_result result = refresh_result::unknown;
    scope_set scopes;  ///< the new access token's, if refreshed
};

}  // namespace tollgate

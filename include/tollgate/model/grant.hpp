#pragma once
#ifndef TOLLGATE_MODEL_GRANT_HPP
#define TOLLGATE_MODEL_GRANT_HPP

#include <tollgate/base/digest.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/model/scope.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// The scopes that a user has authorized an application to use.
struct grant {
    grant_id id;
    user_id user;
    application_id application;
    std::string application_name;
    std::string application_website;
    scope_set scopes;
    instant created_at;
    std::optional<instant> last_used_at;  ///< recorded at a bounded rate, so it may lag
    bool application_is_suspended = false;  ///< true while the application is suspended
};

/// An authorization code to store (RFC 6749 section 4.1.2). Only the redirect contains the code.
struct new_authorization_code {
    digest code_digest;
    user_id user;
    application_id application;
    scope_set scopes;
    std::string redirect;  ///< the URL to which the browser is sent; a redirect_uri in the exchange must equal it
    std::optional<std::string> code_challenge;  ///< S256, base64url (RFC 7636 section 4.2)
    instant created_at;
    instant expires_at;
    /// True if consent was skipped because all scopes were granted before. The code is then created only if they are still granted.
    bool only_if_granted = false;

    /// Returns the end of the replaceable codes: an existing equal code that expires by then and was not redeemed is replaced, because not
    /// enough time is left to send it again. A code that expires after `latest_end` is replaced as well.
    [[nodiscard]] constexpr instant replaceable_until() const noexcept {
        return created_at + (std::min)((expires_at - created_at) / 2, milliseconds{seconds{limits::code_seconds_left_min}});
    }
    /// Returns the latest time at which an existing code can expire. A later time was set by a wrong clock (`has_come`).
    [[nodiscard]] constexpr instant latest_end() const noexcept { return created_at + std::chrono::hours{limits::code_hours_max}; }
    /// Returns true if this code replaces an equal code that expires at `end` and was not redeemed.
    [[nodiscard]] constexpr bool replaces(instant end) const noexcept { return end <= replaceable_until() || end > latest_end(); }
};

/// The result of storing a code. Submitting a form twice requests the same code twice.
enum class code_result : std::uint8_t {
    created,
    waiting,  ///< the code exists, has not expired and was not redeemed yet
    spent,  ///< the code exists and was redeemed
    not_granted,  ///< no code was created: not all of its scopes are granted
    suspended,  ///< no code was created: its application is suspended
};

/// A new pair of tokens, in the form in which the store keeps it.
struct issued_tokens {
    digest access_digest;
    instant access_expires_at;
    digest refresh_digest;
    instant refresh_expires_at;  ///< moves with each use, at most to `refresh_ends_at`
    instant refresh_ends_at;  ///< the absolute end, which does not move

    /// Returns when the refresh token expires if it is never used.
    [[nodiscard]] constexpr instant refresh_token_end() const noexcept { return (std::min)(refresh_expires_at, refresh_ends_at); }
};

/// A request to redeem a code (RFC 6749 section 4.1.3).
struct code_redemption {
    digest code_digest;
    application_id application;
    std::optional<std::string> redirect_uri{};  ///< the value in the exchange; if sent, the store compares it byte for byte
    /// The S256 challenge of the verifier in the exchange. Required if the code has a challenge, and refused otherwise.
    std::optional<std::string> code_challenge{};
    instant now;
    issued_tokens tokens;  ///< stored only if the code is redeemed
    seconds grace{};  ///< time after redemption during which the code may be sent again, because a response may be lost
};

/// The result of redeeming a code. The client gets `invalid_grant` for every result but `redeemed`.
enum class redemption_result : std::uint8_t {
    redeemed,
    unknown,            ///< no such code, or a code of another application: nothing changed
    expired,            ///< the code has expired: nothing changed
    redirect_mismatch,  ///< the redirect_uri differs: the code stays valid
    verifier_mismatch,  ///< the verifier differs, is missing or is unexpected: the code stays valid
    reused,             ///< the code was redeemed before: the tokens that were created from it are revoked
    repeated,           ///< the code was redeemed within the grace: nothing changed
};

/// The stored properties of a code on which its redemption depends.
struct stored_code {
    std::optional<instant> redeemed_at{};
    instant expires_at;
    std::string_view redirect;
    std::optional<std::string_view> code_challenge{};
    /// Digest of the refresh token that the redemption created, if the token still exists and was not replaced.
    std::optional<digest> refresh_digest{};
};

/// Decides the result of redeeming a known code of the application, for the verb `redeem_code` of a store. After `redeemed` the store
/// creates the tokens, unless the code has a `redeemed_at`: then they exist, because the call repeats the redemption. After `reused` the
/// store revokes the tokens that the first redemption created. Thread rule: any thread.
[[nodiscard]] inline redemption_result judge_redemption(const stored_code& code, const code_redemption& shown) noexcept {
    if (code.redeemed_at && code.refresh_digest == shown.tokens.refresh_digest) return redemption_result::redeemed;
    if (code.redeemed_at)
        return is_recent(*code.redeemed_at, shown.now, shown.grace) ? redemption_result::repeated : redemption_result::reused;
    if (has_come(code.expires_at, shown.now, std::chrono::hours{limits::code_hours_max})) return redemption_result::expired;
    if (shown.redirect_uri && *shown.redirect_uri != code.redirect) return redemption_result::redirect_mismatch;
    if (shown.code_challenge != code.code_challenge) return redemption_result::verifier_mismatch;
    return redemption_result::redeemed;
}

/// The result of redeeming a code, with the user and the scopes.
struct redeemed_code {
    redemption_result result = redemption_result::unknown;
    std::optional<user_id> user;  ///< set if redeemed; if reused, the user whose tokens this call revoked, if there were any
    scope_set scopes;  ///< the granted scopes, if redeemed
};

/// The replacement of a refresh token by its use (RFC 9700 section 4.14.2). Tokens that replace one another are a family. A replaced token
/// is recognized by its family, after any number of replacements.
struct token_rotation {
    digest family_digest;     ///< digest of the text that all tokens of the family share
    digest successor_digest;  ///< digest of the token that replaces the presented token
    digest successor_seed;    ///< the seed from which the successor is derived, together with the presented token
    seconds grace;  ///< time during which the last replaced token returns its successor again, because a response may be lost
};

/// A request for a new access token (RFC 6749 section 6).
struct token_refresh {
    digest refresh_digest;
    application_id application;
    std::optional<scope_set> narrowed{};  ///< the scopes of this access token; empty means all granted scopes
    scope_set covering{};  ///< scopes that cover `narrowed`; the refresh token must have all of them
    instant now;
    digest access_digest;
    instant access_expires_at;
    seconds refresh_lifetime;  ///< lifetime from `now`, at most until the token's absolute end
    std::optional<token_rotation> rotation{};  ///< empty if the refresh token stays valid

    /// Returns when the refresh token expires if it is not used again. `absolute_end` is the `refresh_ends_at` of the first token of its
    /// family.
    [[nodiscard]] constexpr instant refresh_token_end(instant absolute_end) const noexcept {
        return (std::min)(instant{now + refresh_lifetime}, absolute_end);
    }
    /// Returns the digest by which a replaced token is found; empty without rotation.
    [[nodiscard]] constexpr std::optional<digest> family_digest() const noexcept {
        return rotation ? std::optional{rotation->family_digest} : std::nullopt;
    }
};

/// The result of a refresh.
enum class refresh_result : std::uint8_t {
    refreshed,
    unknown,  ///< the token is unknown, has expired, was revoked or belongs to another application
    too_wide,  ///< the refresh token does not have all scopes of `covering`
    reused,    ///< the token was replaced before, and not within the grace: the grant of the user and the application was revoked
};

/// The stored properties of a refresh token on which a refresh depends.
struct stored_refresh_token {
    const digest& token;  ///< digest of the stored token; the presented token may be another token of its family
    const digest* replaced = nullptr;  ///< digest of the token that the stored token replaced; null if there was none
    instant replaced_at{};
    const scope_set& scopes;
    bool has_access_token = false;  ///< true if the access token of the request exists, and was created with the stored token
};

/// Returns true if the request repeats a refresh that was done: the access token and the successor, if any, exist. Then the store changes
/// nothing. Thread rule: any thread.
[[nodiscard]] inline bool is_repeated(const stored_refresh_token& token, const token_refresh& shown) noexcept {
    if (!token.has_access_token) return false;
    return token.token == (shown.rotation ? shown.rotation->successor_digest : shown.refresh_digest);
}

/// Decides the result of using a known, unexpired refresh token of the application, for the verb `refresh_access_token` of a store. After
/// `reused` the store revokes the grant. After `refreshed` it creates the access token, unless the request `is_repeated`. Thread rule: any
/// thread.
[[nodiscard]] inline refresh_result judge_refresh(const stored_refresh_token& token, const token_refresh& shown) noexcept {
    if (token.token != shown.refresh_digest) {
        const bool was_last = shown.rotation && token.replaced != nullptr && *token.replaced == shown.refresh_digest;
        const bool may_repeat =
            was_last && (is_repeated(token, shown) || is_recent(token.replaced_at, shown.now, shown.rotation->grace));
        if (!may_repeat) return refresh_result::reused;
    }
    if (!token.scopes.contains_all(shown.covering)) return refresh_result::too_wide;
    return refresh_result::refreshed;
}

/// The result of a refresh, with the grant of the token.
struct refreshed_token {
    refresh_result result = refresh_result::unknown;
    scope_set scopes;  ///< the scopes of the new access token, if refreshed
    /// The seed from which the successor is derived, if refreshed with a rotation: that of the request or of the first replacement.
    std::optional<digest> successor_seed{};
    std::optional<user_id> revoked_user{};  ///< set only if reused: the user whose grant was revoked
};

/// An access or refresh token as introspection returns it (RFC 7662).
struct oauth_token {
    bool is_refresh_token = false;
    user_id user;
    application_id application;
    std::optional<client_id_text> client_id;  ///< empty if the application is not one of the store's
    scope_set scopes;
    std::optional<instant> created_at;  ///< set for an access token
    instant expires_at;
};

/// The state of a user's answer to a device.
enum class device_code_state : std::uint8_t { pending, approved, denied };

/// Returns the name under which stores keep the state.
[[nodiscard]] constexpr std::string_view to_text(device_code_state state) noexcept {
    switch (state) {
        case device_code_state::pending: return "pending";
        case device_code_state::approved: return "approved";
        case device_code_state::denied: return "denied";
    }
    return "pending";
}

/// A user's answer to the request of a device.
struct device_decision {
    digest user_digest;  ///< digest of the code that the user entered
    user_id user;
    device_code_state answer;  ///< approved or denied
    std::string redirect;      ///< the `redirect` of the code that the device redeems, if approved
    instant now;
};

/// The answer to the request of a device.
struct device_answer {
    bool is_new = false;  ///< true if this call gave the answer
    device_code_state state = device_code_state::pending;
    std::optional<user_id> user;  ///< the user who gave the answer; empty if an earlier release stored it
};

/// A device authorization request to store (RFC 8628).
struct new_device_code {
    digest device_digest;  ///< digest of the code with which the device polls; unique
    digest user_digest;    ///< digest of the code that the user enters; unique
    application_id application;
    scope_set scopes;
    std::string requested_from;  ///< the address of the device
    instant created_at;
    instant expires_at;
};

/// A device authorization request.
struct device_code {
    digest device_digest;
    application_id application;
    client_id_text client_id;
    scope_set scopes;
    std::string requested_from;
    instant created_at;
    instant expires_at;
    device_code_state state = device_code_state::pending;
    std::optional<user_id> answered_by = {};  ///< empty while the state is pending, and if an earlier release stored the answer
};

/// Returns true if the request has expired.
[[nodiscard]] inline bool has_expired(const device_code& request, instant now) noexcept {
    return has_come(request.expires_at, now, std::chrono::hours{limits::code_hours_max});
}

/// Decides the result of an answer to a known request, for the verb `answer_device_code` of a store. Empty if the request has expired. If
/// the result is new, the store keeps the answer, and creates `code_of` for an approval. Thread rule: any thread.
[[nodiscard]] inline std::optional<device_answer> judge_answer(const device_code& request, const device_decision& decision) noexcept {
    if (has_expired(request, decision.now)) return std::nullopt;
    if (request.state == device_code_state::pending) return device_answer{true, decision.answer, decision.user};
    return device_answer{false, request.state, request.answered_by};
}

/// Returns the code that a device redeems after an approval. The code has the digest of the device's code, and does not expire before the
/// device can poll again, however late the approval is.
[[nodiscard]] inline new_authorization_code code_of(const device_code& request, const device_decision& decision) {
    return {.code_digest = request.device_digest,
            .user = decision.user,
            .application = request.application,
            .scopes = request.scopes,
            .redirect = decision.redirect,
            .code_challenge = {},
            .created_at = decision.now,
            .expires_at = (std::max)(request.expires_at, instant{decision.now + seconds{limits::approved_device_code_seconds}})};
}

}  // namespace tollgate

#endif  // TOLLGATE_MODEL_GRANT_HPP

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

/// What a user has authorized an application to do.
struct grant {
    grant_id id;
    user_id user;
    application_id application;
    std::string application_name;
    std::string application_website;
    scope_set scopes;
    instant created_at;
    std::optional<instant> last_used_at;  ///< recorded at a bounded rate, so it may lag
    bool application_is_suspended = false;  ///< whether the application is at the moment
};

/// An authorization code to store (RFC 6749 section 4.1.2). The code itself is only in the redirect.
struct new_authorization_code {
    digest code_digest;
    user_id user;
    application_id application;
    scope_set scopes;
    std::string redirect;  ///< where the browser is sent; a redirect_uri in the exchange must equal it
    std::optional<std::string> code_challenge;  ///< S256, base64url (RFC 7636 section 4.2)
    instant created_at;
    instant expires_at;
    /// Consent was skipped because all scopes were granted before: the code is created only if that still holds.
    bool only_if_granted = false;

    /// The same code is replaced if it expires by then and was not redeemed: too little time is left, or none, to send it again. The
    /// same applies if it expires after `latest_end`.
    [[nodiscard]] constexpr instant replaceable_until() const noexcept {
        return created_at + (std::min)((expires_at - created_at) / 2, milliseconds{seconds{limits::code_seconds_left_min}});
    }
    /// No code that exists now can end later; if it does, its end was set by a clock that was wrong (`has_come`).
    [[nodiscard]] constexpr instant latest_end() const noexcept { return created_at + std::chrono::hours{limits::code_hours_max}; }
    /// Whether it replaces the same code with this end, if that was not redeemed.
    [[nodiscard]] constexpr bool replaces(instant end) const noexcept { return end <= replaceable_until() || end > latest_end(); }
};

/// The result of storing a code. Submitting a form twice requests the same code twice.
enum class code_result : std::uint8_t {
    created,
    waiting,  ///< it exists, has not expired, and was not redeemed yet
    spent,  ///< it exists and was redeemed
    not_granted,  ///< not created: not all of its scopes are granted
    suspended,  ///< not created: its application is suspended
};

/// A new pair of tokens, as the store keeps it.
struct issued_tokens {
    digest access_digest;
    instant access_expires_at;
    digest refresh_digest;
    instant refresh_expires_at;  ///< moves with each use ...
    instant refresh_ends_at;  ///< ... up to this

    /// When the refresh token expires if it is never used.
    [[nodiscard]] constexpr instant refresh_token_end() const noexcept { return (std::min)(refresh_expires_at, refresh_ends_at); }
};

/// A request to redeem a code (RFC 6749 section 4.1.3).
struct code_redemption {
    digest code_digest;
    application_id application;
    std::optional<std::string> redirect_uri{};  ///< as sent in the exchange; if sent, compared byte for byte
    /// S256 of the verifier that was sent; required exactly if the code has a challenge.
    std::optional<std::string> code_challenge{};
    instant now;
    issued_tokens tokens;  ///< stored exactly if the code is redeemed
    seconds grace{};  ///< during this time after it was redeemed, the code may be sent again without harm: a response may be lost
};

/// The result. Everything but `redeemed` is `invalid_grant` to the client.
enum class redemption_result : std::uint8_t {
    redeemed,
    unknown,            ///< no such code, or another application's: nothing changed
    expired,            ///< nothing changed
    redirect_mismatch,  ///< another redirect_uri: the code stays valid
    verifier_mismatch,  ///< another verifier, or one that is missing or unexpected: the code stays valid
    reused,             ///< redeemed before: the tokens made from it are revoked
    repeated,           ///< redeemed just now: nothing changed
};

/// A code as the store keeps it, as far as its redemption depends on it.
struct stored_code {
    std::optional<instant> redeemed_at{};
    instant expires_at;
    std::string_view redirect;
    std::optional<std::string_view> code_challenge{};
};

/// Decides what an attempt to redeem a known code of the application results in, for the verb `redeem_code` of a store. After
/// `redeemed` the store creates the tokens, after `reused` it revokes those that the first redemption created. Thread rule: any
/// thread.
[[nodiscard]] inline redemption_result judge_redemption(const stored_code& code, const code_redemption& shown) noexcept {
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
    scope_set scopes;  ///< what was granted, if redeemed
};

/// The replacement of a refresh token by its use (RFC 9700 section 4.14.2). The tokens that replace one another are a
/// family. A replaced token is recognized by its family, after any number of replacements.
struct token_rotation {
    digest family_digest;     ///< of the text that all tokens of the family share
    digest successor_digest;  ///< of the token that replaces the presented one
    digest successor_seed;    ///< with the presented token, what the successor is derived from
    seconds grace;  ///< during this time, the token that was replaced last returns its successor again: a response may be lost
};

/// A request for a new access token (RFC 6749 section 6).
struct token_refresh {
    digest refresh_digest;
    application_id application;
    std::optional<scope_set> narrowed{};  ///< the scopes of this access token; empty: all that were granted
    scope_set covering{};  ///< scopes that cover `narrowed`; the refresh token must have all of them
    instant now;
    digest access_digest;
    instant access_expires_at;
    seconds refresh_lifetime;  ///< from `now`, at most until the token's absolute end
    std::optional<token_rotation> rotation{};  ///< empty: the refresh token stays valid

    /// When the refresh token expires if it is not used again; `absolute_end` is the `refresh_ends_at` of its first one.
    [[nodiscard]] constexpr instant refresh_token_end(instant absolute_end) const noexcept {
        return (std::min)(instant{now + refresh_lifetime}, absolute_end);
    }
    /// By which a replaced token is found; empty without rotation.
    [[nodiscard]] constexpr std::optional<digest> family_digest() const noexcept {
        return rotation ? std::optional{rotation->family_digest} : std::nullopt;
    }
};

/// The result of a refresh.
enum class refresh_result : std::uint8_t {
    refreshed,
    unknown,  ///< unknown, expired, revoked, or another application's
    too_wide,  ///< the refresh token does not have all of `covering`
    reused,    ///< replaced before, and not just now: the grant of the user and the application was revoked
};

/// A refresh token as the store keeps it, as far as a refresh depends on it.
struct stored_refresh_token {
    bool is_current = true;  ///< whether the presented token is this one; false if it is another one of its family
    const digest* replaced = nullptr;  ///< the token that this one replaced; null if there was none
    instant replaced_at{};
    const scope_set& scopes;
};

/// Decides what the use of a known, unexpired refresh token of the application results in, for the verb `refresh_access_token` of a
/// store. After `reused` the store revokes the grant. Thread rule: any thread.
[[nodiscard]] inline refresh_result judge_refresh(const stored_refresh_token& token, const token_refresh& shown) noexcept {
    if (!token.is_current) {
        const bool was_just_replaced = token.replaced != nullptr && *token.replaced == shown.refresh_digest && shown.rotation &&
                                       is_recent(token.replaced_at, shown.now, shown.rotation->grace);
        if (!was_just_replaced) return refresh_result::reused;
    }
    if (!token.scopes.contains_all(shown.covering)) return refresh_result::too_wide;
    return refresh_result::refreshed;
}

/// A refresh result with the grant of the token.
struct refreshed_token {
    refresh_result result = refresh_result::unknown;
    scope_set scopes;  ///< the new access token's, if refreshed
    /// What the successor is derived from, if refreshed with a rotation: the request's, or that of the first replacement.
    std::optional<digest> successor_seed{};
    std::optional<user_id> revoked_user{};  ///< set exactly if reused: the user whose grant was revoked
};

/// What an access or refresh token stands for (RFC 7662).
struct oauth_token {
    bool is_refresh_token = false;
    user_id user;
    application_id application;
    std::optional<client_id_text> client_id;  ///< empty if the application is not one of the store's
    scope_set scopes;
    std::optional<instant> created_at;  ///< of an access token
    instant expires_at;
};

/// What the user has answered to a device.
enum class device_code_state : std::uint8_t { pending, approved, denied };

/// As stores keep it.
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
    digest user_digest;  ///< of the code that the user typed
    user_id user;
    device_code_state answer;  ///< approved or denied
    std::string redirect;      ///< of the code that the device redeems, if approved
    instant now;
};

/// The answer that the request of a device has got.
struct device_answer {
    bool is_new = false;  ///< it was given by this call
    device_code_state state = device_code_state::pending;
    std::optional<user_id> user;  ///< who gave it; empty if an earlier release stored it
};

/// A device authorization request to store (RFC 8628).
struct new_device_code {
    digest device_digest;  ///< of the code that the device polls with; unique
    digest user_digest;    ///< of the code that the user types; unique
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
    std::optional<user_id> answered_by = {};  ///< empty while it is pending, and if an earlier release stored the answer
};

/// Whether the request has expired.
[[nodiscard]] inline bool has_expired(const device_code& request, instant now) noexcept {
    return has_come(request.expires_at, now, std::chrono::hours{limits::code_hours_max});
}

/// Decides what an answer to a known request results in, for the verb `answer_device_code` of a store; empty if the request has
/// expired. If the result is new, the store keeps the answer, and creates `code_of` if it is an approval. Thread rule: any thread.
[[nodiscard]] inline std::optional<device_answer> judge_answer(const device_code& request, const device_decision& decision) noexcept {
    if (has_expired(request, decision.now)) return std::nullopt;
    if (request.state == device_code_state::pending) return device_answer{true, decision.answer, decision.user};
    return device_answer{false, request.state, request.answered_by};
}

/// The code that a device redeems after an approval. It has the digest of the device's code, and does not expire before the device can
/// have polled again, however late the approval is.
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

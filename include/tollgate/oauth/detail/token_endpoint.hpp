#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_TOKEN_ENDPOINT_HPP
#define TOLLGATE_OAUTH_DETAIL_TOKEN_ENDPOINT_HPP

#include <tollgate/account/new_secret.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/contract/scope_checker.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/model/scope.hpp>
#include <tollgate/oauth/detail/failure.hpp>
#include <tollgate/oauth/detail/parameters.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace tollgate::inline v0::oauth {

/// grant_type=authorization_code (RFC 6749 section 4.1.3).
struct code_exchange {
    digest code_digest;
    std::optional<std::string> redirect_uri;    ///< the redirect_uri as sent
    std::optional<std::string> code_challenge;  ///< S256 of the verifier that was sent (RFC 7636 section 4.6)
    seconds grace{};  ///< see `code_redemption`
};

/// grant_type=refresh_token (RFC 6749 section 6).
struct refresh_exchange {
    std::string refresh_token;          ///< well-formed
    std::optional<scope_set> narrowed;  ///< the requested scopes; empty: all that were granted
};

/// grant_type of a device (RFC 8628 section 3.4).
inline constexpr std::string_view device_grant_type = "urn:ietf:params:oauth:grant-type:device_code";
struct device_exchange {
    digest device_digest;
};

/// grant_type=client_credentials (RFC 6749 section 4.4): for the accounts of the application's owner.
struct owner_exchange {
    scope_set scopes;
};

using exchange_request = std::variant<code_exchange, refresh_exchange, device_exchange, owner_exchange, failure>;

/// Parses a token request (RFC 6749 section 3.2). Malformed codes and tokens are refused without a lookup.
[[nodiscard]] TOLLGATE_DECL exchange_request read_exchange(const parameters& sent);

/// An application that has not registered exactly one redirect URL must repeat the redirect_uri of the authorization request (RFC 6749
/// section 4.1.3).
[[nodiscard]] TOLLGATE_DECL std::optional<failure> check_redirect_uri(const code_exchange& exchange,
                                                                      const application& client);

/// Returns the reason why a code is refused. The client is authenticated, so the reason helps its developer only.
[[nodiscard]] TOLLGATE_DECL failure invalid_code(redemption_result reason);
[[nodiscard]] TOLLGATE_DECL failure invalid_refresh_token();
[[nodiscard]] TOLLGATE_DECL failure unknown_device_code();
[[nodiscard]] TOLLGATE_DECL failure expired_device_code();
/// The error for a device that its user has not approved: pending, denied or expired.
[[nodiscard]] TOLLGATE_DECL failure unapproved_device_code(const device_code& waiting, instant now);

/// Removes up to twice as many expired rows as were added, so that a store stays bounded without a background thread. A
/// failure does not change the response; the observer gets it.
inline void remove_expired(const oauth_store_ref& grants, const observer_ref& observer, instant now, std::size_t rows_added) noexcept {
    try {
        if (const auto swept = grants.sweep({.expired_at = now, .rows_max = 2 * rows_added}); !swept) observer.on_problem(swept.error());
    } catch (...) {
        // The adapter violated its contract by throwing.
    }
}

/// A successful response (RFC 6749 section 5.1).
struct token_response {
    secret_text access_token;
    seconds expires_in{};
    scope_set scopes;
    std::optional<secret_text> refresh_token;  ///< the token of a code exchange, or the successor of a token that was replaced
    std::optional<user_id> new_user;  ///< the user for whom the tokens act; empty after a refresh
};

/// A code or refresh token that was used again, perhaps by a thief (RFC 9700 section 4.14).
struct reused_secret {
    failure reason;
    std::optional<user_id> user;  ///< the user whose access this request revoked; empty if it was revoked before
};

using judged_exchange = std::variant<token_response, failure, reused_secret>;

/// The objects with which an exchange is checked.
struct exchange_context {
    const application& client;  ///< authenticated
    const account_service_settings& settings;
    instant now;
    const scope_set* granted = nullptr;  ///< for a refresh, the scopes of the refresh token, if it is known
};

/// Scopes that cover what a refresh asks for: those of the refresh token, if they cover each of `requested`, which exist. Otherwise
/// `requested` itself, which the store finds too wide.
[[nodiscard]] inline scope_set covering_scopes(const scope_set& requested, const exchange_context& context,
                                               const scope_checker_ref& checker) {
    if (context.granted == nullptr) return requested;
    const auto is_covered = [&](std::string_view scope) {
        return context.granted->contains(scope) ||
               (context.settings.services.has_scope(scope) && checker.covers(*context.granted, scope));
    };
    return requested.for_each(is_covered) ? *context.granted : requested;
}

/// Returns the error for a code that was not redeemed.
[[nodiscard]] inline judged_exchange refuse_code(const redeemed_code& refused) {
    if (refused.result == redemption_result::reused) return reused_secret{invalid_code(refused.result), refused.user};
    return invalid_code(refused.result);
}

/// Exchanges a code for a pair of tokens in one store verb, so that any failure before leaves the code as it was. A code that was not
/// redeemed is returned as the store did.
[[nodiscard]] inline result<std::variant<token_response, redeemed_code>> redeem(const code_exchange& exchange,
                                                                                const exchange_context& context,
                                                                         const oauth_store_ref& grants, const random_source_ref& random) {
    const auto access = tollgate::new_secret(secret_kind::access_token, random);
    const auto refresh = tollgate::new_secret(secret_kind::refresh_token, random);
    if (!access || !refresh) return random_source_error();
    const auto& lifetimes = context.settings;
    const auto redeemed = grants.redeem_code({
        .code_digest = exchange.code_digest,
        .application = context.client.id,
        .redirect_uri = exchange.redirect_uri,
        .code_challenge = exchange.code_challenge,
        .now = context.now,
        .tokens = {.access_digest = digest_of(*access),
                   .access_expires_at = context.now + lifetimes.oauth.access_token_lifetime,
                   .refresh_digest = digest_of(*refresh),
                   .refresh_expires_at = context.now + lifetimes.oauth.refresh_token_lifetime,
                   .refresh_ends_at = context.now + lifetimes.oauth.refresh_token_end},
        .grace = exchange.grace,
    });
    if (!redeemed) return redeemed.error();
    if (redeemed->result != redemption_result::redeemed) return *redeemed;
    return token_response{*access, lifetimes.oauth.access_token_lifetime, redeemed->scopes, *refresh, redeemed->user};
}

[[nodiscard]] inline result<judged_exchange> exchange_code(const code_exchange& exchange, const exchange_context& context,
                                                           const oauth_store_ref& grants, const random_source_ref& random) {
    if (const auto failed = check_redirect_uri(exchange, context.client)) return *failed;
    auto redeemed = redeem(exchange, context, grants, random);
    if (!redeemed) return std::move(redeemed).error();
    if (const auto* refused = std::get_if<redeemed_code>(&*redeemed)) return refuse_code(*refused);
    return std::get<token_response>(*std::move(redeemed));
}

/// The response to a device's poll. What the user approved is a code with the digest of the device's.
[[nodiscard]] inline result<judged_exchange> exchange_device_code(const device_exchange& exchange, const exchange_context& context,
                                                                  const oauth_store_ref& grants, const random_source_ref& random) {
    const auto found = grants.find_device_code(exchange.device_digest);
    if (!found) return found.error();
    if (!*found || (*found)->application != context.client.id) return unknown_device_code();
    if ((*found)->state != device_code_state::approved) return unapproved_device_code(**found, context.now);
    // A device whose response was lost polls again.
    auto redeemed = redeem({.code_digest = exchange.device_digest,
                            .redirect_uri = {},
                            .code_challenge = {},
                            .grace = context.settings.oauth.rotation_grace},
                           context, grants, random);
    if (!redeemed) return std::move(redeemed).error();
    const auto* refused = std::get_if<redeemed_code>(&*redeemed);
    if (refused == nullptr) return std::get<token_response>(*std::move(redeemed));
    // An expired code may have been deleted.
    const bool is_over = refused->result == redemption_result::unknown && has_expired(**found, context.now);
    if (refused->result == redemption_result::expired || is_over) return expired_device_code();
    return refuse_code(*refused);
}

/// A token for the accounts of the application's owner, if the owner has allowed that.
[[nodiscard]] inline result<judged_exchange> issue_owner_token(const owner_exchange& exchange, const exchange_context& context,
                                                               const oauth_store_ref& grants, const random_source_ref& random) {
    if (!exchange.scopes.for_each([&](std::string_view scope) { return context.settings.services.has_scope(scope); }))
        return unknown_scope();
    const auto access = tollgate::new_secret(secret_kind::access_token, random);
    if (!access) return random_source_error();
    const auto lifetime = context.settings.oauth.access_token_lifetime;
    const auto created = grants.create_access_token({.user = context.client.owner,
                                                     .application = context.client.id,
                                                     .token_digest = digest_of(*access),
                                                     .scopes = exchange.scopes,
                                                     .created_at = context.now,
                                                     .expires_at = context.now + lifetime,
                                                     .for_owner = true});
    if (!created) return created.error();
    if (!*created)
        return failure{error_code::unauthorized_client,
                       "The owner of the application has not allowed it to access their own account."};
    return token_response{*access, lifetime, exchange.scopes, std::nullopt, context.client.owner};
}

/// The replacement of a refresh token, for clients whose refresh tokens are replaced by their use; empty if the random source
/// fails.
[[nodiscard]] inline std::optional<token_rotation> new_rotation(std::string_view refresh_token, const account_service_settings& settings,
                                                                const random_source_ref& random) {
    std::array<std::byte, 32> bytes;
    if (!random.fill(bytes)) return std::nullopt;
    const auto seed = digest::from_bytes(std::bit_cast<std::array<std::uint8_t, 32>>(bytes));
    return token_rotation{.family_digest = digest_of(family_of(refresh_token)),
                          .successor_digest = digest_of(make_successor(refresh_token, seed)),
                          .successor_seed = seed,
                          .grace = settings.oauth.rotation_grace};
}

/// A new access token for a refresh token, which stays valid or is replaced.
[[nodiscard]] inline result<judged_exchange> refresh_tokens(const refresh_exchange& exchange, const exchange_context& context,
                                                            const oauth_store_ref& grants, const random_source_ref& random,
                                                            const scope_checker_ref& checker) {
    const auto access = tollgate::new_secret(secret_kind::access_token, random);
    if (!access) return random_source_error();
    const auto& lifetimes = context.settings;
    std::optional<token_rotation> rotation;
    if (context.client.type == client_type::public_client || lifetimes.oauth.rotates_all_refresh_tokens) {
        rotation = oauth::new_rotation(exchange.refresh_token, lifetimes, random);
        if (!rotation) return random_source_error();
    }
    const auto refreshed = grants.refresh_access_token({
        .refresh_digest = digest_of(exchange.refresh_token),
        .application = context.client.id,
        .narrowed = exchange.narrowed,
        .covering = exchange.narrowed ? covering_scopes(*exchange.narrowed, context, checker) : scope_set{},
        .now = context.now,
        .access_digest = digest_of(*access),
        .access_expires_at = context.now + lifetimes.oauth.access_token_lifetime,
        .refresh_lifetime = lifetimes.oauth.refresh_token_lifetime,
        .rotation = rotation,
    });
    if (!refreshed) return refreshed.error();
    switch (refreshed->result) {
        case refresh_result::refreshed: break;
        case refresh_result::unknown: return invalid_refresh_token();
        case refresh_result::too_wide:
            return failure{error_code::invalid_scope, "scope exceeds the granted scopes."};
        case refresh_result::reused:
            return reused_secret{{error_code::invalid_grant,
                                  "The refresh token had already been replaced. Since it may have been stolen, the "
                                  "user's authorization has been revoked."},
                                 refreshed->revoked_user};
    }
    token_response issued{*access, lifetimes.oauth.access_token_lifetime, refreshed->scopes, std::nullopt, std::nullopt};
    if (refreshed->successor_seed)
        issued.refresh_token = make_successor(exchange.refresh_token, *refreshed->successor_seed);
    return issued;
}

/// Any grant_type (RFC 6749 section 3.2).
[[nodiscard]] inline result<judged_exchange> issue_tokens(const parameters& sent, const exchange_context& context,
                                                          const oauth_store_ref& grants, const random_source_ref& random,
                                                          const scope_checker_ref& checker) {
    if (context.client.type == client_type::resource_server) return no_tokens_for_resource_server();
    auto exchange = read_exchange(sent);
    if (const auto* code = std::get_if<code_exchange>(&exchange)) return exchange_code(*code, context, grants, random);
    if (const auto* refresh = std::get_if<refresh_exchange>(&exchange))
        return refresh_tokens(*refresh, context, grants, random, checker);
    if (const auto* device = std::get_if<device_exchange>(&exchange))
        return exchange_device_code(*device, context, grants, random);
    if (const auto* owner = std::get_if<owner_exchange>(&exchange)) return issue_owner_token(*owner, context, grants, random);
    return std::get<failure>(std::move(exchange));
}

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/token_endpoint.ipp>
#endif

#endif  // TOLLGATE_OAUTH_DETAIL_TOKEN_ENDPOINT_HPP

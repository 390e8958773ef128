#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_TOKEN_ENDPOINT_IPP
#define TOLLGATE_OAUTH_DETAIL_TOKEN_ENDPOINT_IPP

#include <tollgate/base/secret.hpp>
#include <tollgate/oauth/detail/pkce.hpp>
#include <tollgate/oauth/detail/redirect.hpp>
#include <tollgate/oauth/detail/token_endpoint.hpp>

namespace tollgate::inline v0::oauth {

namespace detail {

inline exchange_request read_code_exchange(const parameters& sent) {
    const auto code = sent.find("code");
    if (!code) return missing_parameter("code");
    const auto verifier = sent.find("code_verifier");
    if (verifier && !is_code_verifier(*verifier))
        return failure{error_code::invalid_grant, "code_verifier is malformed (RFC 7636 section 4.1)."};
    if (!is_well_formed(secret_kind::authorization_code, *code)) return invalid_code(redemption_result::unknown);
    return code_exchange{.code_digest = digest_of(*code),
                         .redirect_uri = sent.find("redirect_uri"),
                         .code_challenge = verifier ? std::optional{challenge_of(*verifier)} : std::nullopt};
}

inline exchange_request read_refresh_exchange(const parameters& sent) {
    const auto token = sent.find("refresh_token");
    if (!token) return missing_parameter("refresh_token");
    std::optional<scope_set> narrowed;
    if (const auto scope = sent.find("scope")) {
        narrowed = scope_set::parse(*scope);
        if (!narrowed || narrowed->empty()) return unknown_scope();
    }
    if (!is_well_formed(secret_kind::refresh_token, *token)) return invalid_refresh_token();
    return refresh_exchange{*token, narrowed};
}

inline exchange_request read_device_exchange(const parameters& sent) {
    const auto code = sent.find("device_code");
    if (!code) return missing_parameter("device_code");
    if (!is_well_formed(secret_kind::device_code, *code)) return unknown_device_code();
    return device_exchange{digest_of(*code)};
}

inline exchange_request read_owner_exchange(const parameters& sent) {
    const auto scope = sent.find("scope");
    if (!scope) return missing_parameter("scope");
    const auto scopes = scope_set::parse(*scope);
    if (!scopes || scopes->empty()) return unknown_scope();
    return owner_exchange{*scopes};
}

}  // namespace detail

TOLLGATE_DECL exchange_request read_exchange(const parameters& sent) {
    const auto grant_type = sent.find("grant_type");
    if (!grant_type) return missing_parameter("grant_type");
    if (*grant_type == "authorization_code") return detail::read_code_exchange(sent);
    if (*grant_type == "refresh_token") return detail::read_refresh_exchange(sent);
    if (*grant_type == device_grant_type) return detail::read_device_exchange(sent);
    if (*grant_type == "client_credentials") return detail::read_owner_exchange(sent);
    return failure{error_code::unsupported_grant_type,
                   "grant_type must be authorization_code, refresh_token, client_credentials or " +
                       std::string{device_grant_type} + "."};
}

TOLLGATE_DECL std::optional<failure> check_redirect_uri(const code_exchange& exchange, const application& client) {
    if (!exchange.redirect_uri) {
        if (client.redirect_urls.size() == 1) return std::nullopt;
        return failure{error_code::invalid_request,
                       "redirect_uri is missing. It may be omitted only if the application has one registered redirect "
                       "URL."};
    }
    if (is_redirect_text(*exchange.redirect_uri)) return std::nullopt;
    return invalid_code(redemption_result::redirect_mismatch);
}

TOLLGATE_DECL failure invalid_code(redemption_result reason) {
    const auto refuse = [](const char* description) { return failure{error_code::invalid_grant, description}; };
    switch (reason) {
        case redemption_result::expired: return refuse("The code has expired.");
        case redemption_result::reused:
            return refuse("The code was already used. The tokens that were issued for it have been revoked.");
        case redemption_result::repeated:
            return refuse("The code was already used a moment ago. The tokens that were issued for it are valid.");
        case redemption_result::redirect_mismatch:
            return refuse("redirect_uri differs from the one in the authorization request.");
        case redemption_result::verifier_mismatch:
            return refuse("code_verifier does not match the code_challenge in the authorization request.");
        case redemption_result::wrong_resource: return wrong_resource();
        case redemption_result::redeemed:
        case redemption_result::unknown: break;
    }
    return refuse("The code is unknown, or was issued to another application.");
}

TOLLGATE_DECL failure unknown_device_code() {
    return {error_code::invalid_grant, "The device_code is unknown, or was issued to another application."};
}

TOLLGATE_DECL failure expired_device_code() {
    return {error_code::expired_token, "The device_code has expired. Request a new one."};
}

TOLLGATE_DECL failure unapproved_device_code(const device_code& waiting, instant now) {
    if (waiting.state == device_code_state::denied) return {error_code::access_denied, "The user denied the request."};
    if (has_expired(waiting, now)) return expired_device_code();
    return {error_code::authorization_pending, "The user has not answered yet. Wait for the interval, then poll again."};
}

TOLLGATE_DECL failure invalid_refresh_token() {
    return {error_code::invalid_grant, "The refresh token is invalid, expired or revoked."};
}

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_TOKEN_ENDPOINT_IPP

#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_FAILURE_HPP
#define TOLLGATE_OAUTH_DETAIL_FAILURE_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/http/response.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tollgate::inline v0::oauth {

/// The error codes of RFC 6749 (sections 4.1.2.1 and 5.2), RFC 8628 (section 3.5), RFC 8707 (section 2), RFC 7591 (section 3.2.2) and
/// OpenID Connect Core (section 3.1.2.6).
enum class error_code : std::uint8_t {
    invalid_request,
    invalid_client,
    invalid_grant,
    invalid_scope,
    unauthorized_client,
    unsupported_grant_type,
    unsupported_response_type,
    access_denied,
    login_required,
    consent_required,
    server_error,
    temporarily_unavailable,
    authorization_pending,
    slow_down,
    expired_token,
    invalid_target,
    invalid_redirect_uri,
    invalid_client_metadata,
};

[[nodiscard]] constexpr std::string_view to_text(error_code code) noexcept {
    switch (code) {
        case error_code::invalid_request: return "invalid_request";
        case error_code::invalid_client: return "invalid_client";
        case error_code::invalid_grant: return "invalid_grant";
        case error_code::invalid_scope: return "invalid_scope";
        case error_code::unauthorized_client: return "unauthorized_client";
        case error_code::unsupported_grant_type: return "unsupported_grant_type";
        case error_code::unsupported_response_type: return "unsupported_response_type";
        case error_code::access_denied: return "access_denied";
        case error_code::login_required: return "login_required";
        case error_code::consent_required: return "consent_required";
        case error_code::server_error: return "server_error";
        case error_code::temporarily_unavailable: return "temporarily_unavailable";
        case error_code::authorization_pending: return "authorization_pending";
        case error_code::slow_down: return "slow_down";
        case error_code::expired_token: return "expired_token";
        case error_code::invalid_target: return "invalid_target";
        case error_code::invalid_redirect_uri: return "invalid_redirect_uri";
        case error_code::invalid_client_metadata: return "invalid_client_metadata";
    }
    return "server_error";
}

/// An OAuth error: a code for programs, a sentence for developers. The description is visible ASCII and spaces without
/// quote and backslash (RFC 6749 section 5.2).
struct failure {
    error_code code = error_code::server_error;
    std::string description;
};

[[nodiscard]] inline failure no_tokens_for_resource_server() {
    return {error_code::unauthorized_client, "A resource server cannot get tokens."};
}

/// Returns the error for a required parameter that was not sent.
[[nodiscard]] inline failure missing_parameter(std::string_view name) {
    return {error_code::invalid_request, std::string{name} + " is missing."};
}

/// Returns the error for a `scope` parameter that names no scope, or an unknown scope.
[[nodiscard]] inline failure unknown_scope() { return {error_code::invalid_scope, "scope contains an unknown scope."}; }

/// The status of a server error: 503 if the client can try again, otherwise 500.
[[nodiscard]] inline http::status status_of_server_error(const error& error) noexcept {
    return error.kind == error_kind::unavailable ? http::status::service_unavailable : http::status::internal_server_error;
}

/// The OAuth error for a server error.
[[nodiscard]] inline failure to_failure(const error& error) {
    return {error.kind == error_kind::unavailable ? error_code::temporarily_unavailable : error_code::server_error,
            error.message};
}

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_FAILURE_HPP

#pragma once

#include <tollgate/base/problem.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tollgate::oauth {

/// The error codes of RFC 6749 (sections 4.1.2.1 and 5.2).
enum class error : std::uint8_t {
    invalid_request,
    invalid_client,
    invalid_grant,
    invalid_scope,
    unauthorized_client,
    unsupported_grant_type,
    unsupported_response_type,
    access_denied,
    server_error,
    temporarily_unavailable,
};

[[nodiscard]] constexpr std::string_view to_text(error code) noexcept {
    switch (code) {
        case error::invalid_request: return "invalid_request";
        case error::invalid_client: return "invalid_client";
        case error::invalid_grant: return "invalid_grant";
        case error::invalid_scope: return "invalid_scope";
        case error::unauthorized_client: return "unauthorized_client";
        case error::unsupported_grant_type: return "unsupported_grant_type";
        case error::unsupported_response_type: return "unsupported_response_type";
        case error::access_denied: return "access_denied";
        case error::server_error: return "server_error";
        case error::temporarily_unavailable: return "temporarily_unavailable";
    }
    return "server_error";
}

/// Why a step stops: the code for the program, a sentence for the person who writes it. Visible ASCII and spaces
/// without quote and backslash, which is all that error_description may hold.
struct failure {
    error code = error::server_error;
    std::string description;
};

/// What a program is told of a problem of ours.
[[nodiscard]] inline failure to_failure(const problem& why) {
    return {why.kind == problem_kind::unavailable ? error::temporarily_unavailable : error::server_error, why.message};
}

}  // namespace tollgate::oauth

#pragma once

#include <tollgate/base/result.hpp>
#include <tollgate/http/response.hpp>

#include <string_view>

namespace tollgate::inline v0::pipeline {

/// A page of the documentation: `{auth_url}/docs/{slug}/`. Every Error object leads to one of these.
struct topic {
    std::string_view slug;
};

inline constexpr topic about_requests{"requests"};
inline constexpr topic about_authentication{"authentication"};
inline constexpr topic about_scopes{"scopes"};
inline constexpr topic about_rate_limits{"rate-limits"};
inline constexpr topic about_errors{"errors"};

/// Why a stage stops a request, in the client's words.
struct refused {
    http::status status;
    std::string_view message;  ///< of static storage
    topic documentation = about_errors;
};

inline constexpr refused no_agent{http::status::forbidden, "Send one User-Agent header that names your program.",
                                  about_requests};
inline constexpr refused no_room_in_window{
    http::status::too_many_requests, "API rate limit exceeded. Wait until the time in X-RateLimit-Reset.", about_rate_limits};

[[nodiscard]] constexpr http::status to_status(error_kind kind) noexcept {
    switch (kind) {
        case error_kind::malformed: return http::status::bad_request;
        case error_kind::unauthorized: return http::status::unauthorized;
        case error_kind::forbidden: return http::status::forbidden;
        case error_kind::not_found: return http::status::not_found;
        case error_kind::invalid: return http::status::unprocessable_content;
        case error_kind::conflict: return http::status::conflict;
        case error_kind::unavailable: return http::status::service_unavailable;
        case error_kind::internal: break;
    }
    return http::status::internal_server_error;
}

[[nodiscard]] constexpr topic to_topic(http::status status) noexcept {
    switch (status) {
        case http::status::unauthorized: return about_authentication;
        case http::status::forbidden: return about_scopes;
        case http::status::too_many_requests: return about_rate_limits;
        case http::status::bad_request:
        case http::status::request_timeout:
        case http::status::content_too_large:
        case http::status::uri_too_long:
        case http::status::unsupported_media_type:
        case http::status::expectation_failed:
        case http::status::header_fields_too_large: return about_requests;
        default: return about_errors;
    }
}

}  // namespace tollgate::pipeline

#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_ERROR_RESPONSE_HPP
#define TOLLGATE_PIPELINE_DETAIL_ERROR_RESPONSE_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/router.hpp>
#include <tollgate/http/detail/guarded_response.hpp>
#include <tollgate/http/detail/request_id.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/quota.hpp>

#include <exception>
#include <string>
#include <string_view>

/// What all API responses have in common: the Error object, the rate limit fields, `Allow` and `WWW-Authenticate`.
namespace tollgate::inline v0::pipeline {

/// A page of the documentation, such as `{auth_url}/docs/{slug}/`. Every Error object links to one.
struct topic {
    std::string_view slug;
};

/// The page about a topic, below a URL that ends in a slash; otherwise the URL is the page about everything.
[[nodiscard]] inline std::string topic_url(std::string_view documentation_url, topic about) {
    std::string url{documentation_url};
    if (url.ends_with('/')) url.append(about.slug).append("/");
    return url;
}

inline constexpr topic about_requests{"requests"};
inline constexpr topic about_authentication{"authentication"};
inline constexpr topic about_scopes{"scopes"};
inline constexpr topic about_rate_limits{"rate-limits"};
inline constexpr topic about_errors{"errors"};

/// Why a stage of the judgement rejects a request: the status, and the message for the client.
struct rejection {
    http::status status;
    std::string_view message;  ///< a message with static storage
    topic documentation = about_errors;
};

inline constexpr rejection missing_user_agent{http::status::forbidden, "Send one User-Agent header that names your program.",
                                              about_requests};
inline constexpr rejection other_site{http::status::forbidden, "The form was sent by another site.", about_requests};
inline constexpr rejection rate_limit_exceeded{
    http::status::too_many_requests, "API rate limit exceeded. Wait until the time in X-RateLimit-Reset.", about_rate_limits};

[[nodiscard]] constexpr http::status to_status(error_kind kind) noexcept {
    switch (kind) {
        case error_kind::malformed: return http::status::bad_request;
        case error_kind::unauthorized: return http::status::unauthorized;
        case error_kind::forbidden: return http::status::forbidden;
        case error_kind::not_found: return http::status::not_found;
        case error_kind::invalid: return http::status::unprocessable_content;
        case error_kind::conflict: return http::status::conflict;
        case error_kind::too_many_requests: return http::status::too_many_requests;
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
        case http::status::header_fields_too_large:
        case http::status::not_implemented: return about_requests;
        default: return about_errors;
    }
}

using http::detail::json_field_lines;

/// The Error object, and the fields of a JSON response.
TOLLGATE_DECL void write_error(http::response& response, http::status status, std::string_view message,
                               std::string_view documentation_url, topic about);

/// The rate limit fields, and `X-Request-Id` if an id is given. `X-RateLimit-Reset` is sent exactly when nothing remains.
TOLLGATE_DECL void add_rate_limit_fields(http::response& response, const limit_decision& limit, std::string_view request_id = {});

/// `Allow` of a path with these methods: HEAD where there is GET, and always OPTIONS (RFC 9110 section 10.2.1).
TOLLGATE_COLD void add_allow(http::response& response, method_set allowed);

/// `Strict-Transport-Security` (RFC 6797) where clients use TLS at this public URL, perhaps at a proxy. The URL is that of the settings,
/// whose scheme is http or https.
inline void add_transport_security(http::response& response, std::string_view public_url) {
    constexpr std::size_t at = std::string_view{"http"}.size();
    if (public_url.size() > at && (public_url[at] == 's' || public_url[at] == 'S'))
        response.add_prepared_lines("Strict-Transport-Security: max-age=31536000\r\n");
}

/// `Accept-Encoding: identity` for a body with a content coding (RFC 9110 section 12.5.3).
inline void add_accepted_coding(const http::request& request, http::response& response) {
    if (http::detail::has_content_coding(request.fields)) response.add("Accept-Encoding", "identity");
}

using http::detail::respond_or_error;
using http::detail::write_or_status;

}  // namespace tollgate::pipeline

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pipeline/detail/error_response.ipp>
#endif

#endif  // TOLLGATE_PIPELINE_DETAIL_ERROR_RESPONSE_HPP

#pragma once

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/router.hpp>
#include <tollgate/http/detail/request_id.hpp>
#include <tollgate/http/json_writer.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/quota.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// What all API responses have in common: the Error object, the rate limit fields, `Allow` and `WWW-Authenticate`.
namespace tollgate::inline v0::pipeline {

/// A page of the documentation, such as `{auth_url}/docs/{slug}/`. Every Error object links to one.
struct topic {
    std::string_view slug;
};

/// The page about a topic, below a URL that ends in a slash; otherwise the URL is the page about everything.
[[nodiscard]] inline std::string topic_url(std::string_view docs_url, topic about) {
    std::string url{docs_url};
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
    std::string_view message;  ///< of static storage
    topic documentation = about_errors;
};

inline constexpr rejection missing_user_agent{http::status::forbidden, "Send one User-Agent header that names your program.",
                                              about_requests};
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

/// The fields of every JSON response. Account data is private to its caller, and must not be taken for another type.
inline constexpr std::string_view json_field_lines =
    "Content-Type: application/json\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";

/// `Retry-After` of a 503: long enough for a database to fail over, short enough for a person not to give up.
inline constexpr std::uint64_t retry_after_unavailable_seconds = 2;

/// The Error object, and the fields of a JSON response.
inline void write_error(http::response& response, http::status status, std::string_view message, std::string_view docs_url,
                        topic about) {
    response.set_status(status);
    response.add_prepared_lines(json_field_lines);
    http::json_writer body{response.body()};
    body.begin_object();
    body.member("message").string(message);
    body.member("documentation_url").string(topic_url(docs_url, about));
    body.end_object();
}

/// The rate limit fields, and `X-Request-Id` if an id is given. `X-RateLimit-Reset` is sent exactly when nothing remains.
[[gnu::flatten]] inline void add_rate_limit_fields(http::response& response, const verdict& limit,
                                                   std::string_view request_id = {}) {
    // Every response has these three: assembled here, they are one append instead of fourteen.
    std::array<char, 112 + http::request_id_bytes_max> lines;
    char* end = lines.data();
    const auto put = [&](std::string_view text) { end = std::copy_n(text.data(), text.size(), end); };
    const auto put_number = [&](std::uint32_t number) { end = put_decimal(end, number); };
    put("X-RateLimit-Limit: ");
    put_number(limit.limit);
    put("\r\nX-RateLimit-Remaining: ");
    put_number(limit.remaining);
    put("\r\n");
    if (!request_id.empty()) {
        put("X-Request-Id: ");
        put(request_id);
        put("\r\n");
    }
    response.add_prepared_lines({lines.data(), static_cast<std::size_t>(end - lines.data())});
    if (limit.remaining == 0) response.add("X-RateLimit-Reset", round_up_to_seconds(limit.resets_at));
}

/// Seconds until a window ends, for `Retry-After`: whole, rounded up, at least one.
[[nodiscard]] inline std::uint64_t seconds_until(instant later, instant now) noexcept {
    return static_cast<std::uint64_t>((std::max)(seconds{1}, std::chrono::ceil<seconds>(later - now)).count());
}

/// `Allow` of a path with these methods: HEAD where there is GET, and always OPTIONS (RFC 9110 section 10.2.1).
inline void add_allow(http::response& response, method_set allowed) {
    std::string list;
    for (const auto each : {http::method::get, http::method::head, http::method::post, http::method::put, http::method::patch,
                            http::method::delete_, http::method::options}) {
        const bool is_allowed = each == http::method::head ? allowed.contains(http::method::get)
                                                           : each == http::method::options || allowed.contains(each);
        if (!is_allowed) continue;
        if (!list.empty()) list.append(", ");
        list.append(to_text(each));
    }
    if (const auto value = http::field_value::from(list)) response.add("Allow", *value);
}

/// What to send instead of a body with a content coding (RFC 9110 section 12.5.3).
inline void add_accepted_coding(const http::request& request, http::response& response) {
    if (http::detail::has_content_coding(request.fields)) response.add("Accept-Encoding", "identity");
}

/// `WWW-Authenticate` of a 403 for an insufficient scope (RFC 6750 section 3.1).
inline void add_insufficient_scope(http::response& response, std::string_view scope) {
    const auto challenge = std::string{"Bearer realm=\"api\", error=\"insufficient_scope\", scope=\""}.append(scope).append("\"");
    if (const auto value = http::field_value::from(challenge)) response.add("WWW-Authenticate", *value);
}

}  // namespace tollgate::pipeline

#pragma once

#include <cstdint>
#include <string_view>

namespace tollgate::http {

/// The statuses that Tollgate sends (RFC 9110 section 15, RFC 6585).
enum class status : std::uint16_t {
    ok = 200,
    created = 201,
    no_content = 204,
    found = 302,
    see_other = 303,
    bad_request = 400,
    unauthorized = 401,
    forbidden = 403,
    not_found = 404,
    method_not_allowed = 405,
    request_timeout = 408,
    conflict = 409,
    content_too_large = 413,
    uri_too_long = 414,
    unsupported_media_type = 415,
    expectation_failed = 417,
    unprocessable_content = 422,
    too_many_requests = 429,
    header_fields_too_large = 431,
    internal_server_error = 500,
    not_implemented = 501,
    service_unavailable = 503,
    version_not_supported = 505,
};

[[nodiscard]] constexpr unsigned to_number(status s) noexcept { return static_cast<unsigned>(s); }

/// The reason phrase of the registry; "Status" for a number that is not listed above.
[[nodiscard]] constexpr std::string_view to_reason(status s) noexcept {
    switch (s) {
        case status::ok: return "OK";
        case status::created: return "Created";
        case status::no_content: return "No Content";
        case status::found: return "Found";
        case status::see_other: return "See Other";
        case status::bad_request: return "Bad Request";
        case status::unauthorized: return "Unauthorized";
        case status::forbidden: return "Forbidden";
        case status::not_found: return "Not Found";
        case status::method_not_allowed: return "Method Not Allowed";
        case status::request_timeout: return "Request Timeout";
        case status::conflict: return "Conflict";
        case status::content_too_large: return "Content Too Large";
        case status::uri_too_long: return "URI Too Long";
        case status::unsupported_media_type: return "Unsupported Media Type";
        case status::expectation_failed: return "Expectation Failed";
        case status::unprocessable_content: return "Unprocessable Content";
        case status::too_many_requests: return "Too Many Requests";
        case status::header_fields_too_large: return "Request Header Fields Too Large";
        case status::internal_server_error: return "Internal Server Error";
        case status::not_implemented: return "Not Implemented";
        case status::service_unavailable: return "Service Unavailable";
        case status::version_not_supported: return "HTTP Version Not Supported";
    }
    return "Status";
}

}  // namespace tollgate::http

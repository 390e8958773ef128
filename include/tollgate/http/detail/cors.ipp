#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_CORS_IPP
#define TOLLGATE_HTTP_DETAIL_CORS_IPP

#include <tollgate/http/detail/cors.hpp>

#include <algorithm>

namespace tollgate::inline v0::http {

namespace detail {

inline void add_exposed_fields(response& response) {
    response.add_prepared_lines(
        "Access-Control-Expose-Headers: X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, "
        "X-Hook-Secret, WWW-Authenticate, Location, X-Request-Id\r\n");
}

}  // namespace detail

TOLLGATE_DECL void add_cors_fields(std::span<const std::string> allowed_origins, const refusal& refused, response& response) {
    if (refused.request != nullptr) return add_cors_fields(allowed_origins, *refused.request, response);
    if (refused.path().empty()) return;
    if (refused.partial->fields.count(field_id::origin) != 0) return add_cors_fields(allowed_origins, *refused.partial, response);
    if (allowed_origins.empty() || allowed_origins.front() != any_origin) return;
    response.add_prepared_lines("Access-Control-Allow-Origin: *\r\n");
    detail::add_exposed_fields(response);
}

TOLLGATE_DECL void add_cors_fields(std::span<const std::string> allowed_origins, const request& request, response& response) {
    if (request.fields.count(field_id::origin) != 1 || allowed_origins.empty()) return;
    const auto origin = request.fields.find(field_id::origin);
    if (allowed_origins.front() == any_origin) {
        response.add_prepared_lines("Access-Control-Allow-Origin: *\r\n");
    } else {
        response.add_prepared_lines("Vary: Origin\r\n");
        const auto found = std::find(allowed_origins.begin(), allowed_origins.end(), origin);
        if (found == allowed_origins.end()) return;
        if (const auto value = field_value::from(*found)) response.add("Access-Control-Allow-Origin", *value);
    }
    if (!is_preflight(request)) return detail::add_exposed_fields(response);
    const std::string methods{response.find("Allow")};
    if (const auto value = field_value::from(methods)) response.add("Access-Control-Allow-Methods", *value);
    // What is read here, and X-Requested-With, which some libraries send with each request. Firefox asks about User-Agent.
    // Two hours: browsers keep it no longer.
    response.add_prepared_lines("Access-Control-Allow-Headers: Authorization, Content-Type, User-Agent, X-Requested-With, "
                                "X-Request-Id, traceparent\r\n"
                                "Access-Control-Max-Age: 7200\r\n");
}

}  // namespace tollgate::http

#endif  // TOLLGATE_HTTP_DETAIL_CORS_IPP

#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_CORS_HPP
#define TOLLGATE_HTTP_DETAIL_CORS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>

#include <span>
#include <string>
#include <string_view>

/// Cross-origin requests of browsers (Fetch Standard, section 3.3): which pages may read a response. Credentials of the browser
/// itself, such as cookies, are never allowed: callers send a token.
namespace tollgate::inline v0::http {

/// Stands for any origin in a list of allowed origins.
inline constexpr std::string_view any_origin = "*";

/// Returns true if this is a preflight: a browser asks what it may send before it sends it.
[[nodiscard]] inline bool is_preflight(const request& request) noexcept {
    return request.method == method::options && request.fields.count(field_id::origin) == 1 &&
           !request.fields.find("Access-Control-Request-Method").empty();
}

/// Adds the fields that let pages of the allowed origins read this response and, for a preflight, that say what they may send. Call
/// it after status and `Allow` are set.
TOLLGATE_DECL void add_cors_fields(std::span<const std::string> allowed_origins, const request& request, response& response);

/// Adds these fields to the response to a refusal, as far as its path is known. Its `Origin` may not have been read: then only pages of any
/// origin may read the response.
TOLLGATE_DECL void add_cors_fields(std::span<const std::string> allowed_origins, const refusal& refused, response& response);

}  // namespace tollgate::http

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/detail/cors.ipp>
#endif

#endif  // TOLLGATE_HTTP_DETAIL_CORS_HPP

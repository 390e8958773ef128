#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_TOKEN_RESPONSE_HPP
#define TOLLGATE_OAUTH_DETAIL_TOKEN_RESPONSE_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/oauth/detail/failure.hpp>
#include <tollgate/oauth/detail/paths.hpp>
#include <tollgate/oauth/detail/token_endpoint.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>

#include <string_view>

namespace tollgate::inline v0::oauth {

/// The documentation of OAuth errors, such as `{auth_url}/docs/oauth/`.
inline constexpr pipeline::topic about_oauth{"oauth"};

/// An error response with the members of RFC 6749 section 5.2 and of the Error object.
struct failure_response {
    http::status status = http::status::bad_request;
    const oauth::failure& failure;
    std::string_view documentation_url;  ///< see `pipeline::topic_url`
    pipeline::topic about = about_oauth;
};
TOLLGATE_DECL void write_failure(http::response& response, const failure_response& failed);

/// A server error: 503 with Retry-After, or 500. Replaces what `response` holds.
TOLLGATE_DECL void write_server_error(http::response& response, const error& error, std::string_view documentation_url);

/// The fields of a JSON response with secrets, which must not be cached (RFC 6749 section 5.1). The second field is for HTTP/1.0.
inline void add_no_store_fields(http::response& response) {
    response.add_prepared_lines(pipeline::json_field_lines);
    response.add("Pragma", "no-cache");
}

/// RFC 6749 section 5.1.
TOLLGATE_DECL void write_tokens(http::response& response, const token_response& issued);

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/token_response.ipp>
#endif

#endif  // TOLLGATE_OAUTH_DETAIL_TOKEN_RESPONSE_HPP

#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/oauth/detail/failure.hpp>
#include <tollgate/oauth/detail/page_request.hpp>
#include <tollgate/oauth/detail/token_endpoint.hpp>
#include <tollgate/pipeline/detail/refused.hpp>

#include <string_view>

namespace tollgate::inline v0::oauth {

/// Where the errors of this part of the interface are explained: `{auth_url}/docs/oauth/`.
inline constexpr pipeline::topic about_oauth{"oauth"};

/// An answer to a program that did not get what it wanted: the members of RFC 6749 section 5.2, and those of the Error
/// object.
struct failed_answer {
    http::status status = http::status::bad_request;
    const failure& why;
    std::string_view docs_url;  ///< `{auth_url}/docs/`
    pipeline::topic about = about_oauth;
};
TOLLGATE_DECL void write_failure(http::response& out, const failed_answer& answer);

/// A problem of ours: 503 with Retry-After, or 500. Replaces what `out` holds.
TOLLGATE_DECL void write_problem(http::response& out, const error& why, std::string_view docs_url);

struct other_method {
    http::field_value allowed;
    std::string_view docs_url;
};
/// What a method that a path does not answer to is told: OPTIONS 204, every other 405.
TOLLGATE_DECL void answer_other_method(const http::request& asked, http::response& out, const other_method& place);

/// What a program is told that does not say its name: 403, or 429 where its address' window was empty before.
TOLLGATE_DECL void write_without_agent(http::response& out, const visit& now, std::string_view docs_url);

/// RFC 6749 section 5.1.
TOLLGATE_DECL void write_tokens(http::response& out, const token_response& issued);

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/token_response.ipp>
#endif

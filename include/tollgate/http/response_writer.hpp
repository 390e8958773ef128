#pragma once

#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>

#include <string>
#include <string_view>

namespace tollgate::http {

/// What a response needs to know of its connection and of the request that it answers.
struct framing {
    std::string_view date;                                  ///< IMF-fixdate, 29 bytes; the host makes one a second
    http::version version = http::version::http_1_1;        ///< of the request
    bool keep_alive = true;                                 ///< false: says that the host closes after this response
    bool head_only = false;                                 ///< answers HEAD: all of GET's fields, no body
};

/// Appends one response as it goes on the wire (RFC 9112 section 4): status line, `Date`, the response's own fields,
/// `Content-Length` (not for 204 and 304), `Connection` where the version's default does not say it, body.
/// The response must not hold `Date`, `Content-Length`, `Connection` or `Transfer-Encoding` itself.
inline void append_response(const response& sent, const framing& how, std::string& out);

/// Appends the interim response that asks a client for the body it holds back.
inline void append_continue(std::string& out);

}  // namespace tollgate::http

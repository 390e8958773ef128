#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_COOKIES_HPP
#define TOLLGATE_HTTP_DETAIL_COOKIES_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/response.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace tollgate::inline v0::http {

/// The SameSite attribute: whether a browser sends the cookie with cross-site requests.
enum class same_site : std::uint8_t {
    lax,     ///< only when the user follows a link
    strict,  ///< the cookie is never sent
};

/// A cookie to set (RFC 6265 section 4.1).
struct new_cookie {
    std::string_view name;   ///< a token; the prefix `__Host-` keeps subdomains from setting it, and needs `secure`
    std::string_view value;  ///< visible ASCII without `"`, `,`, `;` and `\`
    std::optional<seconds> max_age = std::nullopt;  ///< empty: until the browser is closed; zero or less: deletes the cookie
    bool secure = true;
    http::same_site same_site = http::same_site::lax;
};

/// Adds a `Set-Cookie` for the whole site (`Path=/`), not readable by scripts (`HttpOnly`). Returns false and adds
/// nothing if the name or value contains an invalid byte.
[[nodiscard]] TOLLGATE_DECL bool add_cookie(response& out, const new_cookie& cookie);

}  // namespace tollgate::http

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/detail/cookies.ipp>
#endif

#endif  // TOLLGATE_HTTP_DETAIL_COOKIES_HPP

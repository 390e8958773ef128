#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/detail/fields.hpp>
#include <tollgate/http/response.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace tollgate::inline v0::http {

/// The value of a cookie (RFC 6265 section 5.4), a view of the request. None when there is no cookie of this name, and
/// none when there are several that differ: one of them was put there by somebody else (a neighbour on another
/// subdomain, or with another path), and nothing says which. Names are case-sensitive.
[[nodiscard]] TOLLGATE_DECL std::optional<std::string_view> find_cookie(const field_lines& fields,
                                                                        std::string_view name) noexcept;

/// When a browser sends a cookie with requests that other sites cause.
enum class same_site : std::uint8_t {
    lax,     ///< when a person follows a link from there
    strict,  ///< never
};

/// What a browser is told to keep (RFC 6265 section 4.1).
struct new_cookie {
    std::string_view name;   ///< a token; `__Host-` in front keeps neighbours from setting it, and needs `secure`
    std::string_view value;  ///< visible ASCII without `"`, `,`, `;` and `\`
    std::optional<seconds> max_age = std::nullopt;  ///< none: until the browser is closed; zero or less: forget it now
    bool secure = true;
    http::same_site same_site = http::same_site::lax;
};

/// Adds a `Set-Cookie` for the whole site (`Path=/`), out of reach for scripts (`HttpOnly`). False, and nothing is
/// added, for a name or a value with a byte that it must not have.
[[nodiscard]] TOLLGATE_DECL bool add_cookie(response& out, const new_cookie& made);

}  // namespace tollgate::http

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/detail/cookies.ipp>
#endif

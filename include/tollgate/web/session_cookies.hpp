#pragma once
#ifndef TOLLGATE_WEB_SESSION_COOKIES_HPP
#define TOLLGATE_WEB_SESSION_COOKIES_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/web/sign_in_throttle.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// Settings of `cookie_sessions`.
struct session_settings {
    /// The root of the pages, as in `account_service_settings`. With https the cookies are `Secure` and have the prefix `__Host-`, so that
    /// sibling hosts cannot set them.
    std::string auth_url;
    /// The beginning of the cookies' names, after that prefix; see `cookie_name_of`. Empty: derived from `auth_url`.
    std::string cookie_name = {};

    // Each duration is at most 36,500 days, and above zero except for `touch_interval`.
    seconds idle_lifetime{std::chrono::hours{12}};  ///< time since the last use: one working day
    seconds lifetime{std::chrono::days{7}};         ///< time since the sign-in, however often the session is used (OWASP: absolute timeout)
    /// The minimum time between two records of a use, so that most requests only read. 0: each use is stored.
    seconds touch_interval{std::chrono::minutes{5}};

    /// The key that signs the cookie that marks a browser as known after a sign-in. Empty: random, so that no browser is known after a
    /// restart. Nodes on the same store should share a random key of at least 16 bytes.
    std::string browser_key = {};
    seconds browser_lifetime{std::chrono::days{365}};  ///< lifetime of the cookie that marks a browser

    sign_in_bounds throttle = {};
    sign_in_capacity throttle_capacity = {};
};

/// The query parameter of the sign-in page that holds the path and query to return to after signing in.
inline constexpr std::string_view return_to_name = "return_to";

/// Returns the name of a cookie of a site: `tollgate_5d41402a_session` for the use `session`. Cookies ignore ports, and cookies with the
/// prefix `__Host-` are for all paths, so the default name has a hash of `auth_url`: two sites on the same host then keep their cookies
/// apart. `chosen` replaces everything before the use. Throws std::invalid_argument for an auth_url that `http::url::root` refuses, and for
/// a `chosen` that is not a token of at most 64 characters or that begins with two underscores, as reserved names do.
[[nodiscard]] TOLLGATE_DECL std::string cookie_name_of(std::string_view auth_url, std::string_view chosen, std::string_view use);

/// The cookie of `cookie_sessions`: `tgw_` and 256 random bits. Stores keep only its SHA-256, so a leaked store does
/// not leak sessions.
class session_cookie {
public:
    /// Reads the cookie's name, path and flags from `settings`. Throws std::invalid_argument for an auth_url that `http::url::root`
    /// refuses, for a name that `cookie_name_of` refuses, or for another setting outside its bounds.
    TOLLGATE_DECL explicit session_cookie(const session_settings& settings);

    /// Returns the well-formed session cookie of this request, if any, as a view of the request.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::string_view> read(const http::request& request) const noexcept;
    /// Adds the Set-Cookie. Returns false and adds nothing if the value cannot be in a cookie, which a secret always can.
    [[nodiscard]] TOLLGATE_DECL bool set(std::string_view cookie, http::response& response) const;
    /// Adds the Set-Cookie that removes the cookie.
    TOLLGATE_DECL void clear(http::response& response) const;

    /// Returns `{path of auth_url}/en/user/sign_in/?return_to=...`, in the language of the page to return to, or without a language if that
    /// page is not a page of the library.
    [[nodiscard]] TOLLGATE_DECL std::string sign_in_url(std::string_view return_to) const;

    /// Returns the secret from which form tokens are derived. It is derived from the cookie, but not from the stored digest, and the cookie
    /// cannot be derived from it.
    [[nodiscard]] static TOLLGATE_DECL std::string session_secret_of(std::string_view cookie);

    /// Returns the cookie of the session that a submitted form starts in place of the session with `cookie`, for example a change of the
    /// password. It is the same for the same form. About 125 of its bits are derived from the cookie and the body, so that only who has
    /// both can compute it.
    [[nodiscard]] static TOLLGATE_DECL secret_text successor_of(std::string_view cookie, std::string_view body);
    /// Returns true if the cookie is the `successor_of` some cookie and this body.
    [[nodiscard]] static TOLLGATE_DECL bool is_successor(std::string_view cookie, std::string_view body);

private:
    std::string name_;
    std::string root_;
    bool secure_ = true;
};

/// The cookie that marks a browser that has signed in with a login before (OWASP, "device cookies"): 128 random bits and an HMAC over them
/// and the login. It does not sign anyone in; failed attempts with it are counted separately.
class browser_cookie {
public:
    /// Constructs the cookie with the names, the key and the lifetime of `settings`, which a `session_cookie` has checked.
    TOLLGATE_DECL explicit browser_cookie(const session_settings& settings);

    /// Returns the browser's number if the browser has signed in with this login before; otherwise 0.
    [[nodiscard]] TOLLGATE_DECL std::uint64_t find(const http::request& request, std::string_view login) const;
    /// Adds the Set-Cookie that marks the browser.
    TOLLGATE_DECL void set(std::span<const std::byte, 16> random, std::string_view login,
                           http::response& response) const;

private:
    [[nodiscard]] TOLLGATE_DECL digest sign(std::string_view random, std::string_view login) const;

    std::string name_;
    std::string key_;
    seconds lifetime_;
    bool secure_;
};

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/web/session_cookies.ipp>
#endif

#endif  // TOLLGATE_WEB_SESSION_COOKIES_HPP

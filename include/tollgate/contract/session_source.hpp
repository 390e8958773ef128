#pragma once

#include <tollgate/base/ids.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/detail/session.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// Checks a login and its password. Only the built-in sign-in page needs it.
///
/// Thread rule: callable from many threads at once. Blocking: usually; declare `static constexpr bool blocking = true`.
/// Errors: an `error` if it could not be checked (unavailable also if too many checks are running); never throws.
///
/// A source that also has `check_password(const sign_in_attempt&)` is called with that instead, so that it can share
/// its capacity fairly between clients. If it has `result<bool> is_active(user_id)`, that is called for the user of each
/// session, so that the sessions of disabled and deleted users end at once.
template <class P>
concept password_source = requires(P& p, std::string_view login, std::string_view password) {
    // The user, or empty if login or password is wrong. Must take as long for an unknown login as for a wrong password.
    { p.check_password(login, password) } -> std::same_as<result<std::optional<user_id>>>;
};

/// Finds the session of a request. Implement it on the sessions that your site has; `cookie_sessions` keeps its own. If it
/// has `result<bool> is_active(user_id)`, token introspection calls that, and does not vouch for disabled users.
///
/// Thread rule: callable from many threads at once. Blocking: allowed if it declares `static constexpr bool blocking = true`.
/// Errors: an `error`; never throws.
///
/// Exemplar:
///
///     struct site_sessions {
///         result<std::optional<session>> session_of(const http::request& request, instant) {
///             const auto cookie = request.fields.find(http::field_id::cookie);
///             if (cookie != "site=ann-is-here") return std::optional<session>{};
///             return std::optional{session{user_id{1}, "ann", std::string{cookie}}};
///         }
///         std::string sign_in_url(std::string_view return_to) const {
///             return "/login?next=" + percent_encode(return_to);
///         }
///     };
template <class S>
concept session_source = requires(S& s, const http::request& request, instant now, std::string_view return_to) {
    // The session of this request, if any.
    { s.session_of(request, now) } -> std::same_as<result<std::optional<session>>>;
    // Where to send a user who is not signed in, so that they return to `return_to`, a path and query of this site.
    // Visible ASCII.
    { s.sign_in_url(return_to) } -> std::same_as<std::string>;
};

/// A submitted sign-in form and the client's address. Views: valid during the call.
struct sign_in_attempt {
    std::string_view login;
    std::string_view password;
    ip_address client;  ///< behind trusted proxies, the one they name
    bool is_known_browser = false;  ///< has signed in with this login before
};

/// The result of an attempt to sign in.
enum class sign_in_result : std::uint8_t {
    signed_in,
    refused,  ///< unknown login or wrong password; clients are not told which
    throttled,  ///< too many failures; the password was not checked
};

/// The result, with its session or waiting time.
struct sign_in_answer {
    sign_in_result result = sign_in_result::refused;
    std::optional<session> who;  ///< the new session, if signed in
    seconds retry_after{};  ///< if throttled: the time to wait; at least 1
};

/// A session source with sign-in and sign-out, for the built-in sign-in pages. `cookie_sessions` is one. If your site
/// has a sign-in page, a `session_source` is enough: its `sign_in_url` leads to that page.
///
/// Thread rule and errors: as for `session_source`. Blocking: `sign_in` computes a slow password hash, so it is called
/// on a worker thread, whatever `blocking` says.
template <class S>
concept sign_in_source = session_source<S> && requires(S& s, const http::request& request, const sign_in_attempt& attempt,
                                                       instant now, http::response& response) {
    // Checks the password, ends the session that the request came with, if any, and starts a new one, whose Set-Cookie
    // is added to `response`. Adds nothing unless the result is `signed_in`. The caller has checked that the form came
    // from this site.
    { s.sign_in(request, attempt, now, response) } -> std::same_as<result<sign_in_answer>>;
    // Ends the session that the request came with, if any, and clears the cookie.
    { s.sign_out(request, now, response) } -> std::same_as<result<void>>;
};

}  // namespace tollgate

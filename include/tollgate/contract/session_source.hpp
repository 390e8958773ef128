#pragma once

#include <tollgate/base/ids.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/session.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// Checks a login and its password. Only the sign-in page needs one; an integrator with a sign-in of their own has none.
///
/// Thread rule: callable from many threads at once. Blocking: yes in all likelihood; `static constexpr bool blocking = true`.
/// Errors: an `error` when it could not be found out (unavailable also when too many checks run already); nothing is thrown.
template <class P>
concept password_source = requires(P& p, std::string_view login, std::string_view password) {
    // Whose they are; none when they are nobody's. Takes as long for a login that does not exist as for a wrong password.
    { p.check_password(login, password) } -> std::same_as<result<std::optional<user_id>>>;
};

/// Tells which person a browser belongs to. An integrator whose site has sessions already answers from those;
/// `cookie_sessions` keeps its own.
///
/// Thread rule: callable from many threads at once. Blocking: allowed if it declares `static constexpr bool blocking = true`.
/// Errors: an `error`; nothing is thrown.
///
/// Exemplar:
///
///     struct site_sessions {
///         result<std::optional<session>> session_of(const http::request& asked, instant) {
///             const auto cookie = asked.fields.find(http::field_id::cookie);
///             if (cookie != "site=ann-is-here") return std::optional<session>{};
///             return std::optional{session{user_id{1}, "ann", std::string{cookie}}};
///         }
///         std::string sign_in_url(std::string_view return_to) const {
///             return "/login?next=" + percent_encode(return_to);
///         }
///     };
template <class S>
concept session_source = requires(S& s, const http::request& asked, instant now, std::string_view return_to) {
    // Who is signed in; none for nobody.
    { s.session_of(asked, now) } -> std::same_as<result<std::optional<session>>>;
    // Where to send a person who is not, so that they come back to `return_to`, a path and query of this site. Visible ASCII.
    { s.sign_in_url(return_to) } -> std::same_as<std::string>;
};

/// What a person typed into a sign-in form, and where they are. Views: valid during the call.
struct sign_in_attempt {
    std::string_view login;
    std::string_view password;
    ip_address client;  ///< behind trusted proxies, the one they name
};

enum class sign_in_result : std::uint8_t {
    signed_in,
    refused,    ///< no such login, or another password: which of the two is nobody's business
    throttled,  ///< too many failures before this one; nothing was looked at, a right password neither
};

/// What came of it.
struct sign_in_answer {
    sign_in_result result = sign_in_result::refused;
    std::optional<session> who;  ///< set exactly if signed in: the new session
    seconds retry_after{};       ///< if throttled: when it is worth another try; at least 1
};

/// A session source that lets people in and out by itself: what our sign-in pages need. `cookie_sessions` is one; an
/// integrator who has a sign-in page is none, and `sign_in_url` leads to that page.
///
/// Thread rule and errors: as for `session_source`. Blocking: `sign_in` takes long on purpose (a slow hash of the password),
/// so it is called on a thread that may wait, whatever `blocking` says.
template <class S>
concept sign_in_source = session_source<S> && requires(S& s, const http::request& asked, const sign_in_attempt& attempt,
                                                       instant now, http::response& out) {
    // Checks the password, ends the session that the request came with, if any, and begins a new one, whose Set-Cookie is
    // added to `out`. Adds nothing to `out` unless the result is `signed_in`. Whether the form came from our own page is the
    // caller's to check, before.
    { s.sign_in(asked, attempt, now, out) } -> std::same_as<result<sign_in_answer>>;
    // Ends the session that the request came with, if any, and tells the browser to forget it.
    { s.sign_out(asked, now, out) } -> std::same_as<result<void>>;
};

}  // namespace tollgate

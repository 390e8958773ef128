#pragma once

#include <tollgate/base/outcome.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/domain/session.hpp>
#include <tollgate/http/request.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate {

/// Tells which person a browser belongs to. An integrator whose site has sessions already answers from those;
/// `cookie_sessions` keeps its own.
///
/// Thread rule: callable from many threads at once. Blocking: allowed if it declares `static constexpr bool blocking = true`.
/// Errors: a `problem`; nothing is thrown.
///
/// Exemplar:
///
///     struct site_sessions {
///         outcome<std::optional<session>> session_of(const http::request& asked, instant) {
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
    { s.session_of(asked, now) } -> std::same_as<outcome<std::optional<session>>>;
    // Where to send a person who is not, so that they come back to `return_to`, a path and query of this site. Visible ASCII.
    { s.sign_in_url(return_to) } -> std::same_as<std::string>;
};

}  // namespace tollgate

#pragma once

#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/caller.hpp>

#include <concepts>
#include <optional>
#include <string_view>

namespace tollgate::inline v0 {

/// Tells who is calling from the Authorization field of one scheme (RFC 9110 section 11). An API has several, one a scheme.
///
/// `Store` is whatever the integrator gave the API; an authenticator that needs none of it takes it as `auto&`.
///
/// One that asks the store for nothing but the verbs of `credential_source` may say so,
/// `static constexpr bool only_finds_credentials = true`: it is then also asked over what a store remembers.
///
/// Exemplar:
///
///     struct guest_pass {
///         static constexpr std::string_view scheme = "Guest";
///         static constexpr std::string_view challenge = "Guest realm=\"api\"";
///         result<std::optional<caller>> identify(std::string_view credentials, auto&, instant) const {
///             if (credentials != "please") return std::optional<caller>{};
///             return std::optional{caller{user_id{1}, *scope_set::parse("user:balance"), credential_kind::other, {}}};
///         }
///     };
template <class A, class Store>
concept authenticator_over = requires(const A& a, std::string_view credentials, Store& store, instant now) {
    // The auth-scheme, compared without regard to case.
    { A::scheme } -> std::convertible_to<std::string_view>;
    // What `WWW-Authenticate` offers for it: visible ASCII, scheme first. A constant.
    { A::challenge } -> std::convertible_to<std::string_view>;
    // Who it is; none for credentials that let nobody in, of whatever form (a 401, never a 5xx). An `error` only when it
    // could not be found out, such as a store that is down. `credentials` is what follows the scheme and one or more
    // spaces. Called from many threads at once; compares secrets in constant time.
    { a.identify(credentials, store, now) } -> std::same_as<result<std::optional<caller>>>;
};

}  // namespace tollgate

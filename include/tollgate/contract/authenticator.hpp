#pragma once
#ifndef TOLLGATE_CONTRACT_AUTHENTICATOR_HPP
#define TOLLGATE_CONTRACT_AUTHENTICATOR_HPP

#include <tollgate/base/digest.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/detail/caller.hpp>
#include <tollgate/model/personal_token.hpp>

#include <concepts>
#include <optional>
#include <string_view>

namespace tollgate::inline v0 {

/// Authenticates the caller from the Authorization field of one scheme (RFC 9110 section 11). An API has one
/// authenticator per scheme.
///
/// `Store` is the integrator's store; an authenticator that does not use it takes it as `auto&`.
///
/// To read the credentials from another field, declare `static constexpr std::string_view field = "X-Api-Key";`. `credentials` is then the
/// value of that field, and `scheme` is only the beginning of the challenge. Each authenticator of this kind has its own field. A request
/// with credentials in two fields, or in two lines of one field, is a 400.
///
/// `identify` runs on a worker if the store blocks, or if the authenticator has `static constexpr bool blocking = true`. An authenticator
/// that only looks up a token may also be a `token_authenticator`: its requests are then answered without a worker if the credentials are
/// malformed or the token is cached.
///
/// Exemplar:
///
///     struct shared_password {
///         static constexpr std::string_view scheme = "Shared";
///         static constexpr std::string_view challenge = "Shared realm=\"api\"";
///         result<std::optional<caller>> identify(std::string_view credentials, auto&, instant) const {
///             if (!equal_in_constant_time(credentials, "please")) return std::optional<caller>{};
///             return std::optional{caller{user_id{1}, *scope_set::parse("user:balance"), credential_kind::other, {}}};
///         }
///     };
template <class A, class Store>
concept authenticator_over = requires(const A& a, std::string_view credentials, Store& store, instant now) {
    // The auth-scheme, compared case-insensitively.
    { A::scheme } -> std::convertible_to<std::string_view>;
    // The challenge in `WWW-Authenticate`: visible ASCII, scheme first. A constant.
    { A::challenge } -> std::convertible_to<std::string_view>;
    // The caller; empty for any unacceptable credentials (a 401, never a 5xx). An `error` only if the caller could not
    // be determined, for instance because a store is down. `credentials` is the text after the scheme and the spaces
    // that follow it, or the value of `field`. Called from many threads at once; must compare secrets in constant time.
    { a.identify(credentials, store, now) } -> std::same_as<result<std::optional<caller>>>;
};

/// A token that a request presents.
struct presented_token {
    credential_kind kind = credential_kind::personal_token;  ///< personal_token or access_token
    token_username username;                                 ///< of a personal token; used to find it in a `credential_source`
    digest secret_digest;                                    ///< of the secret; used to find an access token
};

/// An authenticator whose credentials are tokens of a `credential_source`, so that the code that calls it can do the
/// lookup. A token is accepted if the source has it with the same digest and it has not expired.
///
/// Exemplar: `basic_token`.
template <class A>
concept token_authenticator = requires(const A& a, std::string_view credentials, presented_token& into,
                                       const std::optional<instant>& last_used_at, instant now) {
    // Reads the token from the credentials into a new `presented_token`; false if they are malformed. Does not use a
    // store.
    { a.read(credentials, into) } -> std::same_as<bool>;
    // Whether this use of an accepted token should be recorded. If true, the code that calls this records it.
    { a.use_is_due(last_used_at, now) } noexcept -> std::same_as<bool>;
};

/// Decides whether a User-Agent is accepted. Operators use the User-Agent to contact a client's developer before they
/// block the client.
///
/// Exemplar:
///
///     struct any_agent {
///         bool accepts(std::string_view) const noexcept { return true; }
///     };
template <class A>
concept agent_rule = requires(const A& a, std::string_view user_agent) {
    // `user_agent` is the field value as sent, empty if missing; false is a 403. Called from many threads at once.
    { a.accepts(user_agent) } noexcept -> std::same_as<bool>;
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_AUTHENTICATOR_HPP

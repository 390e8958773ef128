#pragma once
#ifndef TOLLGATE_CONTRACT_TOKEN_STORE_HPP
#define TOLLGATE_CONTRACT_TOKEN_STORE_HPP

#include <tollgate/base/detail/lookup.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/personal_token.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// Looks up the credentials of requests. This is all that authentication needs of a store.
///
/// A store in the same database as the directory may return the owner's quota and balance with the credential
/// (`token_credential::owner`): the values that `quota_of` and `balance_of` would return, which are then not called. For a user that no
/// longer exists, the store returns no owner, so that the directory is called and reports this.
///
/// Thread rule: callable from many threads at once. Blocking: allowed if the store declares
/// `static constexpr bool blocking = true`. Errors: an `error` (unavailable, internal); never throws.
template <class S>
concept credential_source = requires(S& s, std::string_view username, const digest& token) {
    // The personal token with this username, compared byte for byte; empty if there is none or it was revoked. Clients may send any
    // username of 0 to 32 bytes; stored usernames are never empty.
    { s.find_personal_token(username) } -> std::same_as<result<std::optional<token_credential>>>;
    // The access token with this digest, expired or not; empty if there is none or it was revoked.
    { s.find_access_token(token) } -> std::same_as<result<std::optional<token_credential>>>;
};

/// A blocking store that caches credentials. Optional: requests that need nothing else are then answered on the I/O
/// thread. For `unknown`, `find_personal_token` or `find_access_token` is called on a worker.
///
/// Never blocks and never queries the store; called for every request with well-formed credentials.
template <class S>
concept credential_cache = credential_source<S> && requires(const S& s, std::string_view username, const digest& token) {
    // What `find_personal_token` would return now; unknown if that would need a query.
    { s.cached_personal_token(username) } noexcept -> std::same_as<lookup<token_credential>>;
    // The same for `find_access_token`.
    { s.cached_access_token(token) } noexcept -> std::same_as<lookup<token_credential>>;
};

/// Stores personal tokens. Every verb is atomic; its effect is as durable as the store when it
/// returns.
///
/// Exemplars: `memory_store`, `sqlite_store`, `postgres_store`. An adapter is correct if it passes `tollgate/testing/store_suite.hpp`.
template <class S>
concept token_store = credential_source<S> && requires(S& s, const new_personal_token& personal,
                                                       std::size_t tokens_per_user_max,
                                                       const personal_token_renewal& renewed, user_id user, token_id id) {
    // error_kind::conflict if the username is taken, invalid if the user already has `tokens_per_user_max`: counting
    // and creating is one step, so that parallel calls cannot exceed the bound.
    { s.create_personal_token(personal, tokens_per_user_max) } -> std::same_as<result<token_id>>;
    // The user's tokens, oldest first.
    { s.personal_tokens_of(user) } -> std::same_as<result<std::vector<personal_token>>>;
    // Replaces a token's secret, `created_at` and `expires_at`, and keeps its username, description, scopes and last use. Returns whether
    // the user has such a token, and its secret has the digest `renewed.replaced`, if that is not empty. The old secret is invalid as soon
    // as this returns.
    { s.renew_personal_token(user, id, renewed) } -> std::same_as<result<bool>>;
    // Revokes a token, which is invalid as soon as this returns; returns whether there was one.
    { s.revoke_personal_token(id) } -> std::same_as<result<bool>>;
};

/// Stores access tokens that code of your own issues. Optional: those of OAuth 2.0 are created and revoked by the verbs of `oauth_store`.
template <class S>
concept access_token_store = credential_source<S> && requires(S& s, const new_access_token& created, const digest& token) {
    // error_kind::conflict if the digest exists; too_many_requests, with `retry_at`, if the application has as many valid tokens of a user
    // as the store keeps. No valid token is deleted instead.
    { s.create_access_token(created) } -> std::same_as<result<void>>;
    // Returns whether there was such a token.
    { s.revoke_access_token(token) } -> std::same_as<result<bool>>;
};

/// Records when a credential was last used, for its owner to see. Optional.
///
/// Called about once an hour for one credential and about once a second in total, so each call may write to disk. An
/// error does not affect the request.
template <class S>
concept use_recorder = requires(S& s, std::string_view username, const digest& token, instant now, std::string_view from) {
    // Sets the token's `last_used_at` and `last_used_from`, a network such as 203.0.113.0/24, or empty. Not an error if
    // there is no such token.
    { s.record_personal_token_use(username, now, from) } -> std::same_as<result<void>>;
    // The same, and the `last_used_at` of the grant that the token belongs to, if any.
    { s.record_access_token_use(token, now) } -> std::same_as<result<void>>;
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_TOKEN_STORE_HPP

#pragma once
#ifndef TOLLGATE_ACCOUNT_ISSUE_PERSONAL_TOKEN_HPP
#define TOLLGATE_ACCOUNT_ISSUE_PERSONAL_TOKEN_HPP

#include <tollgate/account/new_secret.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/contract/token_store.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace tollgate::inline v0 {

/// The properties of a token to create.
struct personal_token_request {
    user_id user;
    std::string description;  ///< may be empty; a visible line of at most `limits::token_description_bytes_max` bytes
    scope_set scopes;
    std::optional<instant> expires_at = {};  ///< empty: valid until revoked; a time in the past is not refused
};

/// A new personal token. No other function returns its secret; the store keeps only a digest.
struct issued_personal_token {
    token_id id;
    public_id username;
    secret_text secret;
    std::string description = {};

    /// Returns the value of `Authorization` in a request with this token: `Basic` credentials (RFC 7617).
    [[nodiscard]] std::string authorization() const {
        return "Basic " + detail::base64_encode(std::string{username.view()}.append(":").append(secret.view()));
    }
};

namespace detail {

/// Does what `issue_personal_token` does, with a given username and secret. error_kind::conflict if the username is taken.
template <token_store Store>
[[nodiscard]] result<issued_personal_token> issue_personal_token_as(Store& store, personal_token_request request, instant now,
                                                                    const public_id& username, const secret_text& secret,
                                                                    std::size_t tokens_per_user_max) {
    if (!request.description.empty() && !detail::is_visible_line(request.description, limits::token_description_bytes_max))
        return invalid("description must be a line of at most " + std::to_string(limits::token_description_bytes_max) +
                       " bytes without control or invisible characters.");
    const auto id = store.create_personal_token({.user = request.user,
                                                 .username = username,
                                                 .secret_digest = digest_of(secret),
                                                 .description = request.description,
                                                 .scopes = request.scopes,
                                                 .created_at = now,
                                                 .expires_at = request.expires_at},
                                                tokens_per_user_max);
    if (!id) return id.error();
    return issued_personal_token{*id, username, secret, std::move(request.description)};
}

}  // namespace detail

/// Creates a token that `basic_token` accepts from now on, and returns it with its secret. The calling code must check that the scopes
/// exist.
///
/// Errors: invalid for a description over `limits::token_description_bytes_max` or with control or invisible characters, and if the user
/// has `tokens_per_user_max` tokens; internal if the random source fails; and the errors of the store's `create_personal_token`. Any thread
/// may call it. It blocks as the store does.
template <token_store Store, random_source Random = system_random>
[[nodiscard]] result<issued_personal_token> issue_personal_token(
    Store& store, personal_token_request request, instant now, const Random& random = {},
    std::size_t tokens_per_user_max = limits::personal_tokens_per_user_max) {
    const auto username = new_public_id(public_id_kind::username, random);
    const auto secret = new_secret(secret_kind::personal_token, random);
    if (!username || !secret) return random_source_error();
    return detail::issue_personal_token_as(store, std::move(request), now, *username, *secret, tokens_per_user_max);
}

namespace detail {

/// Returns when a token expires that is renewed at `now` and is valid for the time from `created_at` to `expires_at`; at most
/// instant::max().
[[nodiscard]] constexpr instant renewed_expiry(instant created_at, instant expires_at, instant now) noexcept {
    const milliseconds later = now - created_at;
    constexpr milliseconds none{0};
    return (std::clamp)(expires_at, (instant::min)() - (std::min)(later, none), (instant::max)() - (std::max)(later, none)) + later;
}

/// Returns the renewal of this token with a new secret, which is valid for the same length of time as before.
[[nodiscard]] constexpr personal_token_renewal renewal_of(const personal_token& token, const digest& secret, instant now) noexcept {
    personal_token_renewal renewed{secret, now, {}, {}};
    if (token.expires_at) renewed.expires_at = renewed_expiry(token.created_at, *token.expires_at, now);
    return renewed;
}

}  // namespace detail

/// Creates a new secret for a token of this user and returns the token with it, or an empty optional if the user has no such token. The
/// token is then valid for the same length of time as when it was created, or until instant::max() if that comes first.
///
/// Errors: internal if the random source fails, and the errors of the store's `personal_tokens_of` and `renew_personal_token`. Any thread
/// may call it. It blocks as the store does.
template <token_store Store, random_source Random = system_random>
[[nodiscard]] result<std::optional<issued_personal_token>> renew_personal_token(Store& store, user_id user, token_id id,
                                                                                instant now, const Random& random = {}) {
    const auto tokens = store.personal_tokens_of(user);
    if (!tokens) return tokens.error();
    for (const personal_token& each : *tokens) {
        if (each.id != id) continue;
        const auto secret = new_secret(secret_kind::personal_token, random);
        if (!secret) return random_source_error();
        const auto done = store.renew_personal_token(user, id, detail::renewal_of(each, digest_of(*secret), now));
        if (!done) return done.error();
        if (!*done) break;
        return std::optional{issued_personal_token{id, each.username, *secret, each.description}};
    }
    return std::optional<issued_personal_token>{};
}

}  // namespace tollgate

#endif  // TOLLGATE_ACCOUNT_ISSUE_PERSONAL_TOKEN_HPP

#pragma once

#include <tollgate/base/outcome.hpp>
#include <tollgate/domain/personal_token.hpp>

#include <concepts>
#include <optional>
#include <string_view>
#include <vector>

namespace tollgate {

/// Reads the credentials that requests carry: all that identification needs of a store.
///
/// Thread rule: callable from many threads at once. Blocking: allowed if the store declares
/// `static constexpr bool blocking = true`. Errors: a `problem` (unavailable, internal); nothing is thrown.
template <class S>
concept credential_source = requires(S& s, std::string_view username, const digest& token) {
    // The personal token of this username, as it stands now; none when there is none or it was revoked.
    { s.find_personal_token(username) } -> std::same_as<outcome<std::optional<token_credential>>>;
    // The access token of this digest, expired or not; none when there is none or it was revoked.
    { s.find_access_token(token) } -> std::same_as<outcome<std::optional<token_credential>>>;
};

/// Keeps personal tokens and access tokens. Every verb is one atomic intent, and durable (as far as the store is) when it
/// returns.
///
/// Exemplar: `memory_store`, `sqlite_store`. An adapter of one's own is right when it passes
/// `tollgate/store/suite.hpp`.
template <class S>
concept token_store = credential_source<S> && requires(S& s, const new_personal_token& personal, const new_access_token& access,
                                                       user_id user, token_id id, const digest& token) {
    // problem_kind::conflict when the username is taken.
    { s.create_personal_token(personal) } -> std::same_as<outcome<token_id>>;
    // The user's tokens, oldest first.
    { s.personal_tokens_of(user) } -> std::same_as<outcome<std::vector<personal_token>>>;
    // Whether there was such a token; it lets nobody in from the moment this returns.
    { s.revoke_personal_token(id) } -> std::same_as<outcome<bool>>;
    // problem_kind::conflict when the digest is there already.
    { s.create_access_token(access) } -> std::same_as<outcome<void>>;
    // Whether there was such a token.
    { s.revoke_access_token(token) } -> std::same_as<outcome<bool>>;
};

}  // namespace tollgate

#pragma once

#include <tollgate/base/detail/lookup.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/personal_token.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// Reads the credentials that requests carry: all that identification needs of a store.
///
/// A store that lives beside the directory, in one database, may tell the owner's quota along with the credential
/// (`token_credential::owner_quota`): what `quota_of` would say at that moment, which is then not asked. Of a user who is
/// gone it tells nothing, so that the directory is asked and says so.
///
/// Thread rule: callable from many threads at once. Blocking: allowed if the store declares
/// `static constexpr bool blocking = true`. Errors: an `error` (unavailable, internal); nothing is thrown.
template <class S>
concept credential_source = requires(S& s, std::string_view username, const digest& token) {
    // The personal token of this username, as it stands now; none when there is none or it was revoked.
    { s.find_personal_token(username) } -> std::same_as<result<std::optional<token_credential>>>;
    // The access token of this digest, expired or not; none when there is none or it was revoked.
    { s.find_access_token(token) } -> std::same_as<result<std::optional<token_credential>>>;
};

/// A blocking store that caches credentials. Optional: a request that needs nothing else is then answered on the thread that read
/// it. Where the answer is `unknown`, the store is asked by `find_personal_token` or `find_access_token` on a worker.
///
/// Never blocks and never asks the store; called for every request with well-formed credentials.
template <class S>
concept credential_cache = credential_source<S> && requires(const S& s, std::string_view username, const digest& token) {
    // What `find_personal_token` would return now; unknown if the store would have to be asked.
    { s.cached_personal_token(username) } noexcept -> std::same_as<lookup<token_credential>>;
    // The same of `find_access_token`.
    { s.cached_access_token(token) } noexcept -> std::same_as<lookup<token_credential>>;
};

/// Keeps personal tokens and access tokens. Every verb is one atomic intent, and durable (as far as the store is) when it
/// returns.
///
/// Exemplar: `memory_store`, `sqlite_store`. An adapter of one's own is right when it passes
/// `tollgate/testing/store_suite.hpp`.
template <class S>
concept token_store = credential_source<S> && requires(S& s, const new_personal_token& personal,
                                                       std::size_t tokens_per_user_max, const new_access_token& access,
                                                       user_id user, token_id id, const digest& token) {
    // error_kind::conflict when the username is taken, invalid when the user has `tokens_per_user_max` already: counted
    // and created in one step, so that parallel calls cannot pass the bound.
    { s.create_personal_token(personal, tokens_per_user_max) } -> std::same_as<result<token_id>>;
    // The user's tokens, oldest first.
    { s.personal_tokens_of(user) } -> std::same_as<result<std::vector<personal_token>>>;
    // Whether there was such a token; it lets nobody in from the moment this returns.
    { s.revoke_personal_token(id) } -> std::same_as<result<bool>>;
    // error_kind::conflict when the digest is there already.
    { s.create_access_token(access) } -> std::same_as<result<void>>;
    // Whether there was such a token.
    { s.revoke_access_token(token) } -> std::same_as<result<bool>>;
};

/// Keeps when a credential was used last, for its owner to see. Nobody has to: a store without these two is whole.
///
/// Called for one credential once an hour and in all about once a second, so each may be a write to a disk. A problem is
/// nobody's business but the store's: the request goes on.
template <class S>
concept use_recorder = requires(S& s, std::string_view username, const digest& token, instant now) {
    // From now on this is the token's `last_used_at`, in lists, too. No problem when there is no such token.
    { s.record_personal_token_use(username, now) } -> std::same_as<result<void>>;
    // The same, and the `last_used_at` of the grant that the token belongs to, if it does to one.
    { s.record_access_token_use(token, now) } -> std::same_as<result<void>>;
};

}  // namespace tollgate

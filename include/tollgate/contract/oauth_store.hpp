#pragma once

#include <tollgate/base/result.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/model/grant.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// Keeps OAuth applications.
///
/// Thread rule, here and below: callable from many threads at once. Blocking: allowed if the store declares
/// `static constexpr bool blocking = true`. Errors: an `error`; nothing is thrown. Every verb is one atomic intent, and
/// durable (as far as the store is) when it returns.
template <class S>
concept application_store = requires(S& s, const new_application& made, std::string_view client_id, user_id owner,
                                     application_id id, const digest& secret, std::size_t applications_per_user_max) {
    // error_kind::conflict when the client_id is taken, invalid when the owner has `applications_per_user_max` already.
    { s.create_application(made, applications_per_user_max) } -> std::same_as<result<application_id>>;
    // None when there is none of this client_id.
    { s.find_application(client_id) } -> std::same_as<result<std::optional<application>>>;
    // The owner's, oldest first.
    { s.applications_of(owner) } -> std::same_as<result<std::vector<application>>>;
    // Whether the owner has such an application; the old secret is worth nothing from the moment this returns.
    { s.replace_client_secret(owner, id, secret) } -> std::same_as<result<bool>>;
    // Whether the owner had such an application. Its codes, grants, access and refresh tokens go with it.
    { s.delete_application(owner, id) } -> std::same_as<result<bool>>;
};

/// Keeps what users let applications do, and the codes and tokens made of it. What expires at a moment is not good at that
/// moment any more.
///
/// One user and one application cannot fill a store: of more codes, refresh or access tokens than `limits::codes_per_grant_max`
/// and its like, the oldest (of refresh tokens, the one unused for the longest time) may go, and in ours do.
template <class S>
concept grant_store = requires(S& s, const new_authorization_code& code, const code_redemption& redemption,
                               const token_refresh& refresh, const digest& token, user_id user, application_id application,
                               const scope_set& scopes, instant now, std::size_t rows_max) {
    // What this user granted this application before; none when nothing, or when it was revoked.
    { s.granted_scopes(user, application) } -> std::same_as<result<std::optional<scope_set>>>;
    // Keeps the code, and adds its scopes to what the user has granted the application: one step. Nothing changes for a
    // digest that is there already, nor where a code is `only_if_granted` and would add a scope: a revocation in the same
    // moment is not undone. error_kind::not_found when there is no such application (any more), invalid when the user's
    // scopes would be more than a scope_set holds.
    { s.create_code(code) } -> std::same_as<result<code_result>>;
    // Redeems a code once: of N calls at the same time, from any number of threads and processes, exactly one is `redeemed`,
    // and its tokens exist when it returns. A failure leaves the code as it was. A code is remembered after its redemption
    // for `limits::spent_code_seconds` longer than it would have been good, so that reuse is seen. Reuse by its application
    // revokes the refresh token made from it, and the access tokens made from either. error_kind::conflict when one of the
    // new digests is there already.
    { s.redeem_code(redemption) } -> std::same_as<result<redeemed_code>>;
    // A new access token out of a refresh token, which stays good: in parallel, too. error_kind::conflict when the access
    // token's digest is there already.
    { s.refresh_access_token(refresh) } -> std::same_as<result<refreshed_token>>;
    // RFC 7009: an access or refresh token of this application. A refresh token takes along the access tokens that were made
    // with it. Whether there was such a token is nobody's business.
    { s.revoke_oauth_token(application, token) } -> std::same_as<result<void>>;
    // What a user let applications do, oldest first.
    { s.grants_of(user) } -> std::same_as<result<std::vector<grant>>>;
    // Whether there was such a grant. Codes, access and refresh tokens of this user and application go with it.
    { s.revoke_grant(user, application) } -> std::same_as<result<bool>>;
    // Forgets codes and tokens that are of no use at `now` any more, at most `rows_max`; how many they were.
    { s.sweep_expired(now, rows_max) } -> std::same_as<result<std::size_t>>;
};

/// Exemplar: `memory_store`, `sqlite_store`. An adapter of one's own is right when it passes
/// `tollgate/testing/store_suite.hpp`.
template <class S>
concept oauth_store = application_store<S> && grant_store<S>;

}  // namespace tollgate

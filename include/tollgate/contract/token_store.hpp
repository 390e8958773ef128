#pragma once
#ifndef TOLLGATE_CONTRACT_TOKEN_STORE_HPP
#define TOLLGATE_CONTRACT_TOKEN_STORE_HPP

#include <tollgate/base/lookup.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/detail/reference.hpp>
#include <tollgate/model/personal_token.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// Looks up the credentials of requests. This is all that authentication needs of a store.
///
/// A store in the same database as the directory may return the owner's quota and balance with the credential (`token_credential::owner`).
/// The library then uses them instead of calling `quota_of` and `balance_of`. For a user that no longer exists, the store returns no owner,
/// so that the library calls the directory, which reports this.
///
/// Thread rule: callable from many threads at once. Blocking: allowed. A store that does not block declares
/// `static constexpr bool blocking = false`; see `may_block`. Errors: an `error` (unavailable, internal); nothing is thrown.
template <class S>
concept credential_source = requires(S& s, const credential_key& key) {
    // Returns the credential with this key, or an empty optional if there is none or it was revoked: the personal token with this username,
    // compared byte for byte, or the access token with this digest, expired or not. Clients may send any username of 0 to 32 bytes; stored
    // usernames are never empty. A store without access tokens finds none.
    { s.find_credential(key) } -> std::same_as<result<std::optional<token_credential>>>;
};

/// A blocking store that caches credentials. Optional: requests that need nothing else are then answered on the I/O thread. For `unknown`,
/// the library calls `find_credential` on a worker.
///
/// The function never blocks and never queries the store. It is called for every request with well-formed credentials.
template <class S>
concept credential_cache = credential_source<S> && requires(const S& s, const credential_key& key) {
    // Returns the present result of `find_credential`; unknown if that needs a query.
    { s.cached_credential(key) } noexcept -> std::same_as<lookup<token_credential>>;
};

/// Stores personal tokens. Every verb is atomic. When it returns, its effect is as durable as the store.
///
/// A call that failed may have had its effect, for instance if a connection ended before its result arrived. So a verb that is called again
/// with the same digests, and has had its effect, returns the result of the first call. This holds for all contracts of a store.
///
/// Exemplars: `memory_store`, `sqlite_store`, `postgres_store`. An adapter is correct if it passes `tollgate/testing/store_suite.hpp`.
template <class S>
concept token_store = credential_source<S> && requires(S& s, const new_personal_token& created, std::size_t tokens_per_user_max,
                                                       const personal_token_renewal& renewed, user_id user, token_id id,
                                                       const revocation& revoked) {
    // Creates a token with a new id. error_kind::conflict if the username is taken (by another token than the same user's with the same
    // secret), invalid if the user already has `tokens_per_user_max` tokens: counting and creating is one step, so that parallel calls
    // cannot exceed the bound.
    { s.create_personal_token(created, tokens_per_user_max) } -> std::same_as<result<token_id>>;
    // Returns the user's tokens, oldest first.
    { s.personal_tokens_of(user) } -> std::same_as<result<std::vector<personal_token>>>;
    // Replaces a token's secret, `created_at` and `expires_at`, and keeps its username, description, scopes and last use. Returns true if
    // the user has such a token and, unless `renewed.replaced` is empty, its secret has the digest `renewed.replaced`, or already the new
    // digest. The old secret is invalid as soon as the call returns.
    { s.renew_personal_token(user, id, renewed) } -> std::same_as<result<bool>>;
    // Revokes a personal token, which is invalid as soon as the call returns. Returns true if there was such a token. A store returns false
    // for kinds of tokens that it does not keep.
    { s.revoke(revoked) } -> std::same_as<result<bool>>;
};

/// Stores access tokens. A part of `grant_store`; together with `credential_source`, it is enough for access tokens that your own code
/// issues.
template <class S>
concept access_token_store = requires(S& s, const new_access_token& created, const revocation& revoked) {
    // Creates a token. Returns true if it was created; false only for a token `for_owner` to which the application has no right.
    // error_kind::conflict if the digest exists (for another token than the same user's and application's); too_many_requests, with
    // `retry_at`, if the application has as many valid tokens of a user as the store keeps. The store deletes no valid token instead.
    { s.create_access_token(created) } -> std::same_as<result<bool>>;
    // Revokes tokens, which are invalid as soon as the call returns. Returns true if there was a token or a grant to revoke.
    { s.revoke(revoked) } -> std::same_as<result<bool>>;
};

/// Records when a credential was last used, for the display to its owner. Optional.
///
/// The library calls the function about once an hour for a credential and about once a second in total, so each call may write to disk. An
/// error does not affect the request.
template <class S>
concept use_recorder = requires(S& s, const credential_key& key, instant now, std::string_view from) {
    // Sets `last_used_at` of a token, and of the grant that an access token belongs to, if any. Sets `last_used_from` of a personal token
    // to `from`, a network such as 203.0.113.0/24, or empty. Succeeds if there is no such token.
    { s.record_use(key, now, from) } -> std::same_as<result<void>>;
};

namespace detail {

struct credential_source_calls {
    result<std::optional<token_credential>> (*find_credential)(void*, const credential_key&);
    lookup<token_credential> (*cached_credential)(void*, const credential_key&) noexcept;  // null if the store caches no credentials
    result<void> (*record_use)(void*, const credential_key&, instant, std::string_view);   // null if the store records no uses
};

template <class S>
struct calls_of_credential_source {
    static result<std::optional<token_credential>> find_credential(void* object, const credential_key& key) {
        return object_at<S>(object).find_credential(key);
    }
    static lookup<token_credential> cached_credential(void* object, const credential_key& key) noexcept {
        return object_at<S>(object).cached_credential(key);
    }
    static result<void> record_use(void* object, const credential_key& key, instant now, std::string_view from) {
        return object_at<S>(object).record_use(key, now, from);
    }

    static consteval credential_source_calls make_table() {
        credential_source_calls calls{&find_credential, nullptr, nullptr};
        if constexpr (credential_cache<S>) calls.cached_credential = &cached_credential;
        if constexpr (use_recorder<S>) calls.record_use = &record_use;
        return calls;
    }
    static constexpr credential_source_calls table = make_table();
};

struct token_store_calls {
    result<token_id> (*create_personal_token)(void*, const new_personal_token&, std::size_t);
    result<std::vector<personal_token>> (*personal_tokens_of)(void*, user_id);
    result<bool> (*renew_personal_token)(void*, user_id, token_id, const personal_token_renewal&);
    result<bool> (*revoke)(void*, const revocation&);
};

template <class S>
struct calls_of_token_store {
    static result<token_id> create_personal_token(void* object, const new_personal_token& created, std::size_t tokens_per_user_max) {
        return object_at<S>(object).create_personal_token(created, tokens_per_user_max);
    }
    static result<std::vector<personal_token>> personal_tokens_of(void* object, user_id user) {
        return object_at<S>(object).personal_tokens_of(user);
    }
    static result<bool> renew_personal_token(void* object, user_id user, token_id id, const personal_token_renewal& renewed) {
        return object_at<S>(object).renew_personal_token(user, id, renewed);
    }
    static result<bool> revoke(void* object, const revocation& revoked) { return object_at<S>(object).revoke(revoked); }

    static constexpr token_store_calls table{&create_personal_token, &personal_tokens_of, &renew_personal_token, &revoke};
};

}  // namespace detail

/// A reference to a `credential_source` of any class, or to no object. The object must outlive the reference. The contract states the
/// thread rule and the errors.
class credential_source_ref : public detail::reference<detail::credential_source_calls> {
public:
    credential_source_ref() noexcept = default;
    /// Constructs a reference to `store`.
    template <class S>
        requires detail::is_erasable<S, credential_source_ref>
    credential_source_ref(S& store) noexcept {
        static_assert(credential_source<S>, "tollgate: this does not satisfy credential_source; read tollgate/contract/token_store.hpp");
        if constexpr (credential_source<S>) {
            // Only public members: a store may inherit another store privately, and make only some of its members public.
            if constexpr (requires { &S::cached_credential; })
                static_assert(credential_cache<S>, "tollgate: a member named cached_credential exists, but this does not satisfy "
                                                   "credential_cache; read tollgate/contract/token_store.hpp");
            if constexpr (requires { &S::record_use; })
                static_assert(use_recorder<S>, "tollgate: a member named record_use exists, but this does not satisfy use_recorder; "
                                               "read tollgate/contract/token_store.hpp");
            refer_to(store, detail::calls_of_credential_source<S>::table);
        }
    }

    /// Calls the object's function of this name; see `credential_source`.
    [[nodiscard]] result<std::optional<token_credential>> find_credential(const credential_key& key) const {
        return calls_->find_credential(object_, key);
    }

    /// Calls the object's function of this name; see `credential_cache`. Returns `unknown` if the store is not a `credential_cache`.
    [[nodiscard]] lookup<token_credential> cached_credential(const credential_key& key) const noexcept {
        if (calls_->cached_credential == nullptr) return lookup<token_credential>::unknown();
        return calls_->cached_credential(object_, key);
    }

    /// Returns true if the object is a `use_recorder`.
    [[nodiscard]] bool records_uses() const noexcept { return calls_->record_use != nullptr; }
    /// Calls the object's function of this name; see `use_recorder`. Precondition: records_uses().
    [[nodiscard]] result<void> record_use(const credential_key& key, instant now, std::string_view from) const {
        return calls_->record_use(object_, key, now, from);
    }
};

/// A reference to a `token_store` of any class, or to no object. The object must outlive the reference. The contract states the thread
/// rule and the errors.
class token_store_ref : public detail::reference<detail::token_store_calls> {
public:
    token_store_ref() noexcept = default;
    /// Constructs a reference to `store`.
    template <class S>
        requires detail::is_erasable<S, token_store_ref>
    token_store_ref(S& store) noexcept {
        static_assert(token_store<S>, "tollgate: this does not satisfy token_store; read tollgate/contract/token_store.hpp");
        if constexpr (token_store<S>) refer_to(store, detail::calls_of_token_store<S>::table);
    }

    /// Each calls the object's function of this name; see `token_store`.
    [[nodiscard]] result<token_id> create_personal_token(const new_personal_token& created, std::size_t tokens_per_user_max) const {
        return calls_->create_personal_token(object_, created, tokens_per_user_max);
    }
    [[nodiscard]] result<std::vector<personal_token>> personal_tokens_of(user_id user) const {
        return calls_->personal_tokens_of(object_, user);
    }
    [[nodiscard]] result<bool> renew_personal_token(user_id user, token_id id, const personal_token_renewal& renewed) const {
        return calls_->renew_personal_token(object_, user, id, renewed);
    }
    [[nodiscard]] result<bool> revoke(const revocation& revoked) const { return calls_->revoke(object_, revoked); }
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_TOKEN_STORE_HPP

#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_CREDENTIALS_HPP
#define TOLLGATE_TESTING_DETAIL_CREDENTIALS_HPP

#include <tollgate/contract/token_store.hpp>
#include <tollgate/testing/detail/expect.hpp>

#include <optional>
#include <source_location>
#include <string_view>

/// Lookups of the credentials of requests, in the store and in its cache.
namespace tollgate::inline v0::testing::detail {

/// Requires that a cache that answers returns what the store returns. When a credential was last used may lag behind.
inline void expect_cached(const lookup<token_credential>& cached, const std::optional<token_credential>& stored,
                          const std::source_location& at) {
    if (cached.is_unknown()) return;
    const auto& found = cached.found();
    if (found.has_value() != stored.has_value())
        fail(found ? "the cache must not return a token that the store does not find" : "the cache must not hide a token of the store", at);
    expect(!found || (found->user == stored->user && found->secret_digest == stored->secret_digest && found->scopes == stored->scopes &&
                      found->expires_at == stored->expires_at && found->application == stored->application),
           "a cached token must be the one that the store finds", at);
}

/// What the store finds, which its cache must return before and after it, too.
template <class Store>
std::optional<token_credential> looked_up(Store& store, const credential_key& key, const std::source_location& at) {
    if constexpr (credential_cache<Store>) {
        const auto before = store.cached_credential(key);
        auto found = value_of(store.find_credential(key), at);
        expect_cached(before, found, at);
        expect_cached(store.cached_credential(key), found, at);
        return found;
    } else {
        return value_of(store.find_credential(key), at);
    }
}

template <class Store>
void expect_token_found(Store& store, const new_access_token& token,
                        const std::source_location& at = std::source_location::current()) {
    const auto found = looked_up(store, access_token_key{token.token_digest}, at);
    expect(found.has_value(), "an access token that was created is found", at);
    expect(found->user == token.user, "a found token has its user", at);
    expect(found->secret_digest == token.token_digest, "a found token has its digest", at);
    expect(found->scopes == token.scopes, "a found token has its scopes, in their order", at);
    expect(found->expires_at == token.expires_at, "a found token has its expiry, to the millisecond", at);
    expect(found->application == token.application, "a found token has its application", at);
}

}  // namespace tollgate::testing::detail

#endif  // TOLLGATE_TESTING_DETAIL_CREDENTIALS_HPP

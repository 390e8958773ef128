#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/store/detail/cache_invalidation_feed.hpp>
#include <tollgate/store/detail/postgres/credential_lookup.hpp>
#include <tollgate/store/detail/postgres/pool.hpp>
#include <tollgate/store/detail/row_cache.hpp>

#include <cstddef>
#include <optional>

namespace tollgate::inline v0::postgres {

/// The access-token verbs of `token_store`, on PostgreSQL. Each is one round trip; none where a credential is
/// remembered.
class access_tokens {
public:
    access_tokens(pool& connections, const credential_lookup& lookup, cache_invalidation_feed& changes,
                  std::size_t cached_max)
        : connections_{connections}, lookup_{lookup}, changes_{changes}, credentials_{changes, cached_max} {}

    TOLLGATE_DECL result<std::optional<token_credential>> find(const digest& token);
    [[nodiscard]] lookup<token_credential> cached(const digest& token) const noexcept {
        return credentials_.cached(token);
    }
    TOLLGATE_DECL result<void> create(const new_access_token& made);
    TOLLGATE_DECL result<bool> revoke(const digest& token);
    /// Also of its grant. Waits for no connection for long, and for no disk: a request does.
    TOLLGATE_DECL result<void> record_use(const digest& token, instant now);

private:
    TOLLGATE_DECL result<std::optional<token_credential>> read(const digest& token);

    pool& connections_;
    const credential_lookup& lookup_;
    cache_invalidation_feed& changes_;
    row_cache<digest, token_credential, cache_invalidation_feed> credentials_;
};

/// To be called when a verb that takes tokens away has failed: perhaps it did so all the same.
TOLLGATE_DECL error forget_all_after(error why, cache_invalidation_feed& changes) noexcept;

/// Forgets those access tokens that the user and the application of this one have too many of; nothing where there is
/// no such token. The message of a conflict is for all verbs that make one.
TOLLGATE_DECL void trim_access_tokens(batch& in, const digest& newest);
[[nodiscard]] TOLLGATE_DECL error token_exists(error why);

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/access_tokens.ipp>
#endif

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
#include <string_view>
#include <vector>

namespace tollgate::inline v0::postgres {

/// The personal-token verbs of `token_store`, on PostgreSQL. Each is one round trip; none where a credential is
/// remembered.
class personal_tokens {
public:
    personal_tokens(pool& connections, const credential_lookup& lookup, cache_invalidation_feed& changes,
                    std::size_t cached_max)
        : connections_{connections}, lookup_{lookup}, changes_{changes}, credentials_{changes, cached_max} {}

    TOLLGATE_DECL result<std::optional<token_credential>> find(std::string_view username);
    TOLLGATE_DECL lookup<token_credential> cached(std::string_view username) const noexcept;
    TOLLGATE_DECL result<token_id> create(const new_personal_token& made, std::size_t tokens_per_user_max);
    TOLLGATE_DECL result<std::vector<personal_token>> of(user_id user);
    TOLLGATE_DECL result<bool> revoke(token_id id);
    /// Waits for no connection for long, and for no disk: a request does.
    TOLLGATE_DECL result<void> record_use(std::string_view username, instant now);

private:
    TOLLGATE_DECL result<std::optional<token_credential>> read(const token_username& username);

    pool& connections_;
    const credential_lookup& lookup_;
    cache_invalidation_feed& changes_;
    row_cache<token_username, token_credential, cache_invalidation_feed> credentials_;
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/personal_tokens.ipp>
#endif

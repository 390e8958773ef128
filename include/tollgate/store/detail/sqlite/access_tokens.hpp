#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/store/detail/sqlite/pool.hpp>
#include <tollgate/store/detail/sqlite/row_cache.hpp>

#include <cstddef>
#include <optional>

namespace tollgate::inline v0::sqlite {

/// The access-token verbs of `token_store`, on SQLite.
class access_tokens {
public:
    access_tokens(pool& connections, std::size_t cached_max)
        : connections_{connections}, credentials_{connections.changes(), cached_max} {}

    TOLLGATE_DECL result<std::optional<token_credential>> find(const digest& token);
    [[nodiscard]] lookup<token_credential> cached(const digest& token) const noexcept {
        return credentials_.cached(token);
    }
    TOLLGATE_DECL result<void> create(const new_access_token& made);
    TOLLGATE_DECL result<bool> revoke(const digest& token);
    /// Also of its grant. Waits for nobody for long: a request does.
    TOLLGATE_DECL result<void> record_use(const digest& token, instant now);

private:
    TOLLGATE_DECL result<std::optional<token_credential>> read(const digest& token);

    pool& connections_;
    row_cache<digest, token_credential> credentials_;
};

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/access_tokens.ipp>
#endif

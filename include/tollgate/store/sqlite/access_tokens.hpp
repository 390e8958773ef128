#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/outcome.hpp>
#include <tollgate/domain/personal_token.hpp>
#include <tollgate/store/sqlite/pool.hpp>
#include <tollgate/store/sqlite/row_cache.hpp>

#include <cstddef>
#include <optional>

namespace tollgate::sqlite {

/// The access-token verbs of `token_store`, on SQLite.
class access_tokens {
public:
    access_tokens(pool& connections, std::size_t cached_max)
        : connections_{connections}, credentials_{connections.changes(), cached_max} {}

    TOLLGATE_DECL outcome<std::optional<token_credential>> find(const digest& token);
    [[nodiscard]] std::optional<std::optional<token_credential>> recall(const digest& token) const noexcept {
        return credentials_.recall(token);
    }
    TOLLGATE_DECL outcome<void> create(const new_access_token& made);
    TOLLGATE_DECL outcome<bool> revoke(const digest& token);
    /// Also of its grant. Waits for nobody for long: a request does.
    TOLLGATE_DECL outcome<void> record_use(const digest& token, instant now);

private:
    TOLLGATE_DECL outcome<std::optional<token_credential>> read(const digest& token);

    pool& connections_;
    row_cache<digest, token_credential> credentials_;
};

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/sqlite/access_tokens.ipp>
#endif

#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/store/detail/sqlite/pool.hpp>
#include <tollgate/store/detail/sqlite/row_cache.hpp>

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::sqlite {

/// The personal-token verbs of `token_store`, on SQLite.
class personal_tokens {
public:
    personal_tokens(pool& connections, std::size_t cached_max)
        : connections_{connections}, credentials_{connections.changes(), cached_max} {}

    TOLLGATE_DECL result<std::optional<token_credential>> find(std::string_view username);
    TOLLGATE_DECL lookup<token_credential> cached(std::string_view username) const noexcept;
    TOLLGATE_DECL result<token_id> create(const new_personal_token& made, std::size_t tokens_per_user_max);
    TOLLGATE_DECL result<std::vector<personal_token>> of(user_id user);
    TOLLGATE_DECL result<bool> revoke(token_id id);
    /// Waits for nobody for long: a request does.
    TOLLGATE_DECL result<void> record_use(std::string_view username, instant now);

private:
    TOLLGATE_DECL result<std::optional<token_credential>> read(const token_username& username);

    pool& connections_;
    row_cache<token_username, token_credential> credentials_;
};

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/personal_tokens.ipp>
#endif

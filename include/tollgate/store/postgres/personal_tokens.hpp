#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/outcome.hpp>
#include <tollgate/domain/personal_token.hpp>
#include <tollgate/store/postgres/credential_lookup.hpp>
#include <tollgate/store/postgres/pool.hpp>

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace tollgate::postgres {

/// The personal-token verbs of `token_store`, on PostgreSQL. Each is one round trip.
class personal_tokens {
public:
    personal_tokens(pool& connections, const credential_lookup& lookup) : connections_{connections}, lookup_{lookup} {}

    TOLLGATE_DECL outcome<std::optional<token_credential>> find(std::string_view username);
    TOLLGATE_DECL outcome<token_id> create(const new_personal_token& made, std::size_t tokens_per_user_max);
    TOLLGATE_DECL outcome<std::vector<personal_token>> of(user_id user);
    TOLLGATE_DECL outcome<bool> revoke(token_id id);
    /// Waits for no connection for long, and for no disk: a request does.
    TOLLGATE_DECL outcome<void> record_use(std::string_view username, instant now);

private:
    pool& connections_;
    const credential_lookup& lookup_;
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/postgres/personal_tokens.ipp>
#endif

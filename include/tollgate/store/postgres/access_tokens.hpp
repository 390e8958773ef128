#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/outcome.hpp>
#include <tollgate/domain/personal_token.hpp>
#include <tollgate/store/postgres/credential_lookup.hpp>
#include <tollgate/store/postgres/pool.hpp>

#include <optional>

namespace tollgate::postgres {

/// The access-token verbs of `token_store`, on PostgreSQL. Each is one round trip.
class access_tokens {
public:
    access_tokens(pool& connections, const credential_lookup& lookup) : connections_{connections}, lookup_{lookup} {}

    TOLLGATE_DECL outcome<std::optional<token_credential>> find(const digest& token);
    TOLLGATE_DECL outcome<void> create(const new_access_token& made);
    TOLLGATE_DECL outcome<bool> revoke(const digest& token);
    /// Also of its grant. Waits for no connection for long, and for no disk: a request does.
    TOLLGATE_DECL outcome<void> record_use(const digest& token, instant now);

private:
    pool& connections_;
    const credential_lookup& lookup_;
};

/// Forgets those access tokens that the user and the application of this one have too many of; nothing where there is
/// no such token. The message of a conflict is for all verbs that make one.
TOLLGATE_DECL void trim_access_tokens(batch& in, const digest& newest);
[[nodiscard]] TOLLGATE_DECL problem token_exists(problem why);

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/postgres/access_tokens.ipp>
#endif

#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/outcome.hpp>
#include <tollgate/domain/grant.hpp>
#include <tollgate/store/heard_changes.hpp>
#include <tollgate/store/postgres/pool.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace tollgate::postgres {

/// The verbs of `grant_store`, on PostgreSQL. Each is one round trip.
class grants {
public:
    grants(pool& connections, heard_changes& changes) : connections_{connections}, changes_{changes} {}

    TOLLGATE_DECL outcome<std::optional<scope_set>> granted(user_id user, application_id application);
    TOLLGATE_DECL outcome<code_result> create_code(const new_authorization_code& made);
    TOLLGATE_DECL outcome<redeemed_code> redeem(const code_redemption& shown);
    TOLLGATE_DECL outcome<refreshed_token> refresh(const token_refresh& shown);
    TOLLGATE_DECL outcome<void> revoke_token(application_id application, const digest& token);
    TOLLGATE_DECL outcome<std::vector<grant>> of(user_id user);
    TOLLGATE_DECL outcome<bool> revoke(user_id user, application_id application);
    TOLLGATE_DECL outcome<std::size_t> sweep_expired(instant now, std::size_t rows_max);

private:
    pool& connections_;
    heard_changes& changes_;
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/postgres/grants.ipp>
#endif

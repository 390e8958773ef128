#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/grant.hpp>
#include <tollgate/store/detail/sqlite/pool.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace tollgate::inline v0::sqlite {

/// The verbs of `grant_store`, on SQLite.
class grants {
public:
    explicit grants(pool& connections) : connections_{connections} {}

    TOLLGATE_DECL result<std::optional<scope_set>> granted(user_id user, application_id application);
    TOLLGATE_DECL result<code_result> create_code(const new_authorization_code& made);
    TOLLGATE_DECL result<redeemed_code> redeem(const code_redemption& shown);
    TOLLGATE_DECL result<refreshed_token> refresh(const token_refresh& shown);
    TOLLGATE_DECL result<void> revoke_token(application_id application, const digest& token);
    TOLLGATE_DECL result<std::vector<grant>> of(user_id user);
    TOLLGATE_DECL result<bool> revoke(user_id user, application_id application);
    TOLLGATE_DECL result<std::size_t> sweep_expired(instant now, std::size_t rows_max);

private:
    pool& connections_;
};

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/grants.ipp>
#endif

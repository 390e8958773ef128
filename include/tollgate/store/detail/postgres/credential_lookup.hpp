#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/store/detail/postgres/statement.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tollgate::inline v0::postgres {

/// The statements that look a credential up, with its owner's quota beside it where an integrator's query says how: one
/// statement, so that what every request needs of both is one round trip.
///
/// Outlives the connections on which they are prepared.
class credential_lookup {
public:
    /// See `postgres_settings::owner_quota_query`; empty: no quota is told.
    TOLLGATE_DECL explicit credential_lookup(const std::string& owner_quota_query);
    credential_lookup(const credential_lookup&) = delete;
    credential_lookup& operator=(const credential_lookup&) = delete;

    /// $1 is the username.
    [[nodiscard]] sql personal() const noexcept { return sql::composed(personal_); }
    /// $1 is the digest.
    [[nodiscard]] sql access() const noexcept { return sql::composed(access_); }

    /// What the last three columns of either are.
    struct quota_columns {
        bool is_told;
        std::optional<std::int64_t> requests;
        std::optional<std::int64_t> window_seconds;
    };
    /// Problem (internal) for numbers that are no quota.
    [[nodiscard]] static TOLLGATE_DECL result<quota_told> to_quota(const quota_columns& read);

private:
    std::string personal_;
    std::string access_;
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/credential_lookup.ipp>
#endif

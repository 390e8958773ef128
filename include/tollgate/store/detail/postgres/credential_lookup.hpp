#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_CREDENTIAL_LOOKUP_HPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_CREDENTIAL_LOOKUP_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/store/detail/postgres/batch.hpp>

#include <optional>
#include <string>
#include <utility>

namespace tollgate::inline v0::postgres {

/// The statements that look up a credential, together with its owner if the integrator provides a query for that, so that a
/// request needs one round trip.
///
/// Must outlive the connections on which they are prepared.
class credential_lookup {
public:
    /// See `postgres_settings::owner_query`; empty: no owner is looked up.
    TOLLGATE_DECL explicit credential_lookup(const std::string& owner_query);
    credential_lookup(const credential_lookup&) = delete;
    credential_lookup& operator=(const credential_lookup&) = delete;

    /// $1 is an array of usernames.
    [[nodiscard]] statement_text personal() const noexcept { return statement_text::composed(personal_); }
    /// $1 is an array of digests.
    [[nodiscard]] statement_text access() const noexcept { return statement_text::composed(access_); }

    /// A key and its credential, or why it could not be read.
    template <class Key>
    using found_as = std::pair<Key, result<token_credential>>;

    /// The next row of `personal()`.
    [[nodiscard]] static TOLLGATE_DECL result<std::optional<found_as<token_username>>> read_personal(rows& found);
    /// The next row of `access()`.
    [[nodiscard]] static TOLLGATE_DECL result<std::optional<found_as<digest>>> read_access(rows& found);

private:
    std::string personal_;
    std::string access_;
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/credential_lookup.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_CREDENTIAL_LOOKUP_HPP

#pragma once

#include <tollgate/base/digest_memo.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/contract/authenticator.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/policy/use_pace.hpp>

#include <optional>
#include <string_view>

namespace tollgate {

/// `Authorization: Bearer` with an OAuth 2.0 access token (RFC 6750 section 2.1). Says now and then that the token was used,
/// to a store that keeps it.
struct bearer_token {
    static constexpr std::string_view scheme = "Bearer";
    static constexpr std::string_view challenge = "Bearer realm=\"api\"";
    static constexpr bool only_finds_credentials = true;

    template <credential_source Store>
    [[nodiscard]] outcome<std::optional<caller>> identify(std::string_view credentials, Store& store, instant now) const;

private:
    mutable use_pace pace_;
};

template <credential_source Store>
outcome<std::optional<caller>> bearer_token::identify(std::string_view credentials, Store& store, instant now) const {
    if (!is_well_formed(secret_kind::access_token, credentials)) return std::optional<caller>{};
    auto found = store.find_access_token(recall_digest_of(credentials));
    if (!found) return std::move(found).error();
    if (!*found || ((*found)->expires_at && *(*found)->expires_at <= now)) return std::optional<caller>{};
    detail::record_use(pace_, store, (*found)->last_used_at, now,
                       [&](auto& to) { return to.record_access_token_use((*found)->secret_digest, now); });
    return outcome<std::optional<caller>>{
        std::optional<caller>{std::in_place, (*found)->user, (*found)->scopes, credential_kind::access_token,
                              (*found)->application, (*found)->owner_quota}};
}

}  // namespace tollgate

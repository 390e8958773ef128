#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQL_GRANTS_HPP
#define TOLLGATE_STORE_DETAIL_SQL_GRANTS_HPP

#include <tollgate/base/limits.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/grant.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/store/detail/sql/rows.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

// What both databases read of codes and refresh tokens before they decide with `judge_redemption` and `judge_refresh`, and what follows.

namespace tollgate::inline v0::sql {

/// The id of a row without an id in the model.
using row_number = std::int64_t;

/// A code that was found by its digest and application.
struct found_code {
    row_number id;
    row_number access_grant;
    user_id user;
    scope_set scopes;
    std::string redirect;
    std::optional<std::string> code_challenge;
    instant expires_at;  ///< end of the code; of a redeemed code, when it was redeemed
    std::optional<row_number> refresh_token;  ///< made when it was redeemed
    std::optional<digest> refresh_digest;     ///< digest of that token, if it still exists

    [[nodiscard]] redemption_result judge(const code_redemption& shown) const noexcept {
        const auto redeemed_at = refresh_token ? std::optional{expires_at} : std::nullopt;
        return judge_redemption({redeemed_at, expires_at, redirect, code_challenge, refresh_digest}, shown);
    }
    [[nodiscard]] new_access_token access_token(const code_redemption& shown) const {
        return {user, shown.application, shown.tokens.access_digest, scopes, shown.now, shown.tokens.access_expires_at};
    }
    /// Until then, a redeemed code is kept.
    [[nodiscard]] instant forget_at() const noexcept { return expires_at + seconds{limits::spent_code_seconds}; }
};

[[nodiscard]] inline found_code to_found_code(row_number id, row_number access_grant, user_id user, const scope_set& scopes,
                                              std::string& redirect, std::optional<std::string>& code_challenge, instant expires_at,
                                              std::optional<row_number> refresh_token, std::optional<digest> refresh_digest) {
    return {id,         access_grant,  user,          scopes, std::move(redirect), std::move(code_challenge),
            expires_at, refresh_token, refresh_digest};
}

/// An unexpired refresh token that was found by its own digest, or by that of its family, and its application.
struct found_refresh_token {
    row_number id;
    user_id user;
    scope_set scopes;
    instant ends_at;
    digest current;
    std::optional<digest> replaced;
    std::optional<instant> replaced_at;
    std::optional<digest> successor_seed;  ///< seed of the last replacement
    bool has_access_token;  ///< the access token of the request exists, and was created with this token

    [[nodiscard]] bool is_shown_by(const token_refresh& shown) const noexcept { return current == shown.refresh_digest; }
    [[nodiscard]] stored_refresh_token stored() const noexcept {
        return {current, replaced ? &*replaced : nullptr, replaced_at.value_or(instant{}), scopes, has_access_token};
    }
    [[nodiscard]] refresh_result judge(const token_refresh& shown) const noexcept {
        return judge_refresh(stored(), shown);
    }
    [[nodiscard]] new_access_token access_token(const token_refresh& shown) const {
        return {user, shown.application, shown.access_digest, shown.narrowed.value_or(scopes), shown.now, shown.access_expires_at};
    }
    [[nodiscard]] refreshed_token refreshed(const token_refresh& shown) const {
        const auto seed = is_shown_by(shown) && shown.rotation ? std::optional{shown.rotation->successor_seed} : successor_seed;
        return {refresh_result::refreshed, shown.narrowed.value_or(scopes), shown.rotation ? seed : std::nullopt};
    }
};

[[nodiscard]] inline found_refresh_token to_found_refresh_token(row_number id, user_id user, const scope_set& scopes, instant ends_at,
                                                                const digest& current, const std::optional<digest>& replaced,
                                                                std::optional<instant> replaced_at,
                                                                const std::optional<digest>& successor_seed, bool has_access_token) {
    return {id, user, scopes, ends_at, current, replaced, replaced_at, successor_seed, has_access_token};
}

}  // namespace tollgate::sql

#endif  // TOLLGATE_STORE_DETAIL_SQL_GRANTS_HPP

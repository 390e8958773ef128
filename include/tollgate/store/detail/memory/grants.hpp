#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_GRANTS_HPP
#define TOLLGATE_STORE_DETAIL_MEMORY_GRANTS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/grant.hpp>
#include <tollgate/store/detail/memory/access_tokens.hpp>
#include <tollgate/store/detail/memory/applications.hpp>
#include <tollgate/store/detail/memory/dated_digest.hpp>
#include <tollgate/store/detail/memory/bounds.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tollgate::inline v0::memory {

struct grants_settings {
    std::size_t grants_max;
    std::size_t codes_max;
    std::size_t refresh_tokens_max;
};

/// The verbs of `grant_store`, in memory.
///
/// Thread rule: callers hold the lock of the store's OAuth part.
class grants {
public:
    grants(const grants_settings& settings, const applications& known, access_tokens& access)
        : grants_max_{settings.grants_max},
          code_shares_{settings.codes_max},
          refresh_token_shares_{settings.refresh_tokens_max},
          applications_{known},
          access_{access} {}

    TOLLGATE_DECL result<code_result> create_code(const new_authorization_code& code);
    TOLLGATE_DECL result<redeemed_code> redeem(const code_redemption& shown);
    TOLLGATE_DECL result<refreshed_token> refresh(const token_refresh& shown);
    TOLLGATE_DECL bool revoke_token(const oauth_token_revocation& revoked) noexcept;
    [[nodiscard]] TOLLGATE_DECL std::optional<oauth_token> find_token(const digest& token);
    [[nodiscard]] TOLLGATE_DECL std::int64_t users_of(application_id application) const noexcept;
    [[nodiscard]] TOLLGATE_DECL std::vector<grant> of(user_id user) const;
    TOLLGATE_DECL bool revoke(grant_parties parties) noexcept;
    TOLLGATE_DECL void revoke_all_of(application_id application) noexcept;
    TOLLGATE_DECL void record_use(const grant_parties& parties, instant now) noexcept;
    TOLLGATE_DECL std::size_t sweep_expired(instant now, std::size_t rows_max) noexcept;

private:
    struct row {
        grant_id id;
        scope_set scopes;
        instant created_at;
        std::optional<instant> last_used_at;
        std::vector<digest> codes;           // oldest first
        std::vector<digest> refresh_tokens;  // oldest first
    };
    struct code_row {
        grant_parties parties;
        scope_set scopes;
        std::string redirect;
        std::optional<std::string> code_challenge;
        instant expires_at;
        instant forget_at;                                   // later than its expiry once it was redeemed
        std::optional<refresh_token_id> refresh_token = {};  // the refresh token of the redeemed code; set when it is redeemed
        std::optional<instant> redeemed_at = {};
    };
    struct refresh_row {
        refresh_token_id id;
        grant_parties parties;
        scope_set scopes;
        instant expires_at;
        instant ends_at;
        // Set by the last replacement, if there was one.
        std::optional<digest> family = {};
        digest replaced = {};
        instant replaced_at = {};
        digest successor_seed = {};
    };
    using refresh_rows = std::unordered_map<digest, refresh_row>;

    TOLLGATE_DECL result<void> create_tokens(const grant_parties& parties, const scope_set& scopes,
                                             const issued_tokens& issued, instant now, refresh_token_id id);
    /// Its digest now, by its own or its family's.
    [[nodiscard]] TOLLGATE_DECL refresh_rows::iterator find_refresh_token(const digest& token, const std::optional<digest>& family);
    /// Allocates before it changes anything.
    TOLLGATE_DECL result<void> replace(refresh_rows::iterator token, const token_rotation& rotation, instant now);
    TOLLGATE_DECL void forget_code(digest code) noexcept;
    TOLLGATE_DECL void forget_refresh_token(digest token) noexcept;
    /// The refresh token that the code's redemption created; empty if there was none, or it does not exist any more.
    [[nodiscard]] TOLLGATE_DECL std::optional<digest> refresh_digest_of(const code_row& code) const noexcept;
    /// Returns true if there was anything to revoke.
    TOLLGATE_DECL bool revoke_what_came_of(const code_row& code) noexcept;
    /// Removes one refresh token of a grant that has too many.
    TOLLGATE_DECL void forget_least_used_refresh_token(const row& grant, const digest& but_not) noexcept;
    TOLLGATE_DECL std::size_t sweep_codes(instant now, std::size_t rows_max) noexcept;
    TOLLGATE_DECL std::size_t sweep_refresh_tokens(instant now, std::size_t rows_max) noexcept;

    const std::size_t grants_max_;
    user_shares code_shares_;
    user_shares refresh_token_shares_;
    const applications& applications_;
    access_tokens& access_;

    std::int64_t last_grant_id_ = 0;
    std::int64_t last_refresh_token_id_ = 0;
    std::map<grant_parties, row> rows_;
    std::set<std::pair<user_id, application_id>> of_user_;
    std::unordered_map<digest, code_row> codes_;
    digests_by_time codes_by_end_;
    refresh_rows refresh_tokens_;
    std::unordered_map<digest, digest> families_;  // families of tokens that were replaced, with the token that is valid now
    digests_by_time refresh_tokens_by_end_;
};

}  // namespace tollgate::memory

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/memory/grants.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_GRANTS_HPP

#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/store/detail/memory/dated_digest.hpp>
#include <tollgate/store/detail/memory/sharded_table.hpp>
#include <tollgate/store/detail/memory/user_shares.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <utility>

namespace tollgate::inline v0::memory {

/// Names a refresh token within its store, so that what was made with it is found.
using refresh_token_id = id<struct refresh_token_tag>;

/// One user and one application: what a grant is between.
struct grant_parties {
    application_id application;
    user_id user;

    friend auto operator<=>(const grant_parties&, const grant_parties&) noexcept = default;
};

/// Access tokens, in memory.
///
/// Thread rule: `find` from any thread. Whoever calls the rest holds the lock of the store's OAuth part.
class access_tokens {
public:
    explicit access_tokens(std::size_t tokens_max) : shares_{tokens_max} {}

    [[nodiscard]] result<std::optional<token_credential>> find(const digest& token) const {
        using found = result<std::optional<token_credential>>;
        return by_digest_.with(token, [](const row* kept) -> found {
            return kept == nullptr ? std::nullopt : std::optional{kept->credential};
        });
    }

    /// `made_with`: none for a token that no refresh token came with. Throws std::bad_alloc, and then nothing happened.
    TOLLGATE_DECL result<void> create(const new_access_token& made, std::optional<refresh_token_id> made_with);
    TOLLGATE_DECL bool revoke(const digest& token) noexcept;
    /// Whose it is; none when there is none.
    [[nodiscard]] TOLLGATE_DECL std::optional<grant_parties> parties_of(const digest& token) const noexcept;
    TOLLGATE_DECL void revoke_made_with(refresh_token_id refresh_token, const grant_parties& parties) noexcept;
    TOLLGATE_DECL void revoke_between(const grant_parties& parties) noexcept;
    TOLLGATE_DECL void revoke_all_of(application_id application) noexcept;
    /// Says that the token was used; whose it is.
    TOLLGATE_DECL std::optional<grant_parties> record_use(const digest& token, instant now) noexcept;
    TOLLGATE_DECL std::size_t sweep_expired(instant now, std::size_t rows_max) noexcept;

private:
    /// The credential as it is given out: a copy touches its used bytes, putting one together touches all.
    struct row {
        token_credential credential;
        std::optional<refresh_token_id> made_with;
    };

    TOLLGATE_DECL void remove(grant_parties parties, dated_digest token) noexcept;

    user_shares shares_;
    sharded_table<digest, row> by_digest_;  // the tokens; those below only say where to find them
    digests_by_time by_end_;
    std::map<grant_parties, digests_by_time> between_;
};

}  // namespace tollgate::memory

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/memory/access_tokens.ipp>
#endif

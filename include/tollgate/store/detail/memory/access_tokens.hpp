#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_ACCESS_TOKENS_HPP
#define TOLLGATE_STORE_DETAIL_MEMORY_ACCESS_TOKENS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/grant.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/store/detail/memory/dated_digest.hpp>
#include <tollgate/store/detail/memory/sharded_table.hpp>
#include <tollgate/store/detail/memory/stored_credential.hpp>
#include <tollgate/store/detail/memory/bounds.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <utility>

namespace tollgate::inline v0::memory {

/// Identifies a refresh token within its store, to find the access tokens that were created with it.
using refresh_token_id = id<struct refresh_token_tag>;

/// The user and the application of a grant.
struct grant_parties {
    application_id application;
    user_id user;

    friend auto operator<=>(const grant_parties&, const grant_parties&) noexcept = default;
};

/// Access tokens, in memory.
///
/// Thread rule: `find` from any thread; callers of the other functions hold the lock of the store's OAuth part.
class access_tokens {
public:
    explicit access_tokens(std::size_t tokens_max) : shares_{tokens_max} {}

    [[nodiscard]] result<std::optional<token_credential>> find(const digest& token) const {
        using found = result<std::optional<token_credential>>;
        return by_digest_.with(token, [](const row* stored) -> found {
            return stored == nullptr ? found{std::nullopt} : stored->credential.get();
        });
    }

    /// `made_with`: empty for a token without a refresh token; such a token may exist already if the call is repeated. Throws
    /// std::bad_alloc without effect.
    TOLLGATE_DECL result<void> create(const new_access_token& created, std::optional<refresh_token_id> made_with);
    TOLLGATE_DECL bool revoke(const digest& token) noexcept;
    /// The result is empty if there is no such token.
    [[nodiscard]] TOLLGATE_DECL std::optional<oauth_token> describe(const digest& token) const noexcept;
    /// Returns true if there is such a token, and it was created with this refresh token.
    [[nodiscard]] bool was_made_with(const digest& token, refresh_token_id refresh_token) const noexcept {
        return by_digest_.with(token, [&](const row* stored) { return stored != nullptr && stored->made_with == refresh_token; });
    }
    /// The user and application of a token; empty if there is none.
    [[nodiscard]] TOLLGATE_DECL std::optional<grant_parties> parties_of(const digest& token) const noexcept;
    /// Empty: those without a refresh token. Whether there were any.
    bool revoke_made_with(std::optional<refresh_token_id> refresh_token, const grant_parties& parties) noexcept {
        return revoke_if(parties, [refresh_token](const row& stored) { return stored.made_with == refresh_token; });
    }
    TOLLGATE_DECL void revoke_between(grant_parties parties) noexcept;
    TOLLGATE_DECL void revoke_all_of(application_id application) noexcept;
    /// Records that the token was used; returns its user and application.
    TOLLGATE_DECL std::optional<grant_parties> record_use(const digest& token, instant now) noexcept;
    TOLLGATE_DECL std::size_t sweep_expired(instant now, std::size_t rows_max) noexcept;

private:
    struct row {
        stored_credential credential;
        std::optional<refresh_token_id> made_with;
        instant created_at;
    };

    template <class Chosen>
    bool revoke_if(const grant_parties& parties, Chosen chosen) noexcept {
        const auto found = between_.find(parties);
        if (found == between_.end()) return false;
        bool revoked = false;
        auto next = found->second.begin();
        for (std::size_t left = found->second.size(); left > 0; --left) {
            const dated_digest token = *next++;  // `remove` erases the set with its last token
            if (!by_digest_.with_existing(token.digest, [&](const row& stored) { return chosen(stored); })) continue;
            remove(parties, token);
            revoked = true;
        }
        return revoked;
    }

    TOLLGATE_DECL void remove(grant_parties parties, dated_digest token) noexcept;

    user_shares shares_;
    sharded_table<digest, row> by_digest_;  // the tokens; the following only locate them
    digests_by_time by_end_;
    std::map<grant_parties, digests_by_time> between_;
};

}  // namespace tollgate::memory

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/memory/access_tokens.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_ACCESS_TOKENS_HPP

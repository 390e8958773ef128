#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_PERSONAL_TOKENS_HPP
#define TOLLGATE_STORE_DETAIL_MEMORY_PERSONAL_TOKENS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/store/detail/memory/sharded_table.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tollgate::inline v0::memory {

/// The personal-token verbs of `token_store`, in memory.
class personal_tokens {
public:
    explicit personal_tokens(std::size_t tokens_max) : tokens_max_{tokens_max} {}

    [[nodiscard]] result<std::optional<token_credential>> find(std::string_view username) const {
        using found = result<std::optional<token_credential>>;
        return by_username_.with(username, [](const row* stored) -> found {
            if (stored == nullptr) return std::optional<token_credential>{};
            return found{std::in_place, std::in_place, stored->user, stored->secret_digest, scope_set::from_text(stored->scopes),
                         stored->expires_at, std::nullopt, stored->last_used_at, std::nullopt, stored->id};
        });
    }
    TOLLGATE_COLD result<token_id> create(const new_personal_token& token, std::size_t tokens_per_user_max);
    [[nodiscard]] TOLLGATE_COLD std::vector<personal_token> of(user_id user) const;
    TOLLGATE_COLD bool revoke(token_id id);
    TOLLGATE_COLD bool renew(user_id user, token_id id, const personal_token_renewal& renewed);
    void record_use(std::string_view username, instant now, std::string_view from) {
        std::string network{from};
        by_username_.change(username, [&](row& stored) {
            stored.last_used_at = now;
            stored.last_used_from.swap(network);
        });
    }

private:
    /// The scopes take only as much memory as their text: a `scope_set` reserves space for the longest ones, and with a hundred thousand of
    /// those, a look-up would mostly wait for memory.
    struct row {
        user_id user;
        digest secret_digest;
        std::optional<instant> expires_at, last_used_at;
        token_id id;
        std::string scopes, description;
        instant created_at;
        std::string last_used_from = {};
    };

    const std::size_t tokens_max_;

    sharded_table<token_username, row> by_username_;  // the tokens; the following only locate them

    mutable std::mutex mutex_;  // locked for changing and listing; taken before a shard's mutex
    std::int64_t last_id_ = 0;
    std::unordered_map<token_id, token_username> usernames_;
    std::unordered_map<user_id, std::vector<token_id>> of_user_;  // oldest first
};

}  // namespace tollgate::memory

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/memory/personal_tokens.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_PERSONAL_TOKENS_HPP

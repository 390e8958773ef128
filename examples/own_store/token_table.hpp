#pragma once

// A store on the verbs of the contracts: of personal tokens alone, for an API without webhooks and OAuth.

#include <tollgate/contract/token_store.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace own_store {

/// A table of personal tokens. A mutex stands in for the transactions of a database.
class token_table {
public:
    static constexpr bool blocking = false;

    tollgate::result<std::optional<tollgate::token_credential>> find_credential(const tollgate::credential_key& key) {
        const std::lock_guard transaction{mutex_};
        const auto* const personal = std::get_if<tollgate::personal_token_key>(&key);
        const auto found = personal != nullptr ? by_username_.find(personal->username) : by_username_.end();
        if (found == by_username_.end()) return std::optional<tollgate::token_credential>{};
        const tollgate::personal_token& token = found->second;
        return std::optional{
            tollgate::token_credential{token.user, token.secret_digest, token.scopes, token.expires_at, {}, {}, {}, token.id}};
    }

    // [create]
    tollgate::result<tollgate::token_id> create_personal_token(const tollgate::new_personal_token& created,
                                                               std::size_t tokens_per_user_max) {
        const std::lock_guard transaction{mutex_};
        if (const auto taken = by_username_.find(created.username); taken != by_username_.end()) {
            const tollgate::personal_token& token = taken->second;
            if (token.user == created.user && token.secret_digest == created.secret_digest) return token.id;  // the call is repeated
            return tollgate::error{tollgate::error_kind::conflict, "The token exists.", {}};
        }
        std::size_t count = 0;  // counted in the transaction that inserts, so that parallel calls cannot exceed the bound
        for (const auto& [username, token] : by_username_) count += token.user == created.user ? 1U : 0U;
        if (count >= tokens_per_user_max) return tollgate::invalid("The user has too many tokens.");
        const tollgate::token_id id{++last_id_};
        by_username_.emplace(created.username, tollgate::personal_token{id, created.user, created.username, created.description,
                                                                        created.scopes, created.created_at, {}, created.expires_at, {},
                                                                        created.secret_digest});
        usernames_.emplace(id, created.username);
        return id;
    }
    // [/create]

    tollgate::result<std::vector<tollgate::personal_token>> personal_tokens_of(tollgate::user_id user) {
        const std::lock_guard transaction{mutex_};
        std::vector<tollgate::personal_token> found;
        for (const auto& [id, username] : usernames_)  // the oldest first
            if (const auto& token = by_username_.find(username)->second; token.user == user) found.push_back(token);
        return found;
    }

    tollgate::result<bool> renew_personal_token(tollgate::user_id user, tollgate::token_id id,
                                                const tollgate::personal_token_renewal& renewed) {
        const std::lock_guard transaction{mutex_};
        const auto named = usernames_.find(id);
        if (named == usernames_.end()) return false;
        tollgate::personal_token& token = by_username_.find(named->second)->second;
        if (token.user != user) return false;
        if (renewed.replaced && token.secret_digest != *renewed.replaced) return token.secret_digest == renewed.secret_digest;
        token.secret_digest = renewed.secret_digest;
        token.created_at = renewed.created_at;
        token.expires_at = renewed.expires_at;
        return true;
    }

    tollgate::result<bool> revoke(const tollgate::revocation& revoked) {
        const std::lock_guard transaction{mutex_};
        const auto* const personal = std::get_if<tollgate::personal_token_revocation>(&revoked);
        const auto named = personal != nullptr ? usernames_.find(personal->token) : usernames_.end();
        if (named == usernames_.end()) return false;
        by_username_.erase(by_username_.find(named->second));
        usernames_.erase(named);
        return true;
    }

private:
    std::mutex mutex_;
    std::int64_t last_id_ = 0;  // ids are never used again
    std::map<tollgate::token_username, tollgate::personal_token, std::less<>> by_username_;
    std::map<tollgate::token_id, tollgate::token_username> usernames_;
};

static_assert(tollgate::token_store<token_table>);

}  // namespace own_store

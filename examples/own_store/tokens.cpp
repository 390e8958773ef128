// The verbs of token_store and session_store.
#include "table_store.hpp"

#include <tollgate/base/limits.hpp>

#include <algorithm>
#include <variant>

namespace own_store {

// [tokens]
result<std::optional<token_credential>> table_store::find_credential(const credential_key& key) {
    const std::lock_guard transaction{mutex_};
    if (const auto* const access = std::get_if<access_token_key>(&key)) {
        const auto found = access_tokens_.find(access->token_digest.bytes());
        if (found == access_tokens_.end()) return std::optional<token_credential>{};
        const auto& row = found->second.token;
        return std::optional{token_credential{row.user, row.token_digest, row.scopes, row.expires_at, row.application}};
    }
    for (const auto& [id, row] : personal_tokens_)
        if (row.username == std::get<personal_token_key>(key).username)
            return std::optional{token_credential{row.user, row.secret_digest, row.scopes, row.expires_at, {}}};
    return std::optional<token_credential>{};
}

result<token_id> table_store::create_personal_token(const new_personal_token& token, std::size_t tokens_per_user_max) {
    const std::lock_guard transaction{mutex_};
    // counted in the transaction that inserts, so that parallel calls cannot exceed the bound
    std::size_t count = 0;
    for (const auto& [id, row] : personal_tokens_) {
        if (row.username == token.username) {
            if (row.user == token.user && row.secret_digest == token.secret_digest) return id;  // the call is repeated
            return error{error_kind::conflict, "The username is taken.", {}};
        }
        if (row.user == token.user) ++count;
    }
    if (count >= tokens_per_user_max) return invalid("You have reached the maximum number of personal tokens.");
    const auto id = token_id{++last_token_};
    personal_tokens_.emplace(id, token);
    return id;
}
// [/tokens]

result<std::vector<personal_token>> table_store::personal_tokens_of(user_id user) {
    const std::lock_guard transaction{mutex_};
    std::vector<personal_token> found;
    for (const auto& [id, row] : personal_tokens_)  // in the order of ids, which is the order of creation
        if (row.user == user)
            found.push_back({id, row.user, row.username, row.description, row.scopes, row.created_at, {},
                             row.expires_at, {}, row.secret_digest});
    return found;
}

result<bool> table_store::renew_personal_token(user_id user, token_id id, const personal_token_renewal& renewed) {
    const std::lock_guard transaction{mutex_};
    const auto found = personal_tokens_.find(id);
    if (found == personal_tokens_.end() || found->second.user != user) return false;
    const digest& current = found->second.secret_digest;
    if (renewed.replaced && current != *renewed.replaced && current != renewed.secret_digest) return false;
    found->second.secret_digest = renewed.secret_digest;
    found->second.created_at = renewed.created_at;
    found->second.expires_at = renewed.expires_at;
    return true;
}

result<bool> table_store::revoke(const revocation& revoked) {
    const std::lock_guard transaction{mutex_};
    if (const auto* const personal = std::get_if<personal_token_revocation>(&revoked))
        return personal_tokens_.erase(personal->token) != 0;
    if (const auto* const given = std::get_if<grant_revocation>(&revoked)) return revoke_all_of(given->user, given->application);
    return revoke_oauth_token(std::get<oauth_token_revocation>(revoked));
}

result<void> table_store::create_session(const stored_session& session) {
    const std::lock_guard transaction{mutex_};
    const auto& [cookie, row] = *sessions_.emplace(session.cookie_digest.bytes(), session).first;
    if (row.user != session.user || row.created_at != session.created_at)
        return error{error_kind::conflict, "The session exists.", {}};
    return {};
}

result<std::optional<stored_session>> table_store::find_session(const digest& cookie) {
    const std::lock_guard transaction{mutex_};
    const auto found = sessions_.find(cookie.bytes());
    return found == sessions_.end() ? std::optional<stored_session>{} : std::optional{found->second};
}

result<void> table_store::touch_session(const digest& cookie, instant now) {
    const std::lock_guard transaction{mutex_};
    if (const auto found = sessions_.find(cookie.bytes()); found != sessions_.end())
        found->second.last_seen_at = now;
    return {};
}

result<std::vector<stored_session>> table_store::sessions_of(user_id user) {
    const std::lock_guard transaction{mutex_};
    std::vector<stored_session> found;
    for (const auto& [cookie, row] : sessions_)
        if (row.user == user) found.push_back(row);
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.last_seen_at > b.last_seen_at; });
    return found;
}

result<bool> table_store::end_sessions(const session_selection& ended) {
    const std::lock_guard transaction{mutex_};
    if (const auto* const cookie = std::get_if<digest>(&ended)) return sessions_.erase(cookie->bytes()) != 0;
    const auto& of = std::get<sessions_of_user>(ended);
    return std::erase_if(sessions_, [&](const auto& each) {
               return each.second.user == of.user && each.second.cookie_digest != of.except;
           }) != 0;
}

std::size_t table_store::sweep_sessions(const session_ends& ends, std::size_t rows_max) {
    std::size_t swept = 0;
    return std::erase_if(sessions_, [&](const auto& each) {
        const auto& row = each.second;
        return (row.created_at < ends.created_before || row.last_seen_at < ends.seen_before) && swept++ < rows_max;
    });
}

result<std::size_t> table_store::sweep(const sweep_request& request) {
    const std::lock_guard transaction{mutex_};
    std::size_t swept = 0;
    if (request.expired_at) swept += sweep_expired(*request.expired_at, request.rows_max);
    if (request.deliveries_ended_before) swept += deliveries_.sweep(*request.deliveries_ended_before, request.rows_max - swept);
    if (request.sessions) swept += sweep_sessions(*request.sessions, request.rows_max - swept);
    return swept;
}

}  // namespace own_store

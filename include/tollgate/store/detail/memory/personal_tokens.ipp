#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_PERSONAL_TOKENS_IPP
#define TOLLGATE_STORE_DETAIL_MEMORY_PERSONAL_TOKENS_IPP

#include <tollgate/store/detail/memory/personal_tokens.hpp>
#include <tollgate/store/store_error.hpp>
#include <tollgate/store/detail/undo.hpp>

#include <string>
#include <utility>

namespace tollgate::inline v0::memory {

TOLLGATE_COLD result<token_id> personal_tokens::create(const new_personal_token& token, std::size_t tokens_per_user_max) {
    const std::scoped_lock lock{mutex_};
    const auto existing = by_username_.with(token.username, [&](const row* stored) -> std::optional<result<token_id>> {
        if (stored == nullptr) return std::nullopt;
        const bool is_repeated = stored->user == token.user && stored->secret_digest == token.secret_digest;
        return is_repeated ? result<token_id>{stored->id} : personal_token_exists();
    });
    if (existing) return *existing;
    if (usernames_.size() >= tokens_max_)
        return unavailable("The memory store holds " + std::to_string(tokens_max_) +
                           " personal tokens, the maximum (memory_settings::personal_tokens_max).");

    if (tokens_per_user_max == 0) return too_many_personal_tokens(0);  // before there is an entry of the user
    auto& siblings = of_user_[token.user];
    if (siblings.size() >= tokens_per_user_max) return too_many_personal_tokens(tokens_per_user_max);

    // The row comes last: if memory runs out before, the token is never visible. Nothing after it throws.
    const token_id id{++last_id_};
    if (siblings.size() == siblings.capacity()) siblings.reserve(2 * siblings.size() + 2);
    usernames_.emplace(id, token.username);
    tollgate::detail::undo_unless_kept named{[&]() noexcept { usernames_.erase(id); }};
    std::string scopes{token.scopes.text()}, description = token.description;
    by_username_.insert(token.username, row{token.user, token.secret_digest, token.expires_at, std::nullopt, id, std::move(scopes),
                                            std::move(description), token.created_at});
    named.keep();
    siblings.push_back(id);
    return id;
}

TOLLGATE_COLD std::vector<personal_token> personal_tokens::of(user_id user) const {
    const std::scoped_lock lock{mutex_};
    std::vector<personal_token> found;
    const auto owned = of_user_.find(user);
    if (owned == of_user_.end()) return found;
    found.reserve(owned->second.size());
    for (const token_id id : owned->second) {
        const token_username& username = usernames_.at(id);
        by_username_.with(username, [&](const row* stored) {
            found.push_back(
                {id, user, username, stored->description, scope_set::from_text(stored->scopes), stored->created_at,
                 stored->last_used_at, stored->expires_at, stored->last_used_from,
                 stored->secret_digest});
        });
    }
    return found;
}

TOLLGATE_COLD bool personal_tokens::renew(user_id user, token_id id, const personal_token_renewal& renewed) {
    const std::scoped_lock lock{mutex_};
    const auto named = usernames_.find(id);
    if (named == usernames_.end()) return false;
    bool fits = false;
    by_username_.change(named->second.view(), [&](row& stored) {
        const digest& current = stored.secret_digest;
        const bool is_repeated = current == renewed.secret_digest;
        fits = stored.user == user && (is_repeated || !renewed.replaced || current == *renewed.replaced);
        if (!fits) return;
        stored.secret_digest = renewed.secret_digest;
        stored.expires_at = renewed.expires_at;
        stored.created_at = renewed.created_at;
    });
    return fits;
}

TOLLGATE_COLD bool personal_tokens::revoke(token_id id) {
    const std::scoped_lock lock{mutex_};
    const auto named = usernames_.find(id);
    if (named == usernames_.end()) return false;
    const user_id owner = by_username_.with_existing(named->second, [](const row& stored) { return stored.user; });
    by_username_.erase(named->second);
    usernames_.erase(named);
    const auto owned = of_user_.find(owner);
    std::erase(owned->second, id);
    if (owned->second.empty()) of_user_.erase(owned);
    return true;
}

}  // namespace tollgate::memory

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_PERSONAL_TOKENS_IPP

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_ACCESS_TOKENS_IPP
#define TOLLGATE_STORE_DETAIL_MEMORY_ACCESS_TOKENS_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/store_error.hpp>
#include <tollgate/store/detail/memory/access_tokens.hpp>
#include <tollgate/store/detail/undo.hpp>

namespace tollgate::inline v0::memory {

TOLLGATE_DECL result<void> access_tokens::create(const new_access_token& created, std::optional<refresh_token_id> made_with) {
    const grant_parties parties{created.application, created.user};
    if (const auto existing = parties_of(created.token_digest)) {
        const bool is_repeated =
            !made_with && *existing == parties &&
            by_digest_.with_existing(created.token_digest, [](const row& stored) { return !stored.made_with; });
        return is_repeated ? result<void>{} : token_exists();
    }
    const auto replaces_another = [&] {
        const auto siblings = between_.find(parties);
        return siblings != between_.end() && siblings->second.size() >= limits::access_tokens_per_grant_max;
    };
    if (replaces_another())
        if (const instant first_end = between_.find(parties)->second.begin()->at; created.created_at < first_end)
            return too_many_access_tokens(first_end);
    while (!shares_.has_capacity(created.user) && !replaces_another())
        if (sweep_expired(created.created_at, 1) == 0)
            return shares_.no_capacity("access tokens", "access_tokens_max");

    // The row comes last: if memory runs out before, the token is never visible.
    shares_.add(created.user);
    tollgate::detail::undo_unless_kept counted{[&]() noexcept { shares_.remove(created.user); }};
    const dated_digest token{created.expires_at, created.token_digest};
    by_end_.insert(token);
    tollgate::detail::undo_unless_kept ended{[&]() noexcept { by_end_.erase(token); }};
    const auto siblings = between_.try_emplace(parties).first;
    tollgate::detail::undo_unless_kept placed{[&]() noexcept {
        siblings->second.erase(token);
        if (siblings->second.empty()) between_.erase(siblings);
    }};
    siblings->second.insert(token);
    std::string scopes{created.scopes.text()};
    by_digest_.insert(created.token_digest,
                      {{created.user, created.token_digest, created.expires_at, std::nullopt, std::move(scopes), created.application,
                        std::nullopt},
                       made_with,
                       created.created_at});
    tollgate::detail::keep_all(counted, ended, placed);

    if (siblings->second.size() > limits::access_tokens_per_grant_max) {
        auto expired = siblings->second.begin();
        if (expired->digest == created.token_digest) ++expired;  // not the token that is about to be returned
        remove(parties, *expired);
    }
    return {};
}

TOLLGATE_DECL std::optional<grant_parties> access_tokens::parties_of(const digest& token) const noexcept {
    return by_digest_.with(token, [](const row* stored) {
        return stored == nullptr ? std::nullopt
                                 : std::optional{grant_parties{*stored->credential.application, stored->credential.user}};
    });
}

TOLLGATE_DECL bool access_tokens::revoke(const digest& token) noexcept {
    const auto parties = parties_of(token);
    if (!parties) return false;
    remove(*parties, {by_digest_.with_existing(token, [](const row& stored) { return *stored.credential.expires_at; }), token});
    return true;
}

TOLLGATE_DECL std::optional<oauth_token> access_tokens::describe(const digest& token) const noexcept {
    return by_digest_.with(token, [](const row* stored) -> std::optional<oauth_token> {
        if (stored == nullptr) return std::nullopt;
        const stored_credential& credential = stored->credential;
        return oauth_token{false, credential.user, *credential.application, {}, scope_set::from_text(credential.scopes),
                           stored->created_at, *credential.expires_at};
    });
}

/// Takes its argument by value: a reference into the removed rows would dangle.
TOLLGATE_DECL void access_tokens::revoke_between(grant_parties parties) noexcept {
    revoke_if(parties, [](const row&) { return true; });
}

TOLLGATE_DECL void access_tokens::revoke_all_of(application_id application) noexcept {
    for (;;) {
        const auto next = between_.lower_bound({application, user_id{1}});
        if (next == between_.end() || next->first.application != application) return;
        revoke_between(next->first);
    }
}

TOLLGATE_DECL std::optional<grant_parties> access_tokens::record_use(const digest& token, instant now) noexcept {
    by_digest_.change(token, [now](row& stored) { stored.credential.last_used_at = now; });
    return parties_of(token);
}

TOLLGATE_DECL std::size_t access_tokens::sweep_expired(instant now, std::size_t rows_max) noexcept {
    std::size_t swept = 0;
    for (; swept < rows_max && !by_end_.empty() && by_end_.begin()->at <= now; ++swept)
        remove(*parties_of(by_end_.begin()->digest), *by_end_.begin());
    return swept;
}

/// Takes its arguments by value: references into the removed rows would dangle.
TOLLGATE_DECL void access_tokens::remove(grant_parties parties, dated_digest token) noexcept {
    by_digest_.erase(token.digest);
    by_end_.erase(token);
    shares_.remove(parties.user);
    const auto found = between_.find(parties);
    found->second.erase(token);
    if (found->second.empty()) between_.erase(found);
}

}  // namespace tollgate::memory

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_ACCESS_TOKENS_IPP

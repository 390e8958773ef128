#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_GRANTS_IPP
#define TOLLGATE_STORE_DETAIL_MEMORY_GRANTS_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/memory/bounds.hpp>
#include <tollgate/store/detail/memory/grants.hpp>
#include <tollgate/store/detail/undo.hpp>
#include <tollgate/store/store_error.hpp>
#include <tollgate/store/detail/widen_scopes.hpp>

#include <algorithm>
#include <string>

namespace tollgate::inline v0::memory {

TOLLGATE_DECL result<code_result> grants::create_code(const new_authorization_code& code) {
    const application* const client = applications_.find(code.application);
    if (client != nullptr && client->suspended) return code_result::suspended;
    if (const auto existing = codes_.find(code.code_digest); existing != codes_.end()) {
        if (existing->second.refresh_token) return code_result::spent;
        if (!code.replaces(existing->second.expires_at)) return code_result::waiting;
        forget_code(code.code_digest);
    }
    if (client == nullptr) return not_found();

    const grant_parties parties{code.application, code.user};
    auto found = rows_.find(parties);
    const bool is_new = found == rows_.end();
    const auto scopes = tollgate::detail::widen_scopes(is_new ? std::nullopt : std::optional{found->second.scopes}, code);
    if (!scopes) return scopes.error();
    if (!*scopes) return code_result::not_granted;
    if (is_new && rows_.size() >= grants_max_)
        return table_is_full(grants_max_, "grants", "grants_max");
    const auto replaces_another = [&] { return !is_new && found->second.codes.size() >= limits::codes_per_grant_max; };
    while (!code_shares_.has_capacity(code.user) && !replaces_another())
        if (sweep_codes(code.created_at, 1) == 0) return code_shares_.no_capacity("codes", "codes_max");

    // Except for an expired code, existing data is changed only after everything that may throw.
    if (is_new) {
        found = rows_.emplace(parties, row{grant_id{last_grant_id_ + 1}, {}, code.created_at, {}, {}, {}}).first;
    }
    tollgate::detail::undo_unless_kept granted{[&]() noexcept {
        if (is_new) rows_.erase(found);
    }};
    if (is_new) of_user_.emplace(code.user, code.application);
    tollgate::detail::undo_unless_kept listed{[&]() noexcept {
        if (is_new) of_user_.erase({code.user, code.application});
    }};
    row& changed = found->second;
    reserve_one_more(changed.codes);
    code_shares_.add(code.user);
    tollgate::detail::undo_unless_kept counted{[&]() noexcept { code_shares_.remove(code.user); }};
    const dated_digest end{code.expires_at, code.code_digest};
    codes_by_end_.insert(end);
    tollgate::detail::undo_unless_kept dated{[&]() noexcept { codes_by_end_.erase(end); }};
    codes_.emplace(
        code.code_digest,
        code_row{parties, code.scopes, code.redirect, code.code_challenge, code.expires_at, code.expires_at, {}});
    tollgate::detail::keep_all(granted, listed, counted, dated);
    if (is_new) ++last_grant_id_;
    changed.scopes = **scopes;
    changed.codes.push_back(code.code_digest);
    if (changed.codes.size() > limits::codes_per_grant_max) forget_code(changed.codes.front());
    return code_result::created;
}

TOLLGATE_DECL result<redeemed_code> grants::redeem(const code_redemption& shown) {
    const auto found = codes_.find(shown.code_digest);
    if (found == codes_.end() || found->second.parties.application != shown.application) return redeemed_code{};
    if (!applications_.may_get_tokens(shown.application)) return redeemed_code{};
    code_row& code = found->second;
    const auto judged =
        judge_redemption({code.redeemed_at, code.expires_at, code.redirect, code.code_challenge, refresh_digest_of(code)}, shown);
    if (judged == redemption_result::reused)
        return redeemed_code{judged, revoke_what_came_of(code) ? std::optional{code.parties.user} : std::nullopt, {}};
    if (judged != redemption_result::redeemed) return redeemed_code{judged, {}, {}};
    if (code.redeemed_at) return redeemed_code{judged, code.parties.user, code.scopes};

    const refresh_token_id id{last_refresh_token_id_ + 1};
    if (auto done = create_tokens(code.parties, code.scopes, shown.tokens, shown.now, id); !done)
        return std::move(done).error();
    ++last_refresh_token_id_;
    code.refresh_token = id;
    code.redeemed_at = shown.now;
    const instant forget_at = code.expires_at + seconds{limits::spent_code_seconds};
    move_in_time(codes_by_end_, {code.forget_at, shown.code_digest}, forget_at);
    code.forget_at = forget_at;
    return redeemed_code{redemption_result::redeemed, code.parties.user, code.scopes};
}

TOLLGATE_DECL std::optional<digest> grants::refresh_digest_of(const code_row& code) const noexcept {
    if (!code.refresh_token) return std::nullopt;
    for (const digest& each : rows_.find(code.parties)->second.refresh_tokens)
        if (refresh_tokens_.find(each)->second.id == *code.refresh_token) return each;
    return std::nullopt;
}

/// Creates both tokens or none.
TOLLGATE_DECL result<void> grants::create_tokens(const grant_parties& parties, const scope_set& scopes,
                                                 const issued_tokens& issued, instant now, refresh_token_id id) {
    if (refresh_tokens_.contains(issued.refresh_digest))
        return token_exists();
    row& grant = rows_.find(parties)->second;
    const auto replaces_another = [&] { return grant.refresh_tokens.size() >= limits::refresh_tokens_per_grant_max; };
    while (!refresh_token_shares_.has_capacity(parties.user) && !replaces_another())
        if (sweep_refresh_tokens(now, 1) == 0)
            return refresh_token_shares_.no_capacity("refresh tokens", "refresh_tokens_max");
    const bool full = replaces_another();

    reserve_one_more(grant.refresh_tokens);
    refresh_token_shares_.add(parties.user);
    tollgate::detail::undo_unless_kept counted{[&]() noexcept { refresh_token_shares_.remove(parties.user); }};
    const instant expires_at = issued.refresh_token_end();
    const dated_digest end{expires_at, issued.refresh_digest};
    refresh_tokens_by_end_.insert(end);
    tollgate::detail::undo_unless_kept dated{[&]() noexcept { refresh_tokens_by_end_.erase(end); }};
    refresh_tokens_.emplace(issued.refresh_digest, refresh_row{id, parties, scopes, expires_at, issued.refresh_ends_at});
    tollgate::detail::undo_unless_kept inserted{[&]() noexcept { refresh_tokens_.erase(issued.refresh_digest); }};
    if (auto done = access_.create(
            {parties.user, parties.application, issued.access_digest, scopes, now, issued.access_expires_at}, id);
        !done)
        return done;
    tollgate::detail::keep_all(counted, dated, inserted);
    grant.refresh_tokens.push_back(issued.refresh_digest);
    if (full) forget_least_used_refresh_token(grant, issued.refresh_digest);
    return {};
}

TOLLGATE_DECL grants::refresh_rows::iterator grants::find_refresh_token(const digest& token, const std::optional<digest>& family) {
    const auto found = refresh_tokens_.find(token);
    if (found != refresh_tokens_.end() || !family) return found;
    const auto current = families_.find(*family);
    return current == families_.end() ? refresh_tokens_.end() : refresh_tokens_.find(current->second);
}

TOLLGATE_DECL result<void> grants::replace(refresh_rows::iterator token, const token_rotation& rotation, instant now) {
    const digest& next = rotation.successor_digest;
    if (refresh_tokens_.contains(next)) return token_exists();
    families_.insert_or_assign(rotation.family_digest, next);
    auto node = refresh_tokens_.extract(token);
    refresh_row& changed = node.mapped();
    const digest replaced = node.key();
    for (digest& each : rows_.find(changed.parties)->second.refresh_tokens)
        if (each == replaced) each = next;
    if (auto end = refresh_tokens_by_end_.extract(dated_digest{changed.expires_at, replaced}); !end.empty()) {
        end.value().digest = next;
        refresh_tokens_by_end_.insert(std::move(end));
    }
    changed.family = rotation.family_digest;
    changed.replaced = replaced;
    changed.replaced_at = now;
    changed.successor_seed = rotation.successor_seed;
    node.key() = next;
    refresh_tokens_.insert(std::move(node));
    return {};
}

TOLLGATE_DECL result<refreshed_token> grants::refresh(const token_refresh& shown) {
    const auto& rotation = shown.rotation;
    const auto found = find_refresh_token(shown.refresh_digest, shown.family_digest());
    if (found == refresh_tokens_.end() || found->second.parties.application != shown.application ||
        found->second.expires_at <= shown.now || !applications_.may_get_tokens(shown.application))
        return refreshed_token{};
    refresh_row& token = found->second;
    const bool is_current = found->first == shown.refresh_digest;
    const stored_refresh_token stored{found->first, token.family ? &token.replaced : nullptr, token.replaced_at, token.scopes,
                                      access_.was_made_with(shown.access_digest, token.id)};
    const auto judged = judge_refresh(stored, shown);
    if (judged == refresh_result::reused) {
        const grant_parties parties = token.parties;
        revoke(parties);
        return refreshed_token{judged, {}, {}, parties.user};
    }
    if (judged != refresh_result::refreshed) return refreshed_token{judged, {}};

    const scope_set& scopes = shown.narrowed ? *shown.narrowed : token.scopes;
    const auto seed = rotation ? std::optional{token.successor_seed} : std::nullopt;
    if (is_repeated(stored, shown)) return refreshed_token{judged, scopes, seed};
    if (auto done = access_.create({token.parties.user, token.parties.application, shown.access_digest, scopes,
                                    shown.now, shown.access_expires_at},
                                   token.id);
        !done)
        return std::move(done).error();
    tollgate::detail::undo_unless_kept access_made{[&]() noexcept { access_.revoke(shown.access_digest); }};
    const instant expires_at = shown.refresh_token_end(token.ends_at);
    if (rotation && is_current)
        if (auto done = replace(found, *rotation, shown.now); !done) return std::move(done).error();
    access_made.keep();
    const digest current = rotation && is_current ? rotation->successor_digest : found->first;
    move_in_time(refresh_tokens_by_end_, {token.expires_at, current}, expires_at);
    token.expires_at = expires_at;
    return refreshed_token{refresh_result::refreshed, scopes,
                           rotation ? std::optional{token.successor_seed} : std::nullopt};
}

TOLLGATE_DECL bool grants::revoke_token(const oauth_token_revocation& revoked) noexcept {
    const digest& token = revoked.token_digest;
    const auto is_meant = [&](const grant_parties& parties) {
        return parties.application == revoked.application.value_or(parties.application);
    };
    if (const auto found = find_refresh_token(token, token); found != refresh_tokens_.end()) {
        if (!is_meant(found->second.parties)) return false;
        access_.revoke_made_with(found->second.id, found->second.parties);
        forget_refresh_token(found->first);
        return true;
    }
    const auto parties = access_.parties_of(token);
    return parties && is_meant(*parties) && access_.revoke(token);
}

TOLLGATE_DECL std::optional<oauth_token> grants::find_token(const digest& token) {
    auto described = access_.describe(token);
    if (const auto found = find_refresh_token(token, token); !described && found != refresh_tokens_.end()) {
        const refresh_row& stored = found->second;
        described = oauth_token{true, stored.parties.user, stored.parties.application, {}, stored.scopes, {}, stored.expires_at};
    }
    if (!described) return std::nullopt;
    if (const application* known = applications_.find(described->application)) described->client_id = known->client_id;
    return described;
}

TOLLGATE_DECL std::int64_t grants::users_of(application_id application) const noexcept {
    std::int64_t count = 0;
    for (auto each = rows_.lower_bound({application, user_id{1}});
         each != rows_.end() && each->first.application == application; ++each)
        ++count;
    return count;
}

TOLLGATE_DECL std::vector<grant> grants::of(user_id user) const {
    std::vector<grant> found;
    for (auto each = of_user_.lower_bound({user, application_id{1}}); each != of_user_.end() && each->first == user;
         ++each) {
        const row& stored = rows_.at({each->second, user});
        const application& named = *applications_.find(each->second);
        found.push_back({stored.id, user, each->second, named.name, named.website, stored.scopes, stored.created_at,
                         stored.last_used_at, named.suspended.has_value()});
    }
    std::sort(found.begin(), found.end(), [](const grant& a, const grant& b) { return a.id < b.id; });
    return found;
}

/// Takes its argument by value: a reference into the removed row would dangle.
TOLLGATE_DECL bool grants::revoke(grant_parties parties) noexcept {
    access_.revoke_between(parties);
    const auto found = rows_.find(parties);
    if (found == rows_.end()) return false;
    const row& revoked = found->second;
    while (!revoked.codes.empty()) forget_code(revoked.codes.back());
    while (!revoked.refresh_tokens.empty()) forget_refresh_token(revoked.refresh_tokens.back());
    of_user_.erase({parties.user, parties.application});
    rows_.erase(found);
    return true;
}

TOLLGATE_DECL void grants::revoke_all_of(application_id application) noexcept {
    access_.revoke_all_of(application);  // also those without a grant
    for (;;) {
        const auto next = rows_.lower_bound({application, user_id{1}});
        if (next == rows_.end() || next->first.application != application) return;
        revoke(next->first);
    }
}

TOLLGATE_DECL void grants::record_use(const grant_parties& parties, instant now) noexcept {
    if (const auto found = rows_.find(parties); found != rows_.end()) found->second.last_used_at = now;
}

TOLLGATE_DECL std::size_t grants::sweep_expired(instant now, std::size_t rows_max) noexcept {
    std::size_t swept = sweep_codes(now, rows_max);
    swept += access_.sweep_expired(now, rows_max - swept);
    return swept + sweep_refresh_tokens(now, rows_max - swept);
}

TOLLGATE_DECL std::size_t grants::sweep_codes(instant now, std::size_t rows_max) noexcept {
    std::size_t swept = 0;
    for (; swept < rows_max && !codes_by_end_.empty() && codes_by_end_.begin()->at <= now; ++swept)
        forget_code(codes_by_end_.begin()->digest);
    return swept;
}

TOLLGATE_DECL std::size_t grants::sweep_refresh_tokens(instant now, std::size_t rows_max) noexcept {
    std::size_t swept = 0;
    for (; swept < rows_max && !refresh_tokens_by_end_.empty() && refresh_tokens_by_end_.begin()->at <= now; ++swept)
        forget_refresh_token(refresh_tokens_by_end_.begin()->digest);
    return swept;
}

/// Precondition: it exists. By value: a reference into the removed row would dangle.
TOLLGATE_DECL void grants::forget_code(digest code) noexcept {
    const auto found = codes_.find(code);
    codes_by_end_.erase({found->second.forget_at, code});
    code_shares_.remove(found->second.parties.user);
    std::erase(rows_.find(found->second.parties)->second.codes, code);
    codes_.erase(found);
}

/// Precondition: it exists. By value: a reference into the removed row would dangle.
TOLLGATE_DECL void grants::forget_refresh_token(digest token) noexcept {
    const auto found = refresh_tokens_.find(token);
    refresh_tokens_by_end_.erase({found->second.expires_at, token});
    refresh_token_shares_.remove(found->second.parties.user);
    std::erase(rows_.find(found->second.parties)->second.refresh_tokens, token);
    if (found->second.family) families_.erase(*found->second.family);
    refresh_tokens_.erase(found);
}

TOLLGATE_DECL bool grants::revoke_what_came_of(const code_row& code) noexcept {
    const bool had_access = access_.revoke_made_with(*code.refresh_token, code.parties);
    const auto refresh = refresh_digest_of(code);
    if (refresh) forget_refresh_token(*refresh);
    return had_access || refresh;
}

TOLLGATE_DECL void grants::forget_least_used_refresh_token(const row& grant, const digest& but_not) noexcept {
    const digest* chosen = nullptr;
    instant chosen_expires_at{};
    for (const digest& each : grant.refresh_tokens) {
        const instant expires_at = refresh_tokens_.find(each)->second.expires_at;
        if (each == but_not || (chosen != nullptr && chosen_expires_at <= expires_at)) continue;
        chosen = &each;
        chosen_expires_at = expires_at;
    }
    if (chosen != nullptr) forget_refresh_token(*chosen);
}

}  // namespace tollgate::memory

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_GRANTS_IPP

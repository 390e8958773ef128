#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_TOKENS_IPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_TOKENS_IPP

#include <tollgate/store/detail/key_value/tokens.hpp>
#include <tollgate/store/key_value.hpp>

#include <string>
#include <utility>
#include <variant>

namespace tollgate::inline v0 {

namespace key_value_detail {


using personal_token_row = personal_token_record<std::string>;

inline bool forget_personal_token(rows& all, token_id id) {
    std::string username;
    if (!all.find(key{table::usernames}.id(id), username)) return false;
    const key at = personal_token_key_of(username);
    const auto found = all.existing<personal_token_row>(at);
    all.erase(at);
    all.erase(key{table::usernames}.id(id));
    all.erase(key{table::tokens_of_user}.id(found.user).id(id));
    release_row(all, bounded_personal_tokens);
    return true;
}

inline bool forget_oauth_token(rows& all, const oauth_token_revocation& revoked) {
    const auto may_revoke = [&](application_id of) { return !revoked.application || *revoked.application == of; };
    const digest& token = revoked.token_digest;
    if (const auto found = find_refresh_token(all, token, token)) {
        const refresh_token_record& refresh = found->record;
        if (!may_revoke(refresh.application)) return false;
        forget_access_tokens_from(all, refresh.application, refresh.user, refresh.origin);
        forget_refresh_token(all, found->token);
        return true;
    }
    const auto found = all.get<access_token_row>(access_token_key_of(token));
    return found && may_revoke(found->application) && forget_access_token(all, token);
}

}  // namespace key_value_detail

TOLLGATE_DECL result<std::optional<token_credential>> record_store::find_credential(const credential_key& named) noexcept {
    using namespace key_value_detail;
    return read(database_, [&](rows& all) {
        std::optional<token_credential> found;
        const key at = key_of(named);
        std::string value;
        if (all.find(at, value) && !read_credential(value, named, found)) throw_damaged(at);
        return found;
    });
}

TOLLGATE_DECL result<token_id> record_store::create_personal_token(const new_personal_token& token,
                                                                   std::size_t tokens_per_user_max) noexcept {
    using namespace key_value_detail;
    return change(database_, [&](rows& all) -> result<token_id> {
        const key at = personal_token_key_of(token.username);
        if (const auto existing = all.get<personal_token_row>(at)) {
            if (existing->user == token.user && existing->secret == token.secret_digest) return existing->id;
            return personal_token_exists();
        }
        const key siblings = key{table::tokens_of_user}.id(token.user);
        if (all.count(siblings, tokens_per_user_max) >= tokens_per_user_max) return too_many_personal_tokens(tokens_per_user_max);
        if (auto claimed = claim_row(all, bounded_personal_tokens); !claimed) return std::move(claimed).error();
        const auto id = all.next_id<token_id>(table::personal_tokens);
        all.put(at, personal_token_record<std::string_view>{token.user, id, token.secret_digest, token.expires_at, {}, token.scopes.text(),
                                                            token.created_at, token.description, {}});
        all.put(key{siblings}.id(id), token.username);
        all.put(key{table::usernames}.id(id), token.username);
        return id;
    });
}

TOLLGATE_DECL result<std::vector<personal_token>> record_store::personal_tokens_of(user_id user) noexcept {
    using namespace key_value_detail;
    return read(database_, [&](rows& all) {
        std::vector<token_username> usernames;
        all.scan(key{table::tokens_of_user}.id(user), all_rows, [&](std::string_view, std::string_view value) {
            if (const auto username = token_username::from(value)) usernames.push_back(*username);
            return true;
        });
        std::vector<personal_token> found;
        for (const token_username& each : usernames) {
            auto token = all.existing<personal_token_row>(personal_token_key_of(each));
            found.push_back({token.id, user, each, std::move(token.description), scope_set::from_text(token.scopes), token.created_at,
                             token.last_used_at, token.expires_at, std::move(token.last_used_from), token.secret});
        }
        return found;
    });
}

TOLLGATE_DECL result<bool> record_store::renew_personal_token(user_id user, token_id id, const personal_token_renewal& renewed) noexcept {
    using namespace key_value_detail;
    return change(database_, [&](rows& all) {
        std::string username;
        if (!all.find(key{table::usernames}.id(id), username)) return false;
        const key at = personal_token_key_of(username);
        auto token = all.existing<personal_token_row>(at);
        if (token.user != user) return false;
        if (renewed.replaced && token.secret != *renewed.replaced) return token.secret == renewed.secret_digest;  // repeated, or too late
        token.secret = renewed.secret_digest;
        token.created_at = renewed.created_at;
        token.expires_at = renewed.expires_at;
        all.put(at, token);
        return true;
    });
}

TOLLGATE_DECL result<bool> record_store::revoke(const revocation& revoked) noexcept {
    using namespace key_value_detail;
    return change(database_, [&](rows& all) {
        if (const auto* const personal = std::get_if<personal_token_revocation>(&revoked))
            return forget_personal_token(all, personal->token);
        if (const auto* const oauth = std::get_if<oauth_token_revocation>(&revoked)) return forget_oauth_token(all, *oauth);
        const auto& grant = std::get<grant_revocation>(revoked);
        return forget_grant(all, grant.application, grant.user);
    });
}

TOLLGATE_DECL result<bool> record_store::create_access_token(const new_access_token& token) noexcept {
    using namespace key_value_detail;
    return change(database_, [&](rows& all) -> result<bool> {
        if (token.for_owner) {
            const auto found = all.get<application_record>(application_key(token.application));
            if (!found || found->owner != token.user || !found->acts_for_owner || found->type != client_type::confidential ||
                found->suspended)
                return false;
        }
        const std::uint64_t origin = token.for_owner ? created_for_owner : created_alone;
        if (was_created(all, token.token_digest, token.user, token.application, origin)) return true;  // the call is repeated
        return add_access_token(all, token, origin).transform([] { return true; });
    });
}

TOLLGATE_DECL result<void> record_store::record_use(const credential_key& named, instant now, std::string_view from) noexcept {
    using namespace key_value_detail;
    return change(database_, [&](rows& all) {
        const key at = key_of(named);
        if (std::holds_alternative<personal_token_key>(named)) {
            auto token = all.get<personal_token_row>(at);
            if (!token) return;
            token->last_used_at = now;
            token->last_used_from = from;
            all.put(at, *token);
            return;
        }
        auto token = all.get<access_token_row>(at);
        if (!token) return;
        token->last_used_at = now;
        all.put(at, *token);
        const key granted = grant_key(token->application, token->user);
        if (auto grant = all.get<grant_record>(granted)) {
            grant->last_used_at = now;
            all.put(granted, *grant);
        }
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_TOKENS_IPP

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_GRANTS_IPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_GRANTS_IPP

#include <tollgate/store/detail/key_value/tokens.hpp>
#include <tollgate/store/detail/widen_scopes.hpp>
#include <tollgate/store/key_value.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace tollgate::inline v0 {

namespace key_value_detail {

/// Stores a code and its grant. Changes nothing unless it returns `created`.
[[nodiscard]] inline result<code_result> add_code(rows& all, const new_authorization_code& code) {
    const auto application = all.get<application_record>(application_key(code.application));
    if (application && application->suspended) return code_result::suspended;
    const auto existing = all.get<code_record>(code_key(code.code_digest));
    if (existing && existing->redeemed_at) return code_result::spent;
    if (existing && !code.replaces(existing->expires_at)) return code_result::waiting;
    if (!application) return not_found();
    const key granted = grant_key(code.application, code.user);
    auto grant = all.get<grant_record>(granted);
    const auto scopes = detail::widen_scopes(grant ? std::optional{scope_set::from_text(grant->scopes)} : std::nullopt, code);
    if (!scopes) return scopes.error();
    if (!*scopes) return code_result::not_granted;

    if (existing) forget_code(all, code.code_digest);
    const key siblings = codes_between(code.application, code.user);
    if (const auto codes = all.digests(siblings); codes.size() >= limits::codes_per_grant_max) forget_code(all, codes.front());
    if (auto claimed = claim_expiring_row(all, bounded_codes, code.user, code.created_at); !claimed) return std::move(claimed).error();
    if (!grant) {
        if (auto claimed = claim_row(all, bounded_grants); !claimed) return std::move(claimed).error();
        grant.emplace(grant_record{all.next_id<grant_id>(table::grants), {}, code.created_at});
        all.put(key{table::grants_of_user}.id(code.user).id(code.application), "");
        all.add(key{table::user_counts}.id(code.application), 1);
    }
    grant->scopes = (*scopes)->text();
    const std::uint64_t number = ++grant->last_number;
    all.put(granted, *grant);
    all.put(code_key(code.code_digest),
            code_record{code.user, code.application, std::string{code.scopes.text()}, code.redirect, code.code_challenge, number,
                        code.expires_at, code.expires_at, {}, {}, code.resources.text()});
    all.put(key{siblings}.number(number).bytes(code.code_digest), "");
    all.put(expiry_key(code.expires_at, table::codes, code.code_digest), "");
    return code_result::created;
}

/// Revokes the refresh token of an origin and its access tokens. Returns true if there were any.
inline bool forget_tokens_from(rows& all, application_id application, user_id user, std::uint64_t origin) {
    const bool had_access = forget_access_tokens_from(all, application, user, origin);
    std::optional<digest> found;
    all.scan(refresh_tokens_between(application, user), all_rows, [&](std::string_view at, std::string_view value) {
        if (number_at(value, 0) == origin) found = last_digest(at);
        return !found;
    });
    if (found) forget_refresh_token(all, *found);
    return had_access || found;
}

}  // namespace key_value_detail

TOLLGATE_DECL result<code_result> record_store::create_code(const new_authorization_code& code) noexcept {
    using namespace key_value_detail;
    return change(database_, [&](rows& all) { return add_code(all, code); });
}

TOLLGATE_DECL result<redeemed_code> record_store::redeem_code(const code_redemption& shown) noexcept {
    using namespace key_value_detail;
    return change(database_, [&](rows& all) -> result<redeemed_code> {
        auto found = all.get<code_record>(code_key(shown.code_digest));
        if (!found || found->application != shown.application || !may_get_tokens(all, shown.application)) return redeemed_code{};
        code_record& code = *found;
        const bool is_redeemed = code.redeemed_at.has_value();
        const auto first_token = is_redeemed && all.has(refresh_token_key(code.refresh_token)) ? std::optional{code.refresh_token}
                                                                                                : std::nullopt;
        const auto resources = to_resources(code.resources);
        const auto judged =
            judge_redemption({code.redeemed_at, code.expires_at, code.redirect, code.code_challenge, first_token, resources}, shown);
        if (judged == redemption_result::reused) {
            const bool revoked = forget_tokens_from(all, code.application, code.user, origin_of(code.refresh_token));
            return redeemed_code{judged, revoked ? std::optional{code.user} : std::nullopt, {}};
        }
        if (judged != redemption_result::redeemed) return redeemed_code{judged, {}, {}};
        const auto scopes = scope_set::from_text(code.scopes);
        if (is_redeemed) return redeemed_code{judged, code.user, scopes};  // the call is repeated

        const issued_tokens& issued = shown.tokens;
        if (all.has(refresh_token_key(issued.refresh_digest))) return token_exists();
        const std::uint64_t origin = origin_of(issued.refresh_digest);
        if (auto done = add_access_token(
                all,
                {.user = code.user,
                 .application = code.application,
                 .token_digest = issued.access_digest,
                 .scopes = scopes,
                 .created_at = shown.now,
                 .expires_at = issued.access_expires_at,
                 .resources = resources.narrowed_to(shown.resources)},
                origin);
            !done)
            return std::move(done).error();
        const auto siblings = all.digests(refresh_tokens_between(code.application, code.user));
        if (siblings.size() >= limits::refresh_tokens_per_grant_max) forget_refresh_token(all, siblings.front());
        if (auto claimed = claim_expiring_row(all, bounded_refresh_tokens, code.user, shown.now); !claimed)
            return std::move(claimed).error();
        write_refresh_token(all, issued.refresh_digest,
                            {code.user, code.application, origin, next_number(all, code.application, code.user), code.scopes,
                             issued.refresh_token_end(), issued.refresh_ends_at, {}, {}, {}, {}, code.resources});
        all.erase(expiry_key(code.forget_at, table::codes, shown.code_digest));
        code.redeemed_at = shown.now;
        code.refresh_token = issued.refresh_digest;
        code.forget_at = code.expires_at + seconds{limits::spent_code_seconds};
        all.put(code_key(shown.code_digest), code);
        all.put(expiry_key(code.forget_at, table::codes, shown.code_digest), "");
        return redeemed_code{judged, code.user, scopes};
    });
}

TOLLGATE_DECL result<refreshed_token> record_store::refresh_access_token(const token_refresh& shown) noexcept {
    using namespace key_value_detail;
    return change(database_, [&](rows& all) -> result<refreshed_token> {
        auto found = find_refresh_token(all, shown.refresh_digest, shown.family_digest());
        if (!found || found->record.application != shown.application || found->record.expires_at <= shown.now ||
            !may_get_tokens(all, shown.application))
            return refreshed_token{};
        refresh_token_record& token = found->record;
        const scope_set granted = scope_set::from_text(token.scopes);
        const stored_refresh_token stored{found->token, token.family ? &token.replaced : nullptr, token.replaced_at, granted,
                                          was_created(all, shown.access_digest, token.user, token.application, token.origin),
                                          to_resources(token.resources)};
        const auto judged = judge_refresh(stored, shown);
        if (judged == refresh_result::reused) {
            forget_grant(all, token.application, token.user);
            return refreshed_token{judged, {}, {}, token.user};
        }
        if (judged != refresh_result::refreshed) return refreshed_token{judged, {}};
        const scope_set& scopes = shown.narrowed ? *shown.narrowed : granted;
        const auto seed = [&] { return shown.rotation ? std::optional{token.successor_seed} : std::nullopt; };
        if (is_repeated(stored, shown)) return refreshed_token{judged, scopes, seed()};

        if (auto done = add_access_token(
                all,
                {.user = token.user,
                 .application = token.application,
                 .token_digest = shown.access_digest,
                 .scopes = scopes,
                 .created_at = shown.now,
                 .expires_at = shown.access_expires_at,
                 .resources = stored.resources.narrowed_to(shown.resources)},
                token.origin);
            !done)
            return std::move(done).error();
        digest next = found->token;
        erase_refresh_token(all, found->token, token);
        if (shown.rotation && found->token == shown.refresh_digest) {
            next = shown.rotation->successor_digest;
            if (all.has(refresh_token_key(next))) return token_exists();
            token.family = shown.rotation->family_digest;
            token.replaced = found->token;
            token.replaced_at = shown.now;
            token.successor_seed = shown.rotation->successor_seed;
            all.put(key{table::token_families}.bytes(*token.family), next.raw());
        }
        token.expires_at = shown.refresh_token_end(token.ends_at);
        token.number = next_number(all, token.application, token.user);
        write_refresh_token(all, next, token);
        return refreshed_token{judged, scopes, seed()};
    });
}

TOLLGATE_DECL result<std::optional<oauth_token>> record_store::find_oauth_token(const digest& token) noexcept {
    using namespace key_value_detail;
    return read(database_, [&](rows& all) {
        std::optional<oauth_token> found;
        if (const auto access = all.get<access_token_row>(access_token_key_of(token)))
            found.emplace(oauth_token{false, access->user, access->application, {}, scope_set::from_text(access->scopes),
                                      access->created_at, access->expires_at, to_resources(access->resources)});
        else if (const auto refresh = find_refresh_token(all, token, token))
            found.emplace(oauth_token{true, refresh->record.user, refresh->record.application, {},
                                      scope_set::from_text(refresh->record.scopes), {}, refresh->record.expires_at,
                                      to_resources(refresh->record.resources)});
        if (found)
            if (const auto application = all.get<application_record>(application_key(found->application)))
                found->client_id = application->client_id;
        return found;
    });
}

TOLLGATE_DECL result<std::vector<grant>> record_store::grants_of(user_id user) noexcept {
    using namespace key_value_detail;
    return read(database_, [&](rows& all) {
        std::vector<grant> found;
        for (const application_id id : all.ids<application_id>(key{table::grants_of_user}.id(user))) {
            auto application = all.get<application_record>(application_key(id));
            if (!application) continue;  // it was deleted, and its grants are still to be removed
            const auto stored = all.existing<grant_record>(grant_key(id, user));
            found.push_back({stored.id, user, id, std::move(application->name), std::move(application->website),
                             scope_set::from_text(stored.scopes), stored.created_at, stored.last_used_at,
                             application->suspended.has_value()});
        }
        std::sort(found.begin(), found.end(), [](const grant& a, const grant& b) { return a.id < b.id; });
        return found;
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_GRANTS_IPP

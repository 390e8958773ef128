#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/postgres/access_tokens.hpp>
#include <tollgate/store/detail/postgres/columns.hpp>
#include <tollgate/store/detail/postgres/grants.hpp>
#include <tollgate/store/detail/refusals.hpp>

#include <cstdint>
#include <string>
#include <utility>

// Whatever makes or takes away a grant's codes and tokens locks the grant's row first, with a statement of its own. So
// for one user and one application these verbs come one after the other, and the statements behind the lock see all
// that those before them did. FOR NO KEY UPDATE, because foreign keys are checked by others meanwhile.

namespace tollgate::inline v0::postgres {

TOLLGATE_DECL result<std::optional<scope_set>> grants::granted(user_id user, application_id application) {
    auto found = connections_.ask("SELECT scopes FROM tollgate_grants WHERE user_id = $1 AND application_id = $2", user,
                                  application);
    if (!found) return std::move(found).error();
    const auto row = found->next<scope_set>();
    if (!row) return row.error();
    if (!*row) return std::optional<scope_set>{};
    return std::optional{std::get<0>(**row)};
}

TOLLGATE_DECL result<code_result> grants::create_code(const new_authorization_code& made) {
    auto asked = connections_.make_batch();
    asked.add(
        "INSERT INTO tollgate_grants (user_id, application_id, scopes, created_at) SELECT $1, $2, '', $3 "
        "WHERE NOT $5 AND NOT EXISTS (SELECT FROM tollgate_codes WHERE code_digest = $4) "
        "ON CONFLICT (user_id, application_id) DO NOTHING",
        made.user, made.application, made.created_at, made.code_digest, made.only_if_granted);
    asked.add("SELECT id FROM tollgate_grants WHERE user_id = $1 AND application_id = $2 FOR NO KEY UPDATE", made.user,
              made.application);
    // Scopes that were granted before stay in front, in their order.
    asked.add(
        "WITH there AS (SELECT refresh_token_id IS NOT NULL AS is_spent FROM tollgate_codes WHERE code_digest = $1), "
        "widened AS (SELECT id, scopes AS before, ("
        "SELECT coalesce(string_agg(scope, ' ' ORDER BY place), '') FROM ("
        "SELECT scope, min(place) AS place FROM unnest(string_to_array(scopes, ' ') || string_to_array($4, ' ')) "
        "WITH ORDINALITY AS listed (scope, place) WHERE scope <> '' GROUP BY scope) AS each) AS scopes "
        "FROM tollgate_grants WHERE user_id = $2 AND application_id = $3 AND NOT EXISTS (SELECT FROM there)), "
        "fitting AS (SELECT id, before, scopes FROM widened WHERE octet_length(scopes) <= $5 "
        "AND (scopes = before OR NOT $9)), "
        "grown AS (UPDATE tollgate_grants AS grants SET scopes = fitting.scopes FROM fitting "
        "WHERE grants.id = fitting.id AND fitting.scopes <> fitting.before), "
        "made AS (INSERT INTO tollgate_codes "
        "(code_digest, grant_id, scopes, redirect, code_challenge, expires_at, forget_at) "
        "SELECT $1, id, $4, $6, $7, $8, $8 FROM fitting RETURNING id) "
        "SELECT (SELECT is_spent FROM there), EXISTS (SELECT FROM widened), EXISTS (SELECT FROM made)",
        made.code_digest, made.user, made.application, made.scopes, limits::scope_text_bytes_max, made.redirect,
        made.code_challenge, made.expires_at, made.only_if_granted);
    asked.add(
        "DELETE FROM tollgate_codes WHERE id = ANY (ARRAY(SELECT codes.id FROM tollgate_codes AS codes "
        "JOIN tollgate_grants AS grants ON grants.id = grant_id WHERE user_id = $1 AND application_id = $2 "
        "ORDER BY codes.id DESC OFFSET $3))",
        made.user, made.application, limits::codes_per_grant_max);
    auto answered = connections_.run(asked);
    if (!answered) return std::move(answered).error();
    const auto row = (*answered)[2].only<std::optional<bool>, bool, bool>();
    if (!row) return row.error();
    const auto& [is_spent, has_grant, is_made] = *row;
    if (is_spent) return *is_spent ? code_result::spent : code_result::waiting;
    if (is_made) return code_result::created;
    if (made.only_if_granted) return code_result::not_granted;
    return has_grant ? too_many_scopes() : not_found();
}

TOLLGATE_DECL result<redeemed_code> grants::redeem(const code_redemption& shown) {
    auto asked = connections_.make_batch();
    asked.add(
        "SELECT grants.id FROM tollgate_grants AS grants JOIN tollgate_codes AS codes ON grants.id = codes.grant_id "
        "WHERE code_digest = $1 AND application_id = $2 FOR NO KEY UPDATE OF grants",
        shown.code_digest, shown.application);
    // A parameter that is NULL equals nothing and differs from nothing: a redirect_uri that was not shown is fine.
    asked.add(
        "WITH shown AS (SELECT codes.id, grant_id, user_id, codes.scopes, expires_at, refresh_token_id, "
        "CASE WHEN refresh_token_id IS NOT NULL THEN 'reused' WHEN expires_at <= $3 THEN 'expired' "
        "WHEN redirect <> $4 THEN 'redirect' "
        "WHEN code_challenge IS DISTINCT FROM $5 THEN 'verifier' ELSE 'redeemed' END AS result "
        "FROM tollgate_codes AS codes JOIN tollgate_grants AS grants ON grants.id = grant_id "
        "WHERE code_digest = $1 AND application_id = $2), "
        "refresh AS (INSERT INTO tollgate_refresh_tokens (token_digest, grant_id, scopes, expires_at, ends_at) "
        "SELECT $6, grant_id, scopes, least($7, $8), $8 FROM shown WHERE result = 'redeemed' RETURNING id), "
        "access AS (INSERT INTO tollgate_access_tokens "
        "(token_digest, user_id, application_id, scopes, created_at, expires_at, refresh_token_id) "
        "SELECT $9, user_id, $2, scopes, $3, $10, refresh.id FROM shown, refresh), "
        "spent AS (UPDATE tollgate_codes AS codes SET refresh_token_id = refresh.id, "
        "forget_at = shown.expires_at + $11 FROM shown, refresh WHERE codes.id = shown.id), "
        "revoked_access AS (DELETE FROM tollgate_access_tokens AS tokens USING shown "
        "WHERE result = 'reused' AND tokens.refresh_token_id = shown.refresh_token_id), "
        "revoked AS (DELETE FROM tollgate_refresh_tokens AS tokens USING shown "
        "WHERE result = 'reused' AND tokens.id = shown.refresh_token_id) "
        "SELECT result, user_id, scopes FROM shown",
        shown.code_digest, shown.application, shown.now, shown.redirect_uri, shown.code_challenge,
        shown.tokens.refresh_digest, shown.tokens.refresh_expires_at, shown.tokens.refresh_ends_at,
        shown.tokens.access_digest, shown.tokens.access_expires_at, milliseconds{seconds{limits::spent_code_seconds}});
    // One whose expiry is furthest off was used last.
    asked.add(
        "DELETE FROM tollgate_refresh_tokens WHERE id = ANY (ARRAY(SELECT older.id FROM tollgate_refresh_tokens AS "
        "newest "
        "JOIN tollgate_refresh_tokens AS older USING (grant_id) WHERE newest.token_digest = $1 "
        "AND older.token_digest <> $1 ORDER BY older.expires_at DESC OFFSET $2))",
        shown.tokens.refresh_digest, limits::refresh_tokens_per_grant_max - 1);
    trim_access_tokens(asked, shown.tokens.access_digest);
    auto answered = connections_.run(asked);
    // It takes tokens away, too: of a code that was used before.
    if (!answered) return forget_all_after(token_exists(std::move(answered).error()), changes_);
    const auto row = (*answered)[1].next<std::string, user_id, scope_set>();
    if (!row) return forget_all_after(row.error(), changes_);
    if (!*row) return redeemed_code{};
    const auto& [result, user, scopes] = **row;
    changes_.forget_key(std::hash<digest>{}(shown.tokens.access_digest));
    changes_.forget(user);
    if (result == "redeemed") return redeemed_code{redemption_result::redeemed, user, scopes};
    if (result == "reused") return redeemed_code{redemption_result::reused, {}, {}};
    if (result == "expired") return redeemed_code{redemption_result::expired, {}, {}};
    if (result == "redirect") return redeemed_code{redemption_result::redirect_mismatch, {}, {}};
    if (result == "verifier") return redeemed_code{redemption_result::verifier_mismatch, {}, {}};
    return redeemed_code{};
}

TOLLGATE_DECL result<refreshed_token> grants::refresh(const token_refresh& shown) {
    auto asked = connections_.make_batch();
    asked.add(
        "SELECT grants.id FROM tollgate_grants AS grants JOIN tollgate_refresh_tokens AS tokens "
        "ON grants.id = tokens.grant_id WHERE token_digest = $1 AND application_id = $2 FOR NO KEY UPDATE OF grants",
        shown.refresh_digest, shown.application);
    asked.add(
        "WITH shown AS (SELECT tokens.id, user_id, coalesce($4, tokens.scopes) AS scopes, "
        "coalesce(string_to_array($4, ' ') <@ string_to_array(tokens.scopes, ' '), true) AS fits "
        "FROM tollgate_refresh_tokens AS tokens JOIN tollgate_grants AS grants ON grants.id = grant_id "
        "WHERE token_digest = $1 AND application_id = $2 AND expires_at > $3), "
        "access AS (INSERT INTO tollgate_access_tokens "
        "(token_digest, user_id, application_id, scopes, created_at, expires_at, refresh_token_id) "
        "SELECT $5, user_id, $2, scopes, $3, $6, id FROM shown WHERE fits), "
        "used AS (UPDATE tollgate_refresh_tokens AS tokens SET expires_at = least($7, ends_at) FROM shown "
        "WHERE tokens.id = shown.id AND fits) "
        "SELECT scopes, fits, user_id FROM shown",
        shown.refresh_digest, shown.application, shown.now, shown.narrowed, shown.access_digest,
        shown.access_expires_at, instant{shown.now + shown.refresh_lifetime});
    trim_access_tokens(asked, shown.access_digest);
    auto answered = connections_.run(asked);
    if (!answered) return token_exists(std::move(answered).error());
    const auto row = (*answered)[1].next<scope_set, bool, user_id>();
    if (!row) return row.error();
    if (!*row) return refreshed_token{};
    const auto& [scopes, fits, user] = **row;
    changes_.forget_key(std::hash<digest>{}(shown.access_digest));
    if (answered->back().touched() > 0) changes_.forget(user);  // older ones went
    if (!fits) return refreshed_token{refresh_result::too_wide, {}};
    return refreshed_token{refresh_result::refreshed, scopes};
}

TOLLGATE_DECL result<void> grants::revoke_token(application_id application, const digest& token) {
    auto asked = connections_.make_batch();
    asked.add(
        "SELECT grants.id FROM tollgate_grants AS grants JOIN tollgate_refresh_tokens AS tokens "
        "ON grants.id = tokens.grant_id WHERE token_digest = $1 AND application_id = $2 FOR NO KEY UPDATE OF grants",
        token, application);
    asked.add(
        "WITH refresh AS (DELETE FROM tollgate_refresh_tokens AS tokens USING tollgate_grants AS grants "
        "WHERE grants.id = grant_id AND token_digest = $1 AND application_id = $2 RETURNING tokens.id) "
        "DELETE FROM tollgate_access_tokens WHERE refresh_token_id = (SELECT id FROM refresh) RETURNING user_id",
        token, application);
    asked.add("DELETE FROM tollgate_access_tokens WHERE token_digest = $1 AND application_id = $2", token, application);
    auto done = connections_.run(asked);
    if (!done) return forget_all_after(std::move(done).error(), changes_);
    changes_.forget_key(std::hash<digest>{}(token));
    const auto row = (*done)[1].next<user_id>();  // all are of one
    if (!row) return forget_all_after(row.error(), changes_);
    if (*row) changes_.forget(std::get<0>(**row));
    return {};
}

TOLLGATE_DECL result<std::vector<grant>> grants::of(user_id user) {
    auto listed = connections_.ask(
        "SELECT grants.id, application_id, name, website, scopes, grants.created_at, last_used_at "
        "FROM tollgate_grants AS grants JOIN tollgate_applications AS applications "
        "ON application_id = applications.id WHERE user_id = $1 ORDER BY grants.id",
        user);
    if (!listed) return std::move(listed).error();
    std::vector<grant> found;
    for (;;) {
        auto row = listed->next<grant_id, application_id, std::string, std::string, scope_set, instant,
                                std::optional<instant>>();
        if (!row) return std::move(row).error();
        if (!*row) return found;
        auto& [id, application, name, website, scopes, created_at, last_used_at] = **row;
        found.push_back({id, user, application, std::move(name), std::move(website), scopes, created_at, last_used_at});
    }
}

TOLLGATE_DECL result<bool> grants::revoke(user_id user, application_id application) {
    auto asked = connections_.make_batch();
    asked.add("SELECT id FROM tollgate_grants WHERE user_id = $1 AND application_id = $2 FOR UPDATE", user,
              application);
    // Those of no grant, too: whoever revokes does not want that application in.
    asked.add("DELETE FROM tollgate_access_tokens WHERE application_id = $1 AND user_id = $2", application, user);
    asked.add("DELETE FROM tollgate_grants WHERE user_id = $1 AND application_id = $2", user, application);
    auto answered = connections_.run(asked);
    if (!answered) return forget_all_after(std::move(answered).error(), changes_);
    changes_.forget(user);
    return answered->back().touched() > 0;
}

TOLLGATE_DECL result<std::size_t> grants::sweep_expired(instant now, std::size_t rows_max) {
    if (rows_max == 0) return std::size_t{0};
    // Of nodes that sweep at once each takes other rows.
    auto swept = connections_.change(
        "WITH codes AS (DELETE FROM tollgate_codes WHERE id = ANY (ARRAY("
        "SELECT id FROM tollgate_codes WHERE forget_at <= $1 ORDER BY forget_at LIMIT $2 FOR UPDATE SKIP LOCKED)) "
        "RETURNING id), "
        "access AS (DELETE FROM tollgate_access_tokens WHERE token_digest = ANY (ARRAY("
        "SELECT token_digest FROM tollgate_access_tokens WHERE expires_at <= $1 ORDER BY expires_at "
        "LIMIT $2 - (SELECT count(*) FROM codes) FOR UPDATE SKIP LOCKED)) RETURNING token_digest), "
        "refresh AS (DELETE FROM tollgate_refresh_tokens WHERE id = ANY (ARRAY("
        "SELECT id FROM tollgate_refresh_tokens WHERE expires_at <= $1 ORDER BY expires_at "
        "LIMIT $2 - (SELECT count(*) FROM codes) - (SELECT count(*) FROM access) FOR UPDATE SKIP LOCKED)) RETURNING "
        "id) "
        "SELECT (SELECT count(*) FROM codes) + (SELECT count(*) FROM access) + (SELECT count(*) FROM refresh)",
        now, rows_max);
    if (!swept) return std::move(swept).error();
    const auto row = swept->only<std::int64_t>();
    if (!row) return row.error();
    return static_cast<std::size_t>(std::get<0>(*row));
}

}  // namespace tollgate::postgres

#pragma once

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/postgres/store_impl.hpp>

#include <string>
#include <string_view>

// A verb that creates or removes a grant's codes or tokens first locks the grant's row with a separate statement (`create_code` after
// the lock of its code). For one user and one application these verbs are thus serialized, and each statement after the lock sees what
// earlier verbs did. FOR NO KEY UPDATE, so that foreign key checks of others do not wait.

namespace tollgate::inline v0 {

TOLLGATE_DECL result<std::optional<scope_set>> postgres_store::granted_scopes(user_id user,
                                                                              application_id application) noexcept {
    return impl_->read([](postgres::rows& found) { return sql::read_value<scope_set>(found); },
                       "SELECT scopes FROM tollgate_grants WHERE user_id = $1 AND application_id = $2", user, application);
}

TOLLGATE_DECL result<code_result> postgres_store::create_code(const new_authorization_code& code) noexcept {
    return detail::without_exceptions([&]() -> result<code_result> {
        auto batch = impl_->database.make_batch();
        // Two users may answer the same device at once.
        const auto& bytes = code.code_digest.bytes();
        const std::string_view key{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
        postgres::lock_until_commit(batch, "codes " + hex_encode(key));
        batch.add(
            "INSERT INTO tollgate_grants (user_id, application_id, scopes, created_at) SELECT $1, $2, '', $3 "
            "WHERE NOT $5 AND NOT EXISTS (SELECT FROM tollgate_codes WHERE code_digest = $4 "
            "AND NOT (refresh_token_id IS NULL AND expires_at <= $3)) "
            // DO NOTHING would not insert it beside a transaction that is about to delete it.
            "ON CONFLICT (user_id, application_id) DO UPDATE SET scopes = tollgate_grants.scopes",
            code.user, code.application, code.created_at, code.code_digest, code.only_if_granted);
        batch.add("SELECT id FROM tollgate_grants WHERE user_id = $1 AND application_id = $2 FOR NO KEY UPDATE", code.user,
                  code.application);
        // Perhaps another grant's, which is not locked: nothing else is done with an expired code.
        batch.add("DELETE FROM tollgate_codes WHERE code_digest = $1 AND refresh_token_id IS NULL AND expires_at <= $2", code.code_digest,
                  code.created_at);
        // Previously granted scopes stay in front, in their order.
        const auto creating = batch.add(
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
            "SELECT (SELECT is_spent FROM there), EXISTS (SELECT FROM tollgate_applications WHERE id = $3), "
            "EXISTS (SELECT FROM widened), EXISTS (SELECT FROM made)",
            code.code_digest, code.user, code.application, code.scopes, limits::scope_text_bytes_max, code.redirect,
            code.code_challenge, code.expires_at, code.only_if_granted);
        batch.add(
            "DELETE FROM tollgate_codes WHERE id = ANY (ARRAY(SELECT codes.id FROM tollgate_codes AS codes "
            "JOIN tollgate_grants AS grants ON grants.id = grant_id WHERE user_id = $1 AND application_id = $2 "
            "ORDER BY codes.id DESC OFFSET $3))",
            code.user, code.application, limits::codes_per_grant_max);
        auto results = impl_->database.run(batch);
        if (!results) return std::move(results).error();
        const auto row = (*results)[creating].only<std::optional<bool>, bool, bool, bool>();
        if (!row) return row.error();
        const auto& [is_spent, has_application, has_grant, is_made] = *row;
        if (is_spent) return *is_spent ? code_result::spent : code_result::waiting;
        if (is_made) return code_result::created;
        if (!has_application) return not_found();
        if (code.only_if_granted) return code_result::not_granted;
        return has_grant ? too_many_scopes() : not_found();
    });
}

TOLLGATE_DECL result<redeemed_code> postgres_store::redeem_code(const code_redemption& shown) noexcept {
    return detail::without_exceptions([&]() -> result<redeemed_code> {
        auto batch = impl_->database.make_batch();
        batch.add(
            "SELECT grants.id FROM tollgate_grants AS grants JOIN tollgate_codes AS codes ON grants.id = codes.grant_id "
            "WHERE code_digest = $1 AND application_id = $2 FOR NO KEY UPDATE OF grants",
            shown.code_digest, shown.application);
        // A comparison with NULL is neither true nor false: a redirect_uri that was not sent passes.
        const auto redeeming = batch.add(
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
        // The token that expires last was used last.
        batch.add(
            "DELETE FROM tollgate_refresh_tokens WHERE id = ANY (ARRAY(SELECT older.id FROM tollgate_refresh_tokens AS "
            "newest "
            "JOIN tollgate_refresh_tokens AS older USING (grant_id) WHERE newest.token_digest = $1 "
            "AND older.token_digest <> $1 ORDER BY older.expires_at DESC OFFSET $2))",
            shown.tokens.refresh_digest, limits::refresh_tokens_per_grant_max - 1);
        postgres::trim_access_tokens(batch, shown.tokens.access_digest);
        auto results = impl_->database.run(batch);
        // The reuse of a code revokes tokens.
        if (!results) return impl_->forget_all_after(token_exists(std::move(results).error()));
        const auto row = (*results)[redeeming].next<std::string, user_id, scope_set>();
        if (!row) return impl_->forget_all_after(row.error());
        if (!*row) return redeemed_code{};
        const auto& [result, user, scopes] = **row;
        impl_->access_token_created(shown.tokens.access_digest, user, result == "reused" || results->back().affected() > 0);
        if (result == "redeemed") return redeemed_code{redemption_result::redeemed, user, scopes};
        if (result == "reused") return redeemed_code{redemption_result::reused, {}, {}};
        if (result == "expired") return redeemed_code{redemption_result::expired, {}, {}};
        if (result == "redirect") return redeemed_code{redemption_result::redirect_mismatch, {}, {}};
        if (result == "verifier") return redeemed_code{redemption_result::verifier_mismatch, {}, {}};
        return redeemed_code{};
    });
}

TOLLGATE_DECL result<refreshed_token> postgres_store::refresh_access_token(const token_refresh& shown) noexcept {
    return detail::without_exceptions([&]() -> result<refreshed_token> {
        auto batch = impl_->database.make_batch();
        const auto rotation = shown.rotation.value_or(token_rotation{});
        const auto successor = shown.rotation ? std::optional{rotation.successor_digest} : std::nullopt;
        const auto family = shown.rotation ? std::optional{rotation.family_digest} : std::nullopt;
        batch.add(
            "SELECT grants.id FROM tollgate_grants AS grants JOIN tollgate_refresh_tokens AS tokens "
            "ON grants.id = tokens.grant_id WHERE (token_digest = $1 OR family_digest = $3) AND application_id = $2 "
            "FOR NO KEY UPDATE OF grants",
            shown.refresh_digest, shown.application, family);
        const auto refreshing = batch.add(
            "WITH shown AS (SELECT tokens.id, grant_id, user_id, coalesce($4, tokens.scopes) AS scopes, "
            "token_digest = $1 AS is_current, successor_seed, "
            "CASE WHEN token_digest <> $1 AND (replaced_digest IS DISTINCT FROM $1 OR replaced_at + $8 <= $3) THEN 'reused' "
            "WHEN NOT coalesce(string_to_array($4, ' ') <@ string_to_array(tokens.scopes, ' '), true) THEN 'too_wide' "
            "ELSE 'refreshed' END AS result "
            "FROM tollgate_refresh_tokens AS tokens JOIN tollgate_grants AS grants ON grants.id = grant_id "
            "WHERE (token_digest = $1 OR family_digest = $9) AND application_id = $2 AND expires_at > $3), "
            "access AS (INSERT INTO tollgate_access_tokens "
            "(token_digest, user_id, application_id, scopes, created_at, expires_at, refresh_token_id) "
            "SELECT $5, user_id, $2, scopes, $3, $6, id FROM shown WHERE result = 'refreshed'), "
            "used AS (UPDATE tollgate_refresh_tokens AS tokens SET expires_at = least($7, ends_at) FROM shown "
            "WHERE tokens.id = shown.id AND result = 'refreshed' AND NOT (is_current AND $10 IS NOT NULL)), "
            "replaced AS (UPDATE tollgate_refresh_tokens AS tokens SET expires_at = least($7, ends_at), "
            "token_digest = $10, replaced_digest = $1, replaced_at = $3, successor_seed = $11, family_digest = $9 FROM shown "
            "WHERE tokens.id = shown.id AND result = 'refreshed' AND is_current AND $10 IS NOT NULL), "
            "revoked_access AS (DELETE FROM tollgate_access_tokens AS tokens USING shown "
            "WHERE result = 'reused' AND tokens.application_id = $2 AND tokens.user_id = shown.user_id), "
            "revoked AS (DELETE FROM tollgate_grants AS grants USING shown "
            "WHERE result = 'reused' AND grants.id = shown.grant_id) "
            "SELECT scopes, result, user_id, CASE WHEN is_current THEN $11 ELSE successor_seed END FROM shown",
            shown.refresh_digest, shown.application, shown.now, shown.narrowed, shown.access_digest,
            shown.access_expires_at, instant{shown.now + shown.refresh_lifetime}, milliseconds{rotation.grace}, family,
            successor, rotation.successor_seed);
        postgres::trim_access_tokens(batch, shown.access_digest);
        auto results = impl_->database.run(batch);
        // A token that was replaced before revokes others.
        if (!results) return impl_->forget_all_after(token_exists(std::move(results).error()));
        const auto row = (*results)[refreshing].next<scope_set, std::string, user_id, std::optional<digest>>();
        if (!row) return impl_->forget_all_after(row.error());
        if (!*row) return refreshed_token{};
        const auto& [scopes, result, user, seed] = **row;
        impl_->access_token_created(shown.access_digest, user, result == "reused" || results->back().affected() > 0);
        if (result == "reused") return refreshed_token{refresh_result::reused, {}};
        if (result == "too_wide") return refreshed_token{refresh_result::too_wide, {}};
        return refreshed_token{refresh_result::refreshed, scopes, shown.rotation ? seed : std::nullopt};
    });
}

TOLLGATE_DECL result<void> postgres_store::revoke_oauth_token(
    application_id application, const digest& token) noexcept {
    return detail::without_exceptions([&]() -> result<void> {
        auto batch = impl_->database.make_batch();
        batch.add(
            "SELECT grants.id FROM tollgate_grants AS grants JOIN tollgate_refresh_tokens AS tokens "
            "ON grants.id = tokens.grant_id WHERE (token_digest = $1 OR family_digest = $1) AND application_id = $2 "
            "FOR NO KEY UPDATE OF grants",
            token, application);
        batch.add(
            "WITH refresh AS (DELETE FROM tollgate_refresh_tokens AS tokens USING tollgate_grants AS grants "
            "WHERE grants.id = grant_id AND (token_digest = $1 OR family_digest = $1) AND application_id = $2 "
            "RETURNING tokens.id) "
            "DELETE FROM tollgate_access_tokens WHERE refresh_token_id = (SELECT id FROM refresh) RETURNING user_id",
            token, application);
        batch.add("DELETE FROM tollgate_access_tokens WHERE token_digest = $1 AND application_id = $2", token, application);
        auto done = impl_->database.run(batch);
        if (!done) return impl_->forget_all_after(std::move(done).error());
        impl_->changes->forget_key(impl_->access_tokens.hash_of(token));
        const auto row = (*done)[1].next<user_id>();  // all rows have the same user
        if (!row) return impl_->forget_all_after(row.error());
        if (*row) impl_->changes->forget(std::get<0>(**row));
        return {};
    });
}

TOLLGATE_DECL result<std::optional<oauth_token>> postgres_store::find_oauth_token(const digest& token) noexcept {
    return impl_->read([](postgres::rows& found) { return sql::read_oauth_token(found); },
                       "SELECT false, user_id, application_id, client_id, scopes, tokens.created_at, expires_at "
                       "FROM tollgate_access_tokens AS tokens LEFT JOIN tollgate_applications AS applications "
                       "ON applications.id = application_id WHERE token_digest = $1 "
                       "UNION ALL SELECT true, user_id, application_id, client_id, tokens.scopes, NULL::bigint, expires_at "
                       "FROM tollgate_refresh_tokens AS tokens JOIN tollgate_grants AS grants ON grants.id = grant_id "
                       "JOIN tollgate_applications AS applications ON applications.id = application_id "
                       "WHERE token_digest = $1 OR family_digest = $1",
                       token);
}

TOLLGATE_DECL result<std::vector<grant>> postgres_store::grants_of(user_id user) noexcept {
    return impl_->read([&](postgres::rows& found) { return sql::read_grants(found, user); },
                       "SELECT grants.id, application_id, name, website, scopes, grants.created_at, last_used_at "
                       "FROM tollgate_grants AS grants JOIN tollgate_applications AS applications "
                       "ON application_id = applications.id WHERE user_id = $1 ORDER BY grants.id",
                       user);
}

TOLLGATE_DECL result<bool> postgres_store::revoke_grant(user_id user, application_id application) noexcept {
    return detail::without_exceptions([&]() -> result<bool> {
        auto batch = impl_->database.make_batch();
        batch.add("SELECT id FROM tollgate_grants WHERE user_id = $1 AND application_id = $2 FOR UPDATE", user,
                  application);
        // Also tokens without a grant: the application must lose all access.
        batch.add("DELETE FROM tollgate_access_tokens WHERE application_id = $1 AND user_id = $2", application, user);
        batch.add("DELETE FROM tollgate_grants WHERE user_id = $1 AND application_id = $2", user, application);
        auto results = impl_->database.run(batch);
        if (!results) return impl_->forget_all_after(std::move(results).error());
        impl_->changes->forget(user);
        return results->back().affected() > 0;
    });
}

TOLLGATE_DECL result<std::size_t> postgres_store::sweep_expired(instant now, std::size_t rows_max) noexcept {
    return detail::without_exceptions([&]() -> result<std::size_t> {
        if (rows_max == 0) return std::size_t{0};
        // Nodes that sweep at the same time take different rows.
        auto swept = impl_->database.execute(
            "WITH codes AS (DELETE FROM tollgate_codes WHERE id = ANY (ARRAY("
            "SELECT id FROM tollgate_codes WHERE forget_at <= $1 ORDER BY forget_at LIMIT $2 FOR UPDATE SKIP LOCKED)) "
            "RETURNING id), "
            "access AS (DELETE FROM tollgate_access_tokens WHERE token_digest = ANY (ARRAY("
            "SELECT token_digest FROM tollgate_access_tokens WHERE expires_at <= $1 ORDER BY expires_at "
            "LIMIT $2 - (SELECT count(*) FROM codes) FOR UPDATE SKIP LOCKED)) RETURNING token_digest), "
            "refresh AS (DELETE FROM tollgate_refresh_tokens WHERE id = ANY (ARRAY("
            "SELECT id FROM tollgate_refresh_tokens WHERE expires_at <= $1 ORDER BY expires_at "
            "LIMIT $2 - (SELECT count(*) FROM codes) - (SELECT count(*) FROM access) FOR UPDATE SKIP LOCKED)) RETURNING "
            "id), "
            "swept AS (SELECT (SELECT count(*) FROM codes) + (SELECT count(*) FROM access) "
            "+ (SELECT count(*) FROM refresh) AS so_far), "
            "devices AS (DELETE FROM tollgate_device_codes WHERE id = ANY (ARRAY("
            "SELECT id FROM tollgate_device_codes WHERE expires_at <= $1 ORDER BY expires_at "
            "LIMIT $2 - (SELECT so_far FROM swept) FOR UPDATE SKIP LOCKED)) RETURNING id) "
            "SELECT (SELECT so_far FROM swept) + (SELECT count(*) FROM devices)",
            now, rows_max);
        if (!swept) return std::move(swept).error();
        return postgres::read_count(*swept);
    });
}

}  // namespace tollgate

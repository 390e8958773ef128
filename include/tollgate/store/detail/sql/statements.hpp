#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQL_STATEMENTS_HPP
#define TOLLGATE_STORE_DETAIL_SQL_STATEMENTS_HPP

#include <tollgate/store/detail/sql/statement_text.hpp>

/// The statements whose text is the same on both databases.
namespace tollgate::inline v0::sql::statements {

// Personal tokens and access tokens.

inline constexpr shared_text find_repeated_personal_token{
    "SELECT id FROM tollgate_personal_tokens WHERE username = $1 AND user_id = $2 AND secret_digest = $3"};
inline constexpr shared_text insert_personal_token{
    "INSERT INTO tollgate_personal_tokens (user_id, username, secret_digest, description, scopes, created_at, expires_at) "
    "SELECT $1, $2, $3, $4, $5, $6, $7 WHERE NOT EXISTS (SELECT 1 FROM tollgate_personal_tokens WHERE username = $2 AND user_id = $1 "
    "AND secret_digest = $3) AND $8 > (SELECT count(*) FROM tollgate_personal_tokens WHERE user_id = $1) RETURNING id"};
inline constexpr shared_text list_personal_tokens{
    "SELECT id, username, description, scopes, created_at, last_used_at, expires_at, last_used_from, secret_digest "
    "FROM tollgate_personal_tokens WHERE user_id = $1 ORDER BY id"};
inline constexpr shared_text renew_personal_token{
    "UPDATE tollgate_personal_tokens SET secret_digest = $1, created_at = $2, expires_at = $3 "
    "WHERE id = $4 AND user_id = $5 AND secret_digest IN (coalesce($6, secret_digest), $1)"};
inline constexpr shared_text delete_personal_token{"DELETE FROM tollgate_personal_tokens WHERE id = $1 RETURNING user_id"};
inline constexpr shared_text record_personal_token_use{
    "UPDATE tollgate_personal_tokens SET last_used_at = $1, last_used_from = $2 "
    "WHERE username = $3"};
inline constexpr shared_text find_repeated_access_token{
    "SELECT user_id = $1 AND application_id = $2 AND refresh_token_id IS NULL "
    "FROM tollgate_access_tokens WHERE token_digest = $3"};
inline constexpr shared_text find_room_for_access_token{
    "SELECT expires_at FROM tollgate_access_tokens WHERE application_id = $1 AND user_id = $2 "
    "ORDER BY expires_at DESC LIMIT 1 OFFSET $3"};
inline constexpr shared_text lock_application_of_owner_token{
    "SELECT id FROM tollgate_applications WHERE id = $1 AND owner_id = $2 AND acts_for_owner AND client_type = 'confidential' "
    "AND suspended IS NULL FOR SHARE"};
inline constexpr shared_text insert_access_token{
    "INSERT INTO tollgate_access_tokens "
    "(token_digest, user_id, application_id, scopes, created_at, expires_at, refresh_token_id, resources) "
    "VALUES ($1, $2, $3, $4, $5, $6, (SELECT id FROM tollgate_refresh_tokens WHERE token_digest = $7), $8)"};
inline constexpr shared_text trim_access_tokens{
    "DELETE FROM tollgate_access_tokens WHERE token_digest = ANY (ARRAY(SELECT token_digest FROM tollgate_access_tokens "
    "WHERE application_id = $1 AND user_id = $2 AND token_digest <> $3 ORDER BY expires_at DESC LIMIT 1000 OFFSET $4)) "
    "AND expires_at <= $5"};
inline constexpr shared_text delete_access_token{
    "DELETE FROM tollgate_access_tokens WHERE token_digest = $1 AND application_id = coalesce($2, application_id) RETURNING user_id"};
inline constexpr shared_text sweep_access_tokens{
    "DELETE FROM tollgate_access_tokens WHERE token_digest = ANY (ARRAY(SELECT token_digest FROM tollgate_access_tokens "
    "WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED))"};
inline constexpr shared_text record_access_token_use{"UPDATE tollgate_access_tokens SET last_used_at = $1 WHERE token_digest = $2"};
inline constexpr shared_text record_grant_use{
    "UPDATE tollgate_grants SET last_used_at = $1 WHERE (user_id, application_id) = (SELECT user_id, application_id "
    "FROM tollgate_access_tokens WHERE token_digest = $2)"};

// Applications.

inline constexpr shared_text find_repeated_application{
    "SELECT id FROM tollgate_applications WHERE client_id = $1 AND owner_id = $2 AND secret_digest = $3"};
inline constexpr shared_text insert_application{
    "INSERT INTO tollgate_applications "
    "(owner_id, client_id, secret_digest, name, website, description, redirect_urls, created_at, client_type, registration, "
    "default_scopes, registration_digest) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 "
    "WHERE $13 > (SELECT count(*) FROM tollgate_applications WHERE owner_id = $1) AND NOT EXISTS (SELECT 1 "
    "FROM tollgate_applications WHERE client_id = $2 AND owner_id = $1 AND secret_digest = $3) RETURNING id"};
inline constexpr shared_text find_application{
    "SELECT id, owner_id, client_id, secret_digest, name, website, description, redirect_urls, created_at, client_type, "
    "older_secret_digest, acts_for_owner, CAST(0 AS bigint), suspended, registration, default_scopes, registration_digest "
    "FROM tollgate_applications WHERE client_id = $1"};
inline constexpr shared_text list_applications{
    "SELECT id, owner_id, client_id, secret_digest, name, website, description, redirect_urls, created_at, client_type, "
    "older_secret_digest, acts_for_owner, "
    "(SELECT count(*) FROM tollgate_grants WHERE application_id = tollgate_applications.id), suspended, registration, default_scopes, "
    "registration_digest "
    "FROM tollgate_applications WHERE owner_id = $1 ORDER BY id"};
inline constexpr shared_text set_application_fields{
    "UPDATE tollgate_applications SET name = $1, website = $2, description = $3, redirect_urls = $4, acts_for_owner = $5, "
    "default_scopes = $6 WHERE id = $7 AND owner_id = coalesce($8, owner_id) RETURNING owner_id"};
inline constexpr shared_text delete_owner_tokens{
    "DELETE FROM tollgate_access_tokens WHERE application_id = $1 AND refresh_token_id IS NULL AND user_id = (SELECT owner_id "
    "FROM tollgate_applications WHERE id = $1 AND owner_id = coalesce($2, owner_id) AND NOT acts_for_owner)"};
inline constexpr shared_text add_client_secret{
    "UPDATE tollgate_applications SET secret_digest = $1, older_secret_digest = CASE secret_digest WHEN $1 THEN older_secret_digest "
    "ELSE secret_digest END WHERE id = $2 AND owner_id = coalesce($3, owner_id) AND secret_digest IN (coalesce($4, secret_digest), $1) "
    "RETURNING owner_id"};
inline constexpr shared_text remove_older_secret{
    "UPDATE tollgate_applications SET older_secret_digest = NULL WHERE id = $1 AND owner_id = coalesce($2, owner_id) "
    "AND older_secret_digest IS NOT NULL RETURNING owner_id"};
inline constexpr shared_text set_suspension{
    "UPDATE tollgate_applications SET suspended = $1 WHERE id = $2 AND owner_id = coalesce($3, owner_id) RETURNING owner_id"};
inline constexpr shared_text delete_tokens_of_application{
    "DELETE FROM tollgate_access_tokens WHERE application_id = $1 AND EXISTS (SELECT 1 FROM tollgate_applications WHERE id = $1 "
    "AND owner_id = coalesce($2, owner_id))"};
inline constexpr shared_text delete_application{"DELETE FROM tollgate_applications WHERE id = $1 AND owner_id = $2"};
inline constexpr shared_text sweep_unowned_applications{
    "DELETE FROM tollgate_applications WHERE id = ANY (ARRAY(SELECT id FROM tollgate_applications AS unowned "
    "WHERE registration <> 'owner' AND created_at < $1 AND NOT EXISTS "
    "(SELECT 1 FROM tollgate_grants WHERE application_id = unowned.id) ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)) "
    "AND NOT EXISTS (SELECT 1 FROM tollgate_grants WHERE application_id = tollgate_applications.id)"};

// Grants, codes, refresh tokens and device codes.

inline constexpr shared_text list_grants{
    "SELECT grants.id, application_id, name, website, scopes, grants.created_at, last_used_at, suspended "
    "FROM tollgate_grants AS grants JOIN tollgate_applications AS applications ON application_id = applications.id "
    "WHERE user_id = $1 ORDER BY grants.id"};
inline constexpr shared_text lock_application_of_code{
    "SELECT suspended IS NOT NULL FROM tollgate_applications WHERE id = $1 FOR KEY SHARE"};
// DO NOTHING would not insert it beside a transaction that is about to delete it.
inline constexpr shared_text insert_grant_of_code{
    "INSERT INTO tollgate_grants (user_id, application_id, scopes, created_at) SELECT $1, $2, '', $3 "
    "WHERE NOT $4 AND EXISTS (SELECT 1 FROM tollgate_applications WHERE id = $2 AND suspended IS NULL) "
    "AND NOT EXISTS (SELECT 1 FROM tollgate_codes WHERE code_digest = $5 "
    "AND NOT (refresh_token_id IS NULL AND (expires_at <= $6 OR expires_at > $7))) "
    "ON CONFLICT (user_id, application_id) DO UPDATE SET scopes = tollgate_grants.scopes"};
inline constexpr shared_text lock_grant{
    "SELECT id, scopes FROM tollgate_grants WHERE user_id = $1 AND application_id = $2 FOR NO KEY UPDATE"};
inline constexpr shared_text widen_grant{"UPDATE tollgate_grants SET scopes = $1 WHERE id = $2 AND scopes <> $1"};
inline constexpr shared_text delete_grant{"DELETE FROM tollgate_grants WHERE user_id = $1 AND application_id = $2 RETURNING user_id"};
inline constexpr shared_text delete_access_tokens_of_grant{
    "DELETE FROM tollgate_access_tokens WHERE application_id = $1 AND user_id = $2"};
inline constexpr shared_text delete_replaceable_code{
    "DELETE FROM tollgate_codes WHERE code_digest = $1 AND refresh_token_id IS NULL AND (expires_at <= $2 OR expires_at > $3)"};
inline constexpr shared_text is_code_spent{"SELECT refresh_token_id IS NOT NULL FROM tollgate_codes WHERE code_digest = $1"};
inline constexpr shared_text insert_code{
    "INSERT INTO tollgate_codes (code_digest, grant_id, scopes, redirect, code_challenge, expires_at, forget_at, resources) "
    "VALUES ($1, $2, $3, $4, $5, $6, $6, $7)"};
inline constexpr shared_text trim_codes{
    "DELETE FROM tollgate_codes WHERE id = ANY (ARRAY(SELECT id FROM tollgate_codes WHERE grant_id = $1 "
    "ORDER BY id DESC LIMIT 1000 OFFSET $2))"};
inline constexpr shared_text find_code{
    "SELECT codes.id, grant_id, user_id, codes.scopes, redirect, code_challenge, expires_at, refresh_token_id, (SELECT token_digest "
    "FROM tollgate_refresh_tokens WHERE id = refresh_token_id), resources FROM tollgate_codes AS codes "
    "JOIN tollgate_grants AS grants ON grants.id = grant_id "
    "JOIN tollgate_applications AS applications ON applications.id = application_id "
    "WHERE code_digest = $1 AND application_id = $2 AND suspended IS NULL"};
inline constexpr shared_text spend_code{
    "UPDATE tollgate_codes SET refresh_token_id = (SELECT id FROM tollgate_refresh_tokens "
    "WHERE token_digest = $1), expires_at = $2, forget_at = $3 WHERE id = $4"};
inline constexpr shared_text sweep_codes{
    "DELETE FROM tollgate_codes WHERE id = ANY (ARRAY(SELECT id FROM tollgate_codes WHERE forget_at <= $1 ORDER BY forget_at LIMIT $2 "
    "FOR UPDATE SKIP LOCKED))"};
inline constexpr shared_text insert_refresh_token{
    "INSERT INTO tollgate_refresh_tokens (token_digest, grant_id, scopes, expires_at, ends_at, resources) "
    "VALUES ($1, $2, $3, $4, $5, $6)"};
// The token that expires last was used last.
inline constexpr shared_text trim_refresh_tokens{
    "DELETE FROM tollgate_refresh_tokens WHERE id = ANY (ARRAY(SELECT id FROM tollgate_refresh_tokens "
    "WHERE grant_id = $1 AND token_digest <> $2 ORDER BY expires_at DESC LIMIT 1000 OFFSET $3))"};
inline constexpr shared_text find_refresh_token{
    "SELECT tokens.id, user_id, tokens.scopes, ends_at, token_digest, replaced_digest, replaced_at, successor_seed, EXISTS (SELECT 1 "
    "FROM tollgate_access_tokens AS access WHERE access.token_digest = $1 AND refresh_token_id = tokens.id), resources "
    "FROM tollgate_refresh_tokens AS tokens JOIN tollgate_grants AS grants ON grants.id = grant_id "
    "JOIN tollgate_applications AS applications ON applications.id = application_id "
    "WHERE (token_digest = $2 OR family_digest = $3) AND application_id = $4 AND expires_at > $5 AND suspended IS NULL"};
inline constexpr shared_text prolong_refresh_token{"UPDATE tollgate_refresh_tokens SET expires_at = $1 WHERE id = $2"};
inline constexpr shared_text replace_refresh_token{
    "UPDATE tollgate_refresh_tokens "
    "SET token_digest = $1, replaced_digest = token_digest, replaced_at = $2, successor_seed = $3, family_digest = $4 "
    "WHERE id = $5"};
inline constexpr shared_text delete_refresh_token{"DELETE FROM tollgate_refresh_tokens WHERE id = $1"};
inline constexpr shared_text delete_access_tokens_of_refresh_token{"DELETE FROM tollgate_access_tokens WHERE refresh_token_id = $1"};
inline constexpr shared_text delete_access_tokens_of_named_refresh_token{
    "DELETE FROM tollgate_access_tokens WHERE refresh_token_id = (SELECT tokens.id FROM tollgate_refresh_tokens AS tokens "
    "JOIN tollgate_grants AS grants ON grants.id = grant_id WHERE (token_digest = $1 OR family_digest = $1) "
    "AND application_id = coalesce($2, application_id)) RETURNING user_id"};
inline constexpr shared_text delete_named_refresh_token{
    "DELETE FROM tollgate_refresh_tokens WHERE id = (SELECT tokens.id FROM tollgate_refresh_tokens AS tokens "
    "JOIN tollgate_grants AS grants ON grants.id = grant_id WHERE (token_digest = $1 OR family_digest = $1) "
    "AND application_id = coalesce($2, application_id))"};
inline constexpr shared_text sweep_refresh_tokens{
    "DELETE FROM tollgate_refresh_tokens WHERE id = ANY (ARRAY(SELECT id FROM tollgate_refresh_tokens WHERE expires_at <= $1 "
    "ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED))"};
inline constexpr shared_text find_oauth_token{
    "SELECT false, user_id, application_id, client_id, scopes, tokens.created_at, expires_at, resources "
    "FROM tollgate_access_tokens AS tokens LEFT JOIN tollgate_applications AS applications ON applications.id = application_id "
    "WHERE token_digest = $1 "
    "UNION ALL SELECT true, user_id, application_id, client_id, tokens.scopes, CAST(NULL AS bigint), expires_at, resources "
    "FROM tollgate_refresh_tokens AS tokens JOIN tollgate_grants AS grants ON grants.id = grant_id "
    "JOIN tollgate_applications AS applications ON applications.id = application_id "
    "WHERE token_digest = $1 OR family_digest = $1"};
inline constexpr shared_text find_repeated_device_code{
    "SELECT id FROM tollgate_device_codes WHERE device_digest = $1 AND user_digest = $2 AND application_id = $3"};
inline constexpr shared_text insert_device_code{
    "INSERT INTO tollgate_device_codes "
    "(device_digest, user_digest, application_id, scopes, requested_from, created_at, expires_at) "
    "SELECT $1, $2, id, $3, $4, $5, $6 FROM tollgate_applications WHERE id = $7 AND NOT EXISTS (SELECT 1 "
    "FROM tollgate_device_codes WHERE device_digest = $1 AND user_digest = $2 AND application_id = $7)"};
inline constexpr shared_text trim_device_codes{
    "DELETE FROM tollgate_device_codes WHERE id = ANY (ARRAY(SELECT id FROM tollgate_device_codes "
    "WHERE application_id = $1 ORDER BY id DESC LIMIT 1000 OFFSET $2))"};
inline constexpr shared_text find_device_code{
    "SELECT device_digest, application_id, client_id, scopes, requested_from, codes.created_at, expires_at, state, answered_by "
    "FROM tollgate_device_codes AS codes JOIN tollgate_applications AS applications ON application_id = applications.id "
    "WHERE device_digest = $1 OR user_digest = $1"};
inline constexpr shared_text lock_device_code{
    "SELECT device_digest, application_id, client_id, scopes, requested_from, codes.created_at, expires_at, state, answered_by "
    "FROM tollgate_device_codes AS codes JOIN tollgate_applications AS applications ON application_id = applications.id "
    "WHERE user_digest = $1 FOR UPDATE OF codes"};
inline constexpr shared_text answer_device_code{"UPDATE tollgate_device_codes SET state = $1, answered_by = $2 WHERE user_digest = $3"};
inline constexpr shared_text sweep_device_codes{
    "DELETE FROM tollgate_device_codes WHERE id = ANY (ARRAY(SELECT id FROM tollgate_device_codes WHERE expires_at <= $1 "
    "ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED))"};

// Sessions.

inline constexpr shared_text insert_session{
    "INSERT INTO tollgate_sessions (cookie_digest, user_id, login, created_at, last_seen_at, signed_in_from, user_agent) "
    "VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (cookie_digest) DO UPDATE "
    "SET login = tollgate_sessions.login WHERE tollgate_sessions.user_id = $2 AND tollgate_sessions.created_at = $4"};
inline constexpr shared_text trim_sessions{
    "DELETE FROM tollgate_sessions WHERE cookie_digest = ANY (ARRAY(SELECT cookie_digest FROM tollgate_sessions "
    "WHERE user_id = $1 AND cookie_digest <> $2 ORDER BY last_seen_at DESC LIMIT 1000 OFFSET $3))"};
inline constexpr shared_text find_session{
    "SELECT cookie_digest, user_id, login, created_at, last_seen_at, signed_in_from, user_agent "
    "FROM tollgate_sessions WHERE cookie_digest = $1"};
inline constexpr shared_text list_sessions{
    "SELECT cookie_digest, user_id, login, created_at, last_seen_at, signed_in_from, user_agent "
    "FROM tollgate_sessions WHERE user_id = $1 ORDER BY last_seen_at DESC"};
inline constexpr shared_text touch_session{"UPDATE tollgate_sessions SET last_seen_at = $1 WHERE cookie_digest = $2"};
inline constexpr shared_text end_session{"DELETE FROM tollgate_sessions WHERE cookie_digest = $1"};
inline constexpr shared_text end_sessions_of_user{
    "DELETE FROM tollgate_sessions WHERE user_id = $1 AND ($2 IS NULL OR cookie_digest <> $2)"};
inline constexpr shared_text sweep_old_sessions{
    "DELETE FROM tollgate_sessions WHERE cookie_digest = ANY (ARRAY(SELECT cookie_digest FROM tollgate_sessions "
    "WHERE created_at < $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED))"};
inline constexpr shared_text sweep_idle_sessions{
    "DELETE FROM tollgate_sessions WHERE cookie_digest = ANY (ARRAY(SELECT cookie_digest FROM tollgate_sessions "
    "WHERE last_seen_at < $1 ORDER BY last_seen_at LIMIT $2 FOR UPDATE SKIP LOCKED))"};

// Webhooks. A deleted hook has the account 0.

inline constexpr shared_text list_hooks{
    "SELECT id, event, source, type, target_url, created_at, disabled_at, disable_reason, failing_since, secret_digest "
    "FROM tollgate_hooks WHERE service = $1 AND account_id = $2 ORDER BY id"};
inline constexpr shared_text find_account_of_hook{
    "SELECT account_id FROM tollgate_hooks WHERE id = $1 AND service = $2 AND account_id <> 0"};
inline constexpr shared_text keep_previous_secret{
    "INSERT INTO tollgate_hook_secrets (hook_id, secret, valid_until) SELECT id, secret, $1 "
    "FROM tollgate_hooks WHERE id = $2 AND service = $3 AND account_id = $4 AND secret_digest <> $5 "
    "AND secret_digest = coalesce($6, secret_digest)"};
inline constexpr shared_text replace_secret{
    "UPDATE tollgate_hooks SET secret = $1, secret_digest = $2 WHERE id = $3 AND service = $4 AND account_id = $5 "
    "AND secret_digest IN (coalesce($6, secret_digest), $2)"};
inline constexpr shared_text trim_previous_secrets{
    "DELETE FROM tollgate_hook_secrets WHERE id = ANY (ARRAY(SELECT id FROM tollgate_hook_secrets WHERE hook_id = $1 "
    "ORDER BY id DESC LIMIT 1000 OFFSET $2))"};
inline constexpr shared_text delete_secrets_of_deleted_hook{
    "DELETE FROM tollgate_hook_secrets WHERE hook_id = (SELECT id FROM tollgate_hooks WHERE id = $1 AND account_id = 0)"};
inline constexpr shared_text list_secrets{
    "SELECT id, service, account_id, secret FROM tollgate_hooks WHERE id > $1 AND account_id <> 0 "
    "AND substr(secret, 1, length($2)) <> $2 ORDER BY id LIMIT $3"};
inline constexpr shared_text reencrypt_secret{"UPDATE tollgate_hooks SET secret = $1 WHERE id = $2 AND secret = $3"};
inline constexpr shared_text list_previous_secrets{
    "SELECT previous.id, service, account_id, previous.secret FROM tollgate_hook_secrets AS previous "
    "JOIN tollgate_hooks AS hooks ON hooks.id = previous.hook_id WHERE previous.id > $1 AND account_id <> 0 "
    "AND substr(previous.secret, 1, length($2)) <> $2 ORDER BY previous.id LIMIT $3"};
inline constexpr shared_text reencrypt_previous_secret{
    "UPDATE tollgate_hook_secrets SET secret = $1 WHERE id = $2 AND secret = $3"};
inline constexpr shared_text set_hook_status{
    "UPDATE tollgate_hooks SET failing_since = $1, last_failure_at = $2, disabled_at = $3, disable_reason = $4 WHERE id = $5"};

// Deliveries.

inline constexpr shared_text hold_waiting{
    "UPDATE tollgate_deliveries SET state = 3, at = $1, lease_is_open = false WHERE id = ANY (ARRAY("
    "SELECT id FROM tollgate_deliveries WHERE hook_id = $2 AND state = 0 AND NOT is_leased LIMIT $3))"};
// A disabled hook's waiting deliveries are listed as held, although not all of them are yet, and an enabled hook's held ones as waiting.
inline constexpr shared_text list_deliveries{
    "SELECT listed.id, name, seed, created_at, shown, attempts_made, CASE shown WHEN 0 THEN at END FROM ("
    "SELECT deliveries.*, CASE WHEN state = 0 AND NOT is_leased AND disabled_at IS NOT NULL THEN 3 "
    "WHEN state = 3 AND disabled_at IS NULL THEN 0 ELSE state END AS shown "
    "FROM tollgate_deliveries AS deliveries JOIN tollgate_hooks AS hooks ON hooks.id = hook_id "
    "WHERE hook_id = $1 AND service = $2 AND account_id = $3) AS listed "
    "JOIN tollgate_events AS events ON events.id = listed.event_id "
    "WHERE listed.id < $4 AND listed.id BETWEEN $5 AND $6 AND (CAST($7 AS bigint) IS NULL OR shown = $7) "
    "ORDER BY listed.id DESC LIMIT $8"};
inline constexpr shared_text list_ended_deliveries{
    "SELECT deliveries.id, events.id FROM tollgate_deliveries AS deliveries "
    "JOIN tollgate_events AS events ON events.id = event_id WHERE state <> 0 AND at < $1 ORDER BY at LIMIT $2 "
    "FOR UPDATE OF deliveries, events SKIP LOCKED"};

}  // namespace tollgate::sql::statements

#endif  // TOLLGATE_STORE_DETAIL_SQL_STATEMENTS_HPP

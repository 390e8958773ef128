#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_GRANTS_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_GRANTS_IPP

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/postgres/credentials.ipp>
#include <tollgate/store/detail/postgres/store_impl.ipp>
#include <tollgate/store/detail/sql/grants.hpp>
#include <tollgate/store/detail/widen_scopes.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace tollgate::inline v0 {

namespace postgres {

TOLLGATE_DECL result<code_result> create_code(transaction& on, batch reading, const new_authorization_code& code,
                                              const std::function<void(batch&)>& add_more) {
    postgres::lock_until_commit(reading, "codes " + tollgate::detail::hex_encode(code.code_digest.raw()));
    // Before its grants, as `set_suspension` does; then neither a suspension nor a deletion comes before the commit.
    const auto known = reading.add(
        "SELECT suspended IS NOT NULL FROM tollgate_applications WHERE id = $1 FOR KEY SHARE", code.application);
    reading.add(
        "INSERT INTO tollgate_grants (user_id, application_id, scopes, created_at) SELECT $1, $2, '', $3 "
        "WHERE NOT $5 AND EXISTS (SELECT FROM tollgate_applications WHERE id = $2 AND suspended IS NULL) "
        "AND NOT EXISTS (SELECT FROM tollgate_codes WHERE code_digest = $4 "
        "AND NOT (refresh_token_id IS NULL AND (expires_at <= $6 OR expires_at > $7))) "
        // DO NOTHING would not insert it beside a transaction that is about to delete it.
        "ON CONFLICT (user_id, application_id) DO UPDATE SET scopes = tollgate_grants.scopes",
        code.user, code.application, code.created_at, code.code_digest, code.only_if_granted, code.replaceable_until(),
        code.latest_end());
    const auto granted = reading.add(
        "SELECT id, scopes FROM tollgate_grants WHERE user_id = $1 AND application_id = $2 FOR NO KEY UPDATE", code.user,
        code.application);
    // Perhaps another grant's, which is not locked: such a code has expired, and nothing else is done with it.
    reading.add(
        "DELETE FROM tollgate_codes WHERE code_digest = $1 AND refresh_token_id IS NULL AND (expires_at <= $2 OR expires_at > $3)",
        code.code_digest, code.replaceable_until(), code.latest_end());
    const auto existing = reading.add("SELECT refresh_token_id IS NOT NULL FROM tollgate_codes WHERE code_digest = $1",
                                      code.code_digest);
    auto read = on.run(reading);
    if (!read) return std::move(read).error();
    const auto is_suspended = sql::read_value<bool>((*read)[known]);
    if (!is_suspended) return is_suspended.error();
    if (is_suspended->value_or(false)) return code_result::suspended;
    const auto is_spent = sql::read_value<bool>((*read)[existing]);
    if (!is_spent) return is_spent.error();
    if (*is_spent) return **is_spent ? code_result::spent : code_result::waiting;
    if (!*is_suspended) return not_found();
    const auto before = sql::read_one(
        (*read)[granted], [](sql::row_number id, scope_set& scopes) { return std::pair{id, scopes}; });
    if (!before) return before.error();
    // The code was another one's when its grant was not inserted, and was deleted meanwhile.
    if (!*before && !code.only_if_granted) return not_found();
    const auto scopes = tollgate::detail::widen_scopes(*before ? std::optional{(*before)->second} : std::nullopt, code);
    if (!scopes) return scopes.error();
    if (!*scopes) return code_result::not_granted;

    const sql::row_number access_grant = (*before)->first;
    postgres::batch writing{reading.shift()};
    writing.add("UPDATE tollgate_grants SET scopes = $2 WHERE id = $1 AND scopes <> $2", access_grant, **scopes);
    writing.add(
        "INSERT INTO tollgate_codes (code_digest, grant_id, scopes, redirect, code_challenge, expires_at, forget_at) "
        "VALUES ($1, $2, $3, $4, $5, $6, $6)",
        code.code_digest, access_grant, code.scopes, code.redirect, code.code_challenge, code.expires_at);
    writing.add(
        "DELETE FROM tollgate_codes WHERE id = ANY (ARRAY(SELECT id FROM tollgate_codes WHERE grant_id = $1 "
        "ORDER BY id DESC OFFSET $2))",
        access_grant, limits::codes_per_grant_max);
    add_more(writing);
    if (auto written = on.commit(std::move(writing)); !written) return std::move(written).error();
    return code_result::created;
}

}  // namespace postgres

TOLLGATE_DECL result<code_result> postgres_store::create_code(const new_authorization_code& code) noexcept {
    return detail::without_exceptions([&] {
        return impl_->database.transact([&](postgres::transaction& on) {
            auto beginning = impl_->database.make_batch();
            beginning.add("BEGIN");
            return postgres::create_code(on, std::move(beginning), code, [](postgres::batch&) {});
        });
    });
}

TOLLGATE_DECL result<redeemed_code> postgres_store::redeem_code(const code_redemption& shown) noexcept {
    return detail::without_exceptions([&]() -> result<redeemed_code> {
        auto done = impl_->database.transact([&](postgres::transaction& on) -> result<redeemed_code> {
            auto reading = impl_->database.make_batch();
            reading.add("BEGIN");
            reading.add(
                "SELECT grants.id FROM tollgate_grants AS grants JOIN tollgate_codes AS codes ON grants.id = codes.grant_id "
                "WHERE code_digest = $1 AND application_id = $2 FOR NO KEY UPDATE OF grants",
                shown.code_digest, shown.application);
            const auto stored = reading.add(
                "SELECT codes.id, grant_id, user_id, codes.scopes, redirect, code_challenge, expires_at, refresh_token_id, "
                "(SELECT token_digest FROM tollgate_refresh_tokens WHERE id = refresh_token_id) "
                "FROM tollgate_codes AS codes JOIN tollgate_grants AS grants ON grants.id = grant_id "
                "JOIN tollgate_applications AS applications ON applications.id = application_id "
                "WHERE code_digest = $1 AND application_id = $2 AND suspended IS NULL",
                shown.code_digest, shown.application);
            const auto room = reading.add(
                "SELECT access.expires_at FROM tollgate_codes AS codes JOIN tollgate_grants AS grants ON grants.id = grant_id "
                "JOIN tollgate_access_tokens AS access USING (application_id, user_id) "
                "WHERE code_digest = $1 AND application_id = $2 ORDER BY access.expires_at DESC OFFSET $3 LIMIT 1",
                shown.code_digest, shown.application, limits::access_tokens_per_grant_max - 1);
            auto read = on.run(reading);
            if (!read) return std::move(read).error();
            const auto found = sql::read_one((*read)[stored], sql::to_found_code);
            if (!found) return found.error();
            if (!*found) return redeemed_code{};
            const sql::found_code& code = **found;
            const auto judged = code.judge(shown);
            if (judged == redemption_result::reused) {
                auto revoking = impl_->database.make_batch();
                postgres::detail::add_revocation(revoking, *code.refresh_token);
                const auto revoked = on.commit(std::move(revoking));
                if (!revoked) return revoked.error();
                impl_->changes->forget(code.user);
                const bool had_tokens = std::any_of(revoked->begin(), revoked->end(), [](const auto& each) { return each.affected() > 0; });
                return redeemed_code{judged, had_tokens ? std::optional{code.user} : std::nullopt, {}};
            }
            if (judged != redemption_result::redeemed) return redeemed_code{judged, {}, {}};
            if (code.refresh_token) return redeemed_code{judged, code.user, code.scopes};  // the call is repeated
            if (auto checked = postgres::check_room((*read)[room], shown.now); !checked) return std::move(checked).error();

            const auto& tokens = shown.tokens;
            postgres::batch writing{reading.shift()};
            writing.add(
                "INSERT INTO tollgate_refresh_tokens (token_digest, grant_id, scopes, expires_at, ends_at) VALUES ($1, $2, $3, $4, $5)",
                tokens.refresh_digest, code.access_grant, code.scopes, tokens.refresh_token_end(),
                tokens.refresh_ends_at);
            // The token that expires last was used last.
            writing.add(
                "DELETE FROM tollgate_refresh_tokens WHERE id = ANY (ARRAY(SELECT id FROM tollgate_refresh_tokens "
                "WHERE grant_id = $1 AND token_digest <> $2 ORDER BY expires_at DESC OFFSET $3))",
                code.access_grant, tokens.refresh_digest, limits::refresh_tokens_per_grant_max - 1);
            writing.add(
                "UPDATE tollgate_codes SET expires_at = $4, forget_at = $3, "
                "refresh_token_id = (SELECT id FROM tollgate_refresh_tokens WHERE token_digest = $2) WHERE id = $1",
                code.id, tokens.refresh_digest, code.forget_at(), shown.now);
            const auto trimming = postgres::add_access_token(writing, code.access_token(shown), tokens.refresh_digest);
            auto written = on.commit(std::move(writing));
            if (!written) return token_exists(std::move(written).error());
            impl_->access_token_created(tokens.access_digest, code.user, (*written)[trimming].affected() > 0);
            return redeemed_code{judged, code.user, code.scopes};
        });
        // The reuse of a code revokes tokens.
        if (!done) return impl_->forget_all_after(std::move(done).error());
        return done;
    });
}

TOLLGATE_DECL result<refreshed_token> postgres_store::refresh_access_token(const token_refresh& shown) noexcept {
    return detail::without_exceptions([&]() -> result<refreshed_token> {
        auto done = impl_->database.transact([&](postgres::transaction& on) -> result<refreshed_token> {
            const auto family = shown.family_digest();
            auto reading = impl_->database.make_batch();
            reading.add("BEGIN");
            postgres::detail::lock_grant_of(reading, shown.application, shown.refresh_digest, family);
            const auto stored = reading.add(
                "SELECT tokens.id, user_id, tokens.scopes, ends_at, token_digest, replaced_digest, replaced_at, successor_seed, EXISTS ("
                "SELECT FROM tollgate_access_tokens AS access WHERE access.token_digest = $5 AND refresh_token_id = tokens.id) "
                "FROM tollgate_refresh_tokens AS tokens JOIN tollgate_grants AS grants ON grants.id = grant_id "
                "JOIN tollgate_applications AS applications ON applications.id = application_id "
                "WHERE (token_digest = $1 OR family_digest = $2) AND application_id = $3 AND expires_at > $4 AND suspended IS NULL",
                shown.refresh_digest, family, shown.application, shown.now, shown.access_digest);
            const auto room = reading.add(
                "SELECT access.expires_at FROM tollgate_refresh_tokens AS tokens JOIN tollgate_grants AS grants ON grants.id = grant_id "
                "JOIN tollgate_access_tokens AS access USING (application_id, user_id) "
                "WHERE (tokens.token_digest = $1 OR family_digest = $2) AND application_id = $3 "
                "ORDER BY access.expires_at DESC OFFSET $4 LIMIT 1",
                shown.refresh_digest, family, shown.application, limits::access_tokens_per_grant_max - 1);
            auto read = on.run(reading);
            if (!read) return std::move(read).error();
            const auto found = sql::read_one((*read)[stored], sql::to_found_refresh_token);
            if (!found) return found.error();
            if (!*found) return refreshed_token{};
            const sql::found_refresh_token& token = **found;
            const auto judged = token.judge(shown);
            if (judged == refresh_result::reused) {
                auto revoking = impl_->database.make_batch();
                postgres::detail::add_revocation(revoking, token.user, shown.application);
                if (auto revoked = on.commit(std::move(revoking)); !revoked) return std::move(revoked).error();
                impl_->changes->forget(token.user);
                return refreshed_token{judged, {}, {}, token.user};
            }
            if (judged != refresh_result::refreshed) return refreshed_token{judged, {}};
            if (is_repeated(token.stored(), shown)) return token.refreshed(shown);
            if (auto checked = postgres::check_room((*read)[room], shown.now); !checked) return std::move(checked).error();

            postgres::batch writing{reading.shift()};
            const auto trimming = postgres::add_access_token(writing, token.access_token(shown), token.current);
            writing.add("UPDATE tollgate_refresh_tokens SET expires_at = $2 WHERE id = $1", token.id,
                        shown.refresh_token_end(token.ends_at));
            if (shown.rotation && token.is_shown_by(shown)) {
                const auto& rotation = *shown.rotation;
                writing.add(
                    "UPDATE tollgate_refresh_tokens SET token_digest = $2, replaced_digest = token_digest, replaced_at = $3, "
                    "successor_seed = $4, family_digest = $5 WHERE id = $1",
                    token.id, rotation.successor_digest, shown.now, rotation.successor_seed, rotation.family_digest);
            }
            auto written = on.commit(std::move(writing));
            if (!written) return token_exists(std::move(written).error());
            impl_->access_token_created(shown.access_digest, token.user, (*written)[trimming].affected() > 0);
            return token.refreshed(shown);
        });
        // A token that was replaced before revokes others.
        if (!done) return impl_->forget_all_after(std::move(done).error());
        return done;
    });
}

TOLLGATE_DECL result<std::optional<oauth_token>> postgres_store::find_oauth_token(const digest& token) noexcept {
    return impl_->read_one(sql::to_oauth_token,
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
    return impl_->read_all(sql::to_grant(user),
                           "SELECT grants.id, application_id, name, website, scopes, grants.created_at, last_used_at, suspended "
                           "FROM tollgate_grants AS grants JOIN tollgate_applications AS applications "
                           "ON application_id = applications.id WHERE user_id = $1 ORDER BY grants.id",
                           user);
}

TOLLGATE_DECL result<std::size_t> postgres_store::impl::sweep_expired(instant now, std::size_t rows_max) noexcept {
    return detail::without_exceptions([&]() -> result<std::size_t> {
        // Nodes that sweep at the same time take different rows.
        auto swept = database.execute(
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
            "SELECT id FROM tollgate_device_codes WHERE expires_at <= $3 ORDER BY expires_at "
            "LIMIT $2 - (SELECT so_far FROM swept) FOR UPDATE SKIP LOCKED)) RETURNING id) "
            "SELECT (SELECT so_far FROM swept) + (SELECT count(*) FROM devices)",
            now, rows_max, now - seconds{limits::expired_device_code_seconds});
        if (!swept) return std::move(swept).error();
        return postgres::read_count(*swept);
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_GRANTS_IPP

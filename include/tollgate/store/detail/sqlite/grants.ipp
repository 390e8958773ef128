#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_GRANTS_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_GRANTS_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/sql/grants.hpp>
#include <tollgate/store/detail/sqlite/credentials.ipp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>
#include <tollgate/store/detail/widen_scopes.hpp>

#include <utility>

namespace tollgate::inline v0 {

namespace sqlite::detail {

/// Adds the code's scopes to the grant of its user and application; creates it if there is none. Returns its id; empty if the code may
/// not be created.
inline result<std::optional<sql::row_number>> widen_grant(database& on, const new_authorization_code& code) {
    const auto before = sql::read_value<scope_set>(
        on.prepare("SELECT scopes FROM tollgate_grants WHERE user = ? AND application = ?", code.user, code.application));
    if (!before) return before.error();
    const auto scopes = tollgate::detail::widen_scopes(*before, code);
    if (!scopes) return scopes.error();
    if (!*scopes) return std::optional<sql::row_number>{};
    return sql::read_value<sql::row_number>(
        on.prepare("INSERT INTO tollgate_grants (user, application, scopes, created_at) VALUES (?, ?, ?, ?) "
                   "ON CONFLICT (user, application) DO UPDATE SET scopes = excluded.scopes RETURNING id",
                   code.user, code.application, **scopes, code.created_at));
}

/// Inserts the refresh token of a pair; returns its row id.
inline result<sql::row_number> insert_refresh_token(database& on, const issued_tokens& issued, sql::row_number access_grant,
                                                    const scope_set& scopes) {
    auto done = on.run(
        "INSERT INTO tollgate_refresh_tokens (token_digest, access_grant, scopes, expires_at, ends_at) "
        "VALUES (?, ?, ?, ?, ?)",
        issued.refresh_digest, access_grant, scopes, issued.refresh_token_end(), issued.refresh_ends_at);
    if (!done) return token_exists(std::move(done).error());
    const sql::row_number id = on.last_insert_id();
    // The token that expires last was used last.
    return on
        .run("DELETE FROM tollgate_refresh_tokens WHERE id IN (SELECT id FROM tollgate_refresh_tokens "
             "WHERE access_grant = ? AND id <> ? ORDER BY expires_at DESC LIMIT -1 OFFSET ?)",
             access_grant, id, limits::refresh_tokens_per_grant_max - 1)
        .transform([id] { return id; });
}

}  // namespace sqlite::detail

namespace sqlite {

TOLLGATE_DECL result<code_result> create_code(database& on, const new_authorization_code& code) {
    const auto is_suspended = sql::read_value<bool>(
        on.prepare("SELECT suspended IS NOT NULL FROM tollgate_applications WHERE id = ?", code.application));
    if (!is_suspended) return is_suspended.error();
    if (is_suspended->value_or(false)) return code_result::suspended;
    if (auto done = on.run("DELETE FROM tollgate_codes WHERE code_digest = ? AND refresh_token IS NULL "
                           "AND (expires_at <= ? OR expires_at > ?)",
                           code.code_digest, code.replaceable_until(), code.latest_end());
        !done)
        return std::move(done).error();
    const auto is_spent = sql::read_value<bool>(
        on.prepare("SELECT refresh_token IS NOT NULL FROM tollgate_codes WHERE code_digest = ?", code.code_digest));
    if (!is_spent) return is_spent.error();
    if (*is_spent) return **is_spent ? code_result::spent : code_result::waiting;
    if (!*is_suspended) return not_found();

    const auto widened = detail::widen_grant(on, code);
    if (!widened) return widened.error();
    if (!*widened) return code_result::not_granted;
    const auto access_grant = **widened;
    if (auto done =
            on.run("INSERT INTO tollgate_codes "
                   "(code_digest, access_grant, scopes, redirect, code_challenge, expires_at, forget_at) "
                   "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
                   code.code_digest, access_grant, code.scopes, code.redirect, code.code_challenge, code.expires_at);
        !done)
        return std::move(done).error();
    return on
        .run("DELETE FROM tollgate_codes WHERE id IN (SELECT id FROM tollgate_codes "
             "WHERE access_grant = ? ORDER BY id DESC LIMIT -1 OFFSET ?)",
             access_grant, limits::codes_per_grant_max)
        .transform([] { return code_result::created; });
}

}  // namespace sqlite

TOLLGATE_DECL result<code_result> sqlite_store::create_code(const new_authorization_code& code) noexcept {
    return impl_->database.transact([&](sqlite::database& on) { return sqlite::create_code(on, code); });
}

TOLLGATE_DECL result<redeemed_code> sqlite_store::redeem_code(const code_redemption& shown) noexcept {
    return impl_->database.transact([&](sqlite::database& on) -> result<redeemed_code> {
        const auto found = sql::read_one(
            on.prepare("SELECT codes.id, access_grant, user, codes.scopes, redirect, code_challenge, expires_at, refresh_token, "
                       "(SELECT token_digest FROM tollgate_refresh_tokens WHERE id = refresh_token) "
                       "FROM tollgate_codes AS codes JOIN tollgate_grants ON access_grant = tollgate_grants.id "
                       "JOIN tollgate_applications ON application = tollgate_applications.id "
                       "WHERE code_digest = ? AND application = ? AND suspended IS NULL",
                       shown.code_digest, shown.application),
            sql::to_found_code);
        if (!found) return found.error();
        if (!*found) return redeemed_code{};
        const sql::found_code& code = **found;
        const auto judged = code.judge(shown);
        if (judged == redemption_result::reused) {
            const auto revoked = sqlite::detail::revoke_refresh_token(on, *code.refresh_token);
            if (!revoked) return revoked.error();
            return redeemed_code{judged, *revoked ? std::optional{code.user} : std::nullopt, {}};
        }
        if (judged != redemption_result::redeemed) return redeemed_code{judged, {}, {}};
        if (code.refresh_token) return redeemed_code{judged, code.user, code.scopes};  // the call is repeated

        const auto inserted = sqlite::detail::insert_refresh_token(on, shown.tokens, code.access_grant, code.scopes);
        if (!inserted) return inserted.error();
        if (auto done = sqlite::insert_access_token(on, code.access_token(shown), *inserted); !done) return std::move(done).error();
        return on
            .run("UPDATE tollgate_codes SET refresh_token = ?, expires_at = ?, forget_at = ? WHERE id = ?", *inserted, shown.now,
                 code.forget_at(), code.id)
            .transform([&] { return redeemed_code{judged, code.user, code.scopes}; });
    });
}

TOLLGATE_DECL result<refreshed_token> sqlite_store::refresh_access_token(const token_refresh& shown) noexcept {
    return impl_->database.transact([&](sqlite::database& on) -> result<refreshed_token> {
        const auto found = sql::read_one(
            on.prepare("SELECT tokens.id, user, tokens.scopes, ends_at, token_digest, replaced_digest, replaced_at, successor_seed, "
                       "EXISTS (SELECT 1 FROM tollgate_access_tokens AS access "
                       "WHERE access.token_digest = ? AND refresh_token = tokens.id) "
                       "FROM tollgate_refresh_tokens AS tokens JOIN tollgate_grants ON access_grant = tollgate_grants.id "
                       "JOIN tollgate_applications ON application = tollgate_applications.id "
                       "WHERE (token_digest = ? OR family_digest = ?) AND application = ? AND expires_at > ? AND suspended IS NULL",
                       shown.access_digest, shown.refresh_digest, shown.family_digest(), shown.application, shown.now),
            sql::to_found_refresh_token);
        if (!found) return found.error();
        if (!*found) return refreshed_token{};
        const sql::found_refresh_token& token = **found;
        const auto judged = token.judge(shown);
        if (judged == refresh_result::reused) {
            if (auto done = sqlite::detail::revoke_grant(on, token.user, shown.application); !done) return std::move(done).error();
            return refreshed_token{judged, {}, {}, token.user};
        }
        if (judged != refresh_result::refreshed) return refreshed_token{judged, {}};
        if (is_repeated(token.stored(), shown)) return token.refreshed(shown);

        if (auto done = sqlite::insert_access_token(on, token.access_token(shown), token.id); !done) return std::move(done).error();
        if (auto done = on.run("UPDATE tollgate_refresh_tokens SET expires_at = ? WHERE id = ?", shown.refresh_token_end(token.ends_at),
                               token.id);
            !done)
            return std::move(done).error();
        if (shown.rotation && token.is_shown_by(shown)) {
            const auto& rotation = *shown.rotation;
            auto done = on.run(
                "UPDATE tollgate_refresh_tokens SET token_digest = ?, replaced_digest = token_digest, replaced_at = ?, "
                "successor_seed = ?, family_digest = ? WHERE id = ?",
                rotation.successor_digest, shown.now, rotation.successor_seed, rotation.family_digest, token.id);
            if (!done) return token_exists(std::move(done).error());
        }
        return token.refreshed(shown);
    });
}

TOLLGATE_DECL result<std::optional<oauth_token>> sqlite_store::find_oauth_token(const digest& token) noexcept {
    return impl_->read_one(sql::to_oauth_token,
                           "SELECT 0, user, application, client_id, scopes, tokens.created_at, expires_at "
                           "FROM tollgate_access_tokens AS tokens LEFT JOIN tollgate_applications "
                           "ON tollgate_applications.id = application WHERE token_digest = ?1 "
                           "UNION ALL SELECT 1, user, application, client_id, tokens.scopes, NULL, expires_at "
                           "FROM tollgate_refresh_tokens AS tokens JOIN tollgate_grants ON access_grant = tollgate_grants.id "
                           "JOIN tollgate_applications ON tollgate_applications.id = application "
                           "WHERE token_digest = ?1 OR family_digest = ?1",
                           token);
}

TOLLGATE_DECL result<std::vector<grant>> sqlite_store::grants_of(user_id user) noexcept {
    return impl_->read_all(sql::to_grant(user),
                           "SELECT grants.id, application, name, website, scopes, grants.created_at, last_used_at, suspended "
                           "FROM tollgate_grants AS grants JOIN tollgate_applications "
                           "ON application = tollgate_applications.id WHERE user = ? ORDER BY grants.id",
                           user);
}

TOLLGATE_DECL result<std::size_t> sqlite_store::impl::sweep_expired(instant now, std::size_t rows_max) noexcept {
    const instant device_codes_until = now - seconds{limits::expired_device_code_seconds};
    const auto sweep = [&](sqlite::database& on) -> result<std::size_t> {
        std::size_t swept = 0;
        for (const auto& [statement, until] :
             {std::pair{sql::statement_text{"DELETE FROM tollgate_codes WHERE id IN "
                                            "(SELECT id FROM tollgate_codes WHERE forget_at <= ? ORDER BY forget_at LIMIT ?)"},
                        now},
              std::pair{sql::statement_text{"DELETE FROM tollgate_access_tokens WHERE token_digest IN "
                                            "(SELECT token_digest FROM tollgate_access_tokens WHERE expires_at <= ? "
                                            "ORDER BY expires_at LIMIT ?)"},
                        now},
              std::pair{sql::statement_text{"DELETE FROM tollgate_refresh_tokens WHERE id IN "
                                            "(SELECT id FROM tollgate_refresh_tokens WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)"},
                        now},
              std::pair{sql::statement_text{"DELETE FROM tollgate_device_codes WHERE id IN "
                                            "(SELECT id FROM tollgate_device_codes WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)"},
                        device_codes_until}}) {
            if (auto done = on.run(statement, until, rows_max - swept); !done) return std::move(done).error();
            swept += static_cast<std::size_t>(on.changes());
        }
        return swept;
    };
    return change_if("SELECT EXISTS (SELECT 1 FROM tollgate_codes WHERE forget_at <= ?1) "
                     "OR EXISTS (SELECT 1 FROM tollgate_access_tokens WHERE expires_at <= ?1) "
                     "OR EXISTS (SELECT 1 FROM tollgate_refresh_tokens WHERE expires_at <= ?1) "
                     "OR EXISTS (SELECT 1 FROM tollgate_device_codes WHERE expires_at <= ?2)",
                     sweep, now, device_codes_until);
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_GRANTS_IPP

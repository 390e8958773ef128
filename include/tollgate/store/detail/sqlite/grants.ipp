#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/sqlite/store_impl.hpp>

#include <algorithm>

namespace tollgate::inline v0 {

namespace sqlite::detail {

/// Adds these scopes to the grant of a user and an application; creates it if there is none. Empty if a scope would
/// have to be added despite `only_if_granted`.
inline result<std::optional<row_number>> widen_grant(database& on, const new_authorization_code& made) {
    auto existing = on.prepare("SELECT id, scopes FROM tollgate_grants WHERE user = ? AND application = ?", made.user,
                           made.application)
                    .next<row_number, scope_set>();
    if (!existing) return std::move(existing).error();
    scope_set scopes = *existing ? std::get<1>(**existing) : scope_set{};
    if (made.only_if_granted && (!*existing || !scopes.contains_all(made.scopes))) return std::optional<row_number>{};
    if (!made.scopes.for_each([&](std::string_view each) { return scopes.add(each); })) return too_many_scopes();
    if (*existing) {
        const row_number id = std::get<0>(**existing);
        if (scopes == std::get<1>(**existing)) return std::optional{id};
        if (auto done = on.run("UPDATE tollgate_grants SET scopes = ? WHERE id = ?", scopes, id); !done)
            return std::move(done).error();
        return std::optional{id};
    }
    if (auto done = on.run("INSERT INTO tollgate_grants (user, application, scopes, created_at) VALUES (?, ?, ?, ?)",
                           made.user, made.application, scopes, made.created_at);
        !done)
        return std::move(done).error();
    return std::optional{on.last_insert_id()};
}

/// Revokes a refresh token and the access tokens made with it.
inline result<void> revoke_refresh_token(database& on, row_number refresh_token) {
    if (auto done = on.run("DELETE FROM tollgate_access_tokens WHERE refresh_token = ?", refresh_token); !done)
        return done;
    return on.run("DELETE FROM tollgate_refresh_tokens WHERE id = ?", refresh_token);
}

/// Inserts the refresh token of a pair; returns its row id.
inline result<row_number> insert_refresh_token(database& on, const issued_tokens& made, row_number access_grant,
                                                const scope_set& scopes) {
    auto done = on.run(
        "INSERT INTO tollgate_refresh_tokens (token_digest, access_grant, scopes, expires_at, ends_at) "
        "VALUES (?, ?, ?, ?, ?)",
        made.refresh_digest, access_grant, scopes, (std::min)(made.refresh_expires_at, made.refresh_ends_at),
        made.refresh_ends_at);
    if (!done) return token_exists(std::move(done).error());
    const row_number id = on.last_insert_id();
    // The token that expires last was used last.
    if (done = on.run("DELETE FROM tollgate_refresh_tokens WHERE id IN "
                      "(SELECT id FROM tollgate_refresh_tokens WHERE access_grant = ? AND id <> ? "
                      "ORDER BY expires_at DESC LIMIT -1 OFFSET ?)",
                      access_grant, id, limits::refresh_tokens_per_grant_max - 1);
        !done)
        return std::move(done).error();
    return id;
}

}  // namespace sqlite::detail

TOLLGATE_DECL result<std::optional<scope_set>> sqlite_store::granted_scopes(user_id user,
                                                                            application_id application) noexcept {
    return impl_->database.read([&](sqlite::database& on) {
        return sql::read_value<scope_set>(
            on.prepare("SELECT scopes FROM tollgate_grants WHERE user = ? AND application = ?", user, application));
    });
}

TOLLGATE_DECL result<code_result> sqlite_store::create_code(const new_authorization_code& made) noexcept {
    return impl_->database.transact([&](sqlite::database& on) -> result<code_result> {
        auto there =
            on.prepare("SELECT refresh_token IS NOT NULL FROM tollgate_codes WHERE code_digest = ?", made.code_digest)
                .next<bool>();
        if (!there) return std::move(there).error();
        if (*there) return std::get<0>(**there) ? code_result::spent : code_result::waiting;
        auto known =
            on.prepare("SELECT id FROM tollgate_applications WHERE id = ?", made.application).next<application_id>();
        if (!known) return std::move(known).error();
        if (!*known) return not_found();

        const auto widened = sqlite::detail::widen_grant(on, made);
        if (!widened) return widened.error();
        if (!*widened) return code_result::not_granted;
        const auto access_grant = **widened;
        if (auto done =
                on.run("INSERT INTO tollgate_codes "
                       "(code_digest, access_grant, scopes, redirect, code_challenge, expires_at, forget_at) "
                       "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
                       made.code_digest, access_grant, made.scopes, made.redirect, made.code_challenge, made.expires_at);
            !done)
            return std::move(done).error();
        if (auto done = on.run("DELETE FROM tollgate_codes WHERE id IN (SELECT id FROM tollgate_codes "
                               "WHERE access_grant = ? ORDER BY id DESC LIMIT -1 OFFSET ?)",
                               access_grant, limits::codes_per_grant_max);
            !done)
            return std::move(done).error();
        return code_result::created;
    });
}

TOLLGATE_DECL result<redeemed_code> sqlite_store::redeem_code(const code_redemption& shown) noexcept {
    return impl_->database.transact([&](sqlite::database& on) -> result<redeemed_code> {
        auto row = on.prepare(
                         "SELECT codes.id, access_grant, user, codes.scopes, redirect, code_challenge, expires_at, "
                         "refresh_token FROM tollgate_codes AS codes JOIN tollgate_grants ON access_grant = "
                         "tollgate_grants.id WHERE code_digest = ? AND application = ?",
                         shown.code_digest, shown.application)
                       .next<sqlite::row_number, sqlite::row_number, user_id, scope_set, std::string,
                             std::optional<std::string>, instant, std::optional<sqlite::row_number>>();
        if (!row) return std::move(row).error();
        if (!*row) return redeemed_code{};
        const auto& [code, access_grant, user, scopes, redirect, code_challenge, expires_at, refresh_token] = **row;
        if (refresh_token) {
            if (auto done = sqlite::detail::revoke_refresh_token(on, *refresh_token); !done)
                return std::move(done).error();
            return redeemed_code{redemption_result::reused, {}, {}};
        }
        if (expires_at <= shown.now) return redeemed_code{redemption_result::expired, {}, {}};
        if (shown.redirect_uri && *shown.redirect_uri != redirect)
            return redeemed_code{redemption_result::redirect_mismatch, {}, {}};
        if (shown.code_challenge != code_challenge)
            return redeemed_code{redemption_result::verifier_mismatch, {}, {}};

        const auto made = sqlite::detail::insert_refresh_token(on, shown.tokens, access_grant, scopes);
        if (!made) return made.error();
        if (auto done = sqlite::insert_access_token(
                on,
                {user, shown.application, shown.tokens.access_digest, scopes, shown.now, shown.tokens.access_expires_at},
                *made);
            !done)
            return std::move(done).error();
        if (auto done = on.run("UPDATE tollgate_codes SET refresh_token = ?, forget_at = ? WHERE id = ?", *made,
                               expires_at + seconds{limits::spent_code_seconds}, code);
            !done)
            return std::move(done).error();
        return redeemed_code{redemption_result::redeemed, user, scopes};
    });
}

TOLLGATE_DECL result<refreshed_token> sqlite_store::refresh_access_token(const token_refresh& shown) noexcept {
    return impl_->database.transact([&](sqlite::database& on) -> result<refreshed_token> {
        auto row = on.prepare(
                         "SELECT tokens.id, user, tokens.scopes, ends_at FROM tollgate_refresh_tokens AS tokens "
                         "JOIN tollgate_grants ON access_grant = tollgate_grants.id "
                         "WHERE token_digest = ? AND application = ? AND expires_at > ?",
                         shown.refresh_digest, shown.application, shown.now)
                       .next<sqlite::row_number, user_id, scope_set, instant>();
        if (!row) return std::move(row).error();
        if (!*row) return refreshed_token{};
        const auto& [token, user, granted, ends_at] = **row;
        if (shown.narrowed && !shown.narrowed->for_each([&](std::string_view each) { return granted.contains(each); }))
            return refreshed_token{refresh_result::too_wide, {}};

        const scope_set& scopes = shown.narrowed ? *shown.narrowed : granted;
        if (auto done = sqlite::insert_access_token(
                on, {user, shown.application, shown.access_digest, scopes, shown.now, shown.access_expires_at}, token);
            !done)
            return std::move(done).error();
        if (auto done = on.run("UPDATE tollgate_refresh_tokens SET expires_at = ? WHERE id = ?",
                               (std::min)(instant{shown.now + shown.refresh_lifetime}, ends_at), token);
            !done)
            return std::move(done).error();
        return refreshed_token{refresh_result::refreshed, scopes};
    });
}

TOLLGATE_DECL result<void> sqlite_store::revoke_oauth_token(application_id application, const digest& token) noexcept {
    return impl_->database.transact([&](sqlite::database& on) -> result<void> {
        auto row = on.prepare(
                         "SELECT tokens.id FROM tollgate_refresh_tokens AS tokens JOIN tollgate_grants "
                         "ON access_grant = tollgate_grants.id WHERE token_digest = ? AND application = ?",
                         token, application)
                       .next<sqlite::row_number>();
        if (!row) return std::move(row).error();
        if (*row) return sqlite::detail::revoke_refresh_token(on, std::get<0>(**row));
        return on.run("DELETE FROM tollgate_access_tokens WHERE token_digest = ? AND application = ?", token,
                      application);
    });
}

TOLLGATE_DECL result<std::vector<grant>> sqlite_store::grants_of(user_id user) noexcept {
    return impl_->database.read([&](sqlite::database& on) {
        return sql::read_grants(
            on.prepare("SELECT grants.id, application, name, website, scopes, grants.created_at, last_used_at "
                       "FROM tollgate_grants AS grants JOIN tollgate_applications "
                       "ON application = tollgate_applications.id WHERE user = ? ORDER BY grants.id",
                       user),
            user);
    });
}

TOLLGATE_DECL result<bool> sqlite_store::revoke_grant(user_id user, application_id application) noexcept {
    return impl_->database.transact([&](sqlite::database& on) -> result<bool> {
        // Also tokens without a grant: the application must lose all access.
        if (auto done =
                on.run("DELETE FROM tollgate_access_tokens WHERE application = ? AND user = ?", application, user);
            !done)
            return std::move(done).error();
        return on.run_counted("DELETE FROM tollgate_grants WHERE user = ? AND application = ?", user, application);
    });
}

TOLLGATE_DECL result<std::size_t> sqlite_store::sweep_expired(instant now, std::size_t rows_max) noexcept {
    if (rows_max == 0) return std::size_t{0};
    // Without the write lock first: often there is nothing to delete.
    const auto any = impl_->database.read([&](sqlite::database& on) {
        return sql::read_value<bool>(
            on.prepare("SELECT EXISTS (SELECT 1 FROM tollgate_codes WHERE forget_at <= ?1) "
                       "OR EXISTS (SELECT 1 FROM tollgate_access_tokens WHERE expires_at <= ?1) "
                       "OR EXISTS (SELECT 1 FROM tollgate_refresh_tokens WHERE expires_at <= ?1)",
                       now));
    });
    if (!any) return any.error();
    if (!any->value_or(true)) return std::size_t{0};
    return impl_->database.transact([&](sqlite::database& on) -> result<std::size_t> {
        std::size_t swept = 0;
        const auto sweep = [&](sql::statement_text statement) -> result<void> {
            auto done = on.run(statement, now, rows_max - swept);
            if (done) swept += static_cast<std::size_t>(on.changes());
            return done;
        };
        if (auto done = sweep("DELETE FROM tollgate_codes WHERE id IN "
                              "(SELECT id FROM tollgate_codes WHERE forget_at <= ? ORDER BY forget_at LIMIT ?)");
            !done)
            return std::move(done).error();
        if (auto done = sweep("DELETE FROM tollgate_access_tokens WHERE token_digest IN "
                              "(SELECT token_digest FROM tollgate_access_tokens WHERE expires_at <= ? "
                              "ORDER BY expires_at LIMIT ?)");
            !done)
            return std::move(done).error();
        if (auto done = sweep("DELETE FROM tollgate_refresh_tokens WHERE id IN "
                              "(SELECT id FROM tollgate_refresh_tokens WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)");
            !done)
            return std::move(done).error();
        return swept;
    });
}

}  // namespace tollgate

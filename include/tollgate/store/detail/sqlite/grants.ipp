#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/refusals.hpp>
#include <tollgate/store/detail/sqlite/columns.hpp>
#include <tollgate/store/detail/sqlite/grants.hpp>
#include <tollgate/store/detail/sqlite/insert_access_token.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace tollgate::inline v0::sqlite {

namespace detail {

/// One row's number in a table of this file, that no value of the domain names.
using row_number = std::int64_t;

/// The grant between a user and an application, with these scopes added to those it has; made where there is none. None
/// where a scope would have to be added, and must not be.
inline result<std::optional<row_number>> widen_grant(database& on, const new_authorization_code& made) {
    auto kept = on.prepare("SELECT id, scopes FROM tollgate_grants WHERE user = ? AND application = ?", made.user,
                           made.application)
                    .next<row_number, scope_set>();
    if (!kept) return std::move(kept).error();
    scope_set scopes = *kept ? std::get<1>(**kept) : scope_set{};
    if (made.only_if_granted && (!*kept || !scopes.contains_all(made.scopes))) return std::optional<row_number>{};
    if (!made.scopes.for_each([&](std::string_view each) { return scopes.add(each); })) return too_many_scopes();
    if (*kept) {
        const row_number id = std::get<0>(**kept);
        if (scopes == std::get<1>(**kept)) return std::optional{id};
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

/// Revokes a refresh token and what was made with it.
inline result<void> revoke_refresh_token(database& on, row_number refresh_token) {
    if (auto done = on.run("DELETE FROM tollgate_access_tokens WHERE refresh_token = ?", refresh_token); !done)
        return done;
    return on.run("DELETE FROM tollgate_refresh_tokens WHERE id = ?", refresh_token);
}

/// The refresh token of a pair, and its row.
inline result<row_number> insert_refresh_token(database& on, const issued_tokens& made, row_number access_grant,
                                                const scope_set& scopes) {
    auto done = on.run(
        "INSERT INTO tollgate_refresh_tokens (token_digest, access_grant, scopes, expires_at, ends_at) "
        "VALUES (?, ?, ?, ?, ?)",
        made.refresh_digest, access_grant, scopes, (std::min)(made.refresh_expires_at, made.refresh_ends_at),
        made.refresh_ends_at);
    if (!done) {
        if (done.error().kind == error_kind::conflict) done.error().message = "This refresh token exists already.";
        return std::move(done).error();
    }
    const row_number id = on.last_insert_id();
    // One whose expiry is furthest off was used last.
    if (done = on.run("DELETE FROM tollgate_refresh_tokens WHERE id IN "
                      "(SELECT id FROM tollgate_refresh_tokens WHERE access_grant = ? AND id <> ? "
                      "ORDER BY expires_at DESC LIMIT -1 OFFSET ?)",
                      access_grant, id, limits::refresh_tokens_per_grant_max - 1);
        !done)
        return std::move(done).error();
    return id;
}

}  // namespace detail

TOLLGATE_DECL result<std::optional<scope_set>> grants::granted(user_id user, application_id application) {
    auto connection = connections_.reader();
    if (!connection) return std::move(connection).error();
    auto row = (*connection)
                   ->prepare("SELECT scopes FROM tollgate_grants WHERE user = ? AND application = ?", user, application)
                   .next<scope_set>();
    if (!row) return std::move(row).error();
    if (!*row) return std::optional<scope_set>{};
    return std::optional{std::get<0>(**row)};
}

TOLLGATE_DECL result<code_result> grants::create_code(const new_authorization_code& made) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    database& on = **connection;
    auto change = transaction::begin(on);
    if (!change) return std::move(change).error();

    auto there =
        on.prepare("SELECT refresh_token IS NOT NULL FROM tollgate_codes WHERE code_digest = ?", made.code_digest)
            .next<bool>();
    if (!there) return std::move(there).error();
    if (*there) return std::get<0>(**there) ? code_result::spent : code_result::waiting;
    auto known =
        on.prepare("SELECT id FROM tollgate_applications WHERE id = ?", made.application).next<application_id>();
    if (!known) return std::move(known).error();
    if (!*known) return not_found();

    const auto widened = detail::widen_grant(on, made);
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
    if (auto done = change->commit(); !done) return std::move(done).error();
    return code_result::created;
}

TOLLGATE_DECL result<redeemed_code> grants::redeem(const code_redemption& shown) {
    using detail::row_number;
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    database& on = **connection;
    auto change = transaction::begin(on);
    if (!change) return std::move(change).error();

    auto row = on.prepare(
                     "SELECT codes.id, access_grant, user, codes.scopes, redirect, code_challenge, expires_at, "
                     "refresh_token FROM tollgate_codes AS codes JOIN tollgate_grants ON access_grant = "
                     "tollgate_grants.id WHERE code_digest = ? AND application = ?",
                     shown.code_digest, shown.application)
                   .next<row_number, row_number, user_id, scope_set, std::string, std::optional<std::string>, instant,
                         std::optional<row_number>>();
    if (!row) return std::move(row).error();
    if (!*row) return redeemed_code{};
    const auto& [code, access_grant, user, scopes, redirect, code_challenge, expires_at, refresh_token] = **row;
    if (refresh_token) {
        if (auto done = detail::revoke_refresh_token(on, *refresh_token); !done) return std::move(done).error();
        if (auto done = change->commit(); !done) return std::move(done).error();
        return redeemed_code{redemption_result::reused, {}, {}};
    }
    if (expires_at <= shown.now) return redeemed_code{redemption_result::expired, {}, {}};
    if (shown.redirect_uri && *shown.redirect_uri != redirect)
        return redeemed_code{redemption_result::redirect_mismatch, {}, {}};
    if (shown.code_challenge != code_challenge) return redeemed_code{redemption_result::verifier_mismatch, {}, {}};

    const auto made = detail::insert_refresh_token(on, shown.tokens, access_grant, scopes);
    if (!made) return made.error();
    if (auto done = insert_access_token(
            on,
            {user, shown.application, shown.tokens.access_digest, scopes, shown.now, shown.tokens.access_expires_at},
            *made);
        !done)
        return std::move(done).error();
    if (auto done = on.run("UPDATE tollgate_codes SET refresh_token = ?, forget_at = ? WHERE id = ?", *made,
                           expires_at + seconds{limits::spent_code_seconds}, code);
        !done)
        return std::move(done).error();
    if (auto done = change->commit(); !done) return std::move(done).error();
    return redeemed_code{redemption_result::redeemed, user, scopes};
}

TOLLGATE_DECL result<refreshed_token> grants::refresh(const token_refresh& shown) {
    using detail::row_number;
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    database& on = **connection;
    auto change = transaction::begin(on);
    if (!change) return std::move(change).error();

    auto row = on.prepare(
                     "SELECT tokens.id, user, tokens.scopes, ends_at FROM tollgate_refresh_tokens AS tokens "
                     "JOIN tollgate_grants ON access_grant = tollgate_grants.id "
                     "WHERE token_digest = ? AND application = ? AND expires_at > ?",
                     shown.refresh_digest, shown.application, shown.now)
                   .next<row_number, user_id, scope_set, instant>();
    if (!row) return std::move(row).error();
    if (!*row) return refreshed_token{};
    const auto& [token, user, granted, ends_at] = **row;
    if (shown.narrowed && !shown.narrowed->for_each([&](std::string_view each) { return granted.contains(each); }))
        return refreshed_token{refresh_result::too_wide, {}};

    const scope_set& scopes = shown.narrowed ? *shown.narrowed : granted;
    if (auto done = insert_access_token(
            on, {user, shown.application, shown.access_digest, scopes, shown.now, shown.access_expires_at}, token);
        !done)
        return std::move(done).error();
    if (auto done = on.run("UPDATE tollgate_refresh_tokens SET expires_at = ? WHERE id = ?",
                           (std::min)(instant{shown.now + shown.refresh_lifetime}, ends_at), token);
        !done)
        return std::move(done).error();
    if (auto done = change->commit(); !done) return std::move(done).error();
    return refreshed_token{refresh_result::refreshed, scopes};
}

TOLLGATE_DECL result<void> grants::revoke_token(application_id application, const digest& token) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    database& on = **connection;
    auto change = transaction::begin(on);
    if (!change) return std::move(change).error();
    auto row = on.prepare(
                     "SELECT tokens.id FROM tollgate_refresh_tokens AS tokens JOIN tollgate_grants "
                     "ON access_grant = tollgate_grants.id WHERE token_digest = ? AND application = ?",
                     token, application)
                   .next<detail::row_number>();
    if (!row) return std::move(row).error();
    auto done = *row ? detail::revoke_refresh_token(on, std::get<0>(**row))
                     : on.run("DELETE FROM tollgate_access_tokens WHERE token_digest = ? AND application = ?", token,
                              application);
    if (!done) return done;
    return change->commit();
}

TOLLGATE_DECL result<std::vector<grant>> grants::of(user_id user) {
    auto connection = connections_.reader();
    if (!connection) return std::move(connection).error();
    auto rows = (*connection)
                    ->prepare(
                        "SELECT grants.id, application, name, website, scopes, grants.created_at, last_used_at "
                        "FROM tollgate_grants AS grants JOIN tollgate_applications "
                        "ON application = tollgate_applications.id WHERE user = ? ORDER BY grants.id",
                        user);
    std::vector<grant> found;
    for (;;) {
        auto row =
            rows.next<grant_id, application_id, std::string, std::string, scope_set, instant, std::optional<instant>>();
        if (!row) return std::move(row).error();
        if (!*row) return found;
        auto& [id, application, name, website, scopes, created_at, last_used_at] = **row;
        found.push_back({id, user, application, std::move(name), std::move(website), scopes, created_at, last_used_at});
    }
}

TOLLGATE_DECL result<bool> grants::revoke(user_id user, application_id application) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    database& on = **connection;
    auto change = transaction::begin(on);
    if (!change) return std::move(change).error();
    // Those of no grant, too: whoever revokes does not want that application in.
    if (auto done = on.run("DELETE FROM tollgate_access_tokens WHERE application = ? AND user = ?", application, user);
        !done)
        return std::move(done).error();
    if (auto done = on.run("DELETE FROM tollgate_grants WHERE user = ? AND application = ?", user, application); !done)
        return std::move(done).error();
    const bool was_there = on.changes() > 0;
    if (auto done = change->commit(); !done) return std::move(done).error();
    return was_there;
}

TOLLGATE_DECL result<std::size_t> grants::sweep_expired(instant now, std::size_t rows_max) {
    if (rows_max == 0) return std::size_t{0};
    {
        // Asked without the write lock first: often there is nothing.
        auto connection = connections_.reader();
        if (!connection) return std::move(connection).error();
        auto any = (*connection)
                       ->prepare(
                           "SELECT EXISTS (SELECT 1 FROM tollgate_codes WHERE forget_at <= ?1) "
                           "OR EXISTS (SELECT 1 FROM tollgate_access_tokens WHERE expires_at <= ?1) "
                           "OR EXISTS (SELECT 1 FROM tollgate_refresh_tokens WHERE expires_at <= ?1)",
                           now)
                       .next<bool>();
        if (!any) return std::move(any).error();
        if (*any && !std::get<0>(**any)) return std::size_t{0};
    }
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    database& on = **connection;
    auto change = transaction::begin(on);
    if (!change) return std::move(change).error();
    std::size_t swept = 0;
    const auto sweep = [&](sql statement) -> result<void> {
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
    if (auto done = change->commit(); !done) return std::move(done).error();
    return swept;
}

}  // namespace tollgate::sqlite

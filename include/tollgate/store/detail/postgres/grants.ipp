#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_GRANTS_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_GRANTS_IPP

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/postgres/credentials.ipp>
#include <tollgate/store/detail/postgres/store_impl.ipp>
#include <tollgate/store/detail/sql/grants.hpp>
#include <tollgate/store/detail/sql/sweeps.hpp>
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
    const auto known = reading.add(sql::statements::lock_application_of_code, code.application);
    reading.add(sql::statements::insert_grant_of_code, code.user, code.application, code.created_at, code.only_if_granted, code.code_digest,
                code.replaceable_until(), code.latest_end());
    const auto granted = reading.add(sql::statements::lock_grant, code.user, code.application);
    // Perhaps another grant's, which is not locked: such a code has expired, and nothing else is done with it.
    reading.add(sql::statements::delete_replaceable_code, code.code_digest, code.replaceable_until(), code.latest_end());
    const auto existing = reading.add(sql::statements::is_code_spent, code.code_digest);
    auto read = on.run(reading);
    if (!read) return std::move(read).error();
    const auto is_suspended = sql::read_value<bool>((*read)[known]);
    if (!is_suspended) return is_suspended.error();
    if (is_suspended->value_or(false)) return code_result::suspended;
    const auto is_spent = sql::read_value<bool>((*read)[existing]);
    if (!is_spent) return is_spent.error();
    if (*is_spent) return **is_spent ? code_result::spent : code_result::waiting;
    if (!*is_suspended) return not_found();
    const auto before = sql::read_one((*read)[granted], sql::to_found_grant);
    if (!before) return before.error();
    // The code was another one's when its grant was not inserted, and was deleted meanwhile.
    if (!*before && !code.only_if_granted) return not_found();
    const auto scopes = tollgate::detail::widen_scopes(*before ? std::optional{(*before)->scopes} : std::nullopt, code);
    if (!scopes) return scopes.error();
    if (!*scopes) return code_result::not_granted;

    const sql::row_number access_grant = (*before)->id;
    postgres::batch writing{reading.shift()};
    writing.add(sql::statements::widen_grant, **scopes, access_grant);
    writing.add(sql::statements::insert_code, code.code_digest, access_grant, code.scopes, code.redirect, code.code_challenge,
                code.expires_at, code.resources);
    writing.add(sql::statements::trim_codes, access_grant, limits::codes_per_grant_max);
    add_more(writing);
    if (auto written = on.commit(std::move(writing)); !written) return std::move(written).error();
    return code_result::created;
}

}  // namespace postgres

namespace postgres_detail {

/// Verbs of `grant_store`.
struct grant_verbs : verbs {
    using verbs::verbs;

    result<code_result> create_code(const new_authorization_code& code) noexcept {
        return detail::without_exceptions([&] {
            return impl_->database.transact([&](postgres::transaction& on) {
                auto beginning = impl_->database.make_batch();
                beginning.add("BEGIN");
                return postgres::create_code(on, std::move(beginning), code, [](postgres::batch&) {});
            });
        });
    }

    result<redeemed_code> redeem_code(const code_redemption& shown) noexcept {
        return detail::without_exceptions([&]() -> result<redeemed_code> {
            auto done = impl_->database.transact([&](postgres::transaction& on) -> result<redeemed_code> {
                auto reading = impl_->database.make_batch();
                reading.add("BEGIN");
                reading.add(
                    "SELECT grants.id FROM tollgate_grants AS grants JOIN tollgate_codes AS codes ON grants.id = codes.grant_id "
                    "WHERE code_digest = $1 AND application_id = $2 FOR NO KEY UPDATE OF grants",
                    shown.code_digest, shown.application);
                const auto stored = reading.add(sql::statements::find_code, shown.code_digest, shown.application);
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
                    const bool had_tokens =
                        std::any_of(revoked->begin(), revoked->end(), [](const auto& each) { return each.affected() > 0; });
                    return redeemed_code{judged, had_tokens ? std::optional{code.user} : std::nullopt, {}};
                }
                if (judged != redemption_result::redeemed) return redeemed_code{judged, {}, {}};
                if (code.refresh_token) return redeemed_code{judged, code.user, code.scopes};  // the call is repeated
                if (auto checked = postgres::check_room((*read)[room], shown.now); !checked) return std::move(checked).error();

                const auto& tokens = shown.tokens;
                postgres::batch writing{reading.shift()};
                writing.add(sql::statements::insert_refresh_token, tokens.refresh_digest, code.access_grant, code.scopes,
                            tokens.refresh_token_end(), tokens.refresh_ends_at, code.resources);
                writing.add(sql::statements::trim_refresh_tokens, code.access_grant, tokens.refresh_digest,
                            limits::refresh_tokens_per_grant_max - 1);
                writing.add(sql::statements::spend_code, tokens.refresh_digest, shown.now, code.forget_at(), code.id);
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

    result<refreshed_token> refresh_access_token(const token_refresh& shown) noexcept {
        return detail::without_exceptions([&]() -> result<refreshed_token> {
            auto done = impl_->database.transact([&](postgres::transaction& on) -> result<refreshed_token> {
                const auto family = shown.family_digest();
                auto reading = impl_->database.make_batch();
                reading.add("BEGIN");
                postgres::detail::lock_grant_of(reading, shown.application, shown.refresh_digest, family);
                const auto stored = reading.add(sql::statements::find_refresh_token, shown.access_digest, shown.refresh_digest, family,
                                                shown.application, shown.now);
                const auto room = reading.add(
                    "SELECT access.expires_at FROM tollgate_refresh_tokens AS tokens JOIN tollgate_grants AS grants ON grants.id = "
                    "grant_id "
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
                writing.add(sql::statements::prolong_refresh_token, shown.refresh_token_end(token.ends_at), token.id);
                if (shown.rotation && token.is_shown_by(shown)) {
                    const auto& rotation = *shown.rotation;
                    writing.add(sql::statements::replace_refresh_token, rotation.successor_digest, shown.now, rotation.successor_seed,
                                rotation.family_digest, token.id);
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

    result<std::size_t> sweep_expired(instant now, std::size_t rows_max) noexcept {
        // Nodes that sweep at the same time take different rows.
        return sql::sweep_expired(now, rows_max, [this](auto... statement) { return impl_->remove(statement...); });
    }
};

}  // namespace postgres_detail

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_GRANTS_IPP

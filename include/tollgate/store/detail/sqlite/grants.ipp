#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_GRANTS_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_GRANTS_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/sql/grants.hpp>
#include <tollgate/store/detail/sql/sweeps.hpp>
#include <tollgate/store/detail/sqlite/credentials.ipp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>
#include <tollgate/store/detail/widen_scopes.hpp>

#include <utility>

namespace tollgate::inline v0 {

namespace sqlite::detail {

/// Adds the code's scopes to the grant of its user and application; creates it if there is none. Returns its id; empty if the code may
/// not be created.
inline result<std::optional<sql::row_number>> widen_grant(database& on, const new_authorization_code& code) {
    auto done = on.run(sql::statements::insert_grant_of_code, code.user, code.application, code.created_at, code.only_if_granted,
                       code.code_digest, code.replaceable_until(), code.latest_end());
    if (!done) return std::move(done).error();
    const auto before = sql::read_one(on.prepare(sql::statements::lock_grant, code.user, code.application), sql::to_found_grant);
    if (!before) return before.error();
    const auto scopes = tollgate::detail::widen_scopes(*before ? std::optional{(*before)->scopes} : std::nullopt, code);
    if (!scopes) return scopes.error();
    if (!*scopes) return std::optional<sql::row_number>{};
    const sql::row_number id = (*before)->id;
    return on.run(sql::statements::widen_grant, **scopes, id).transform([id] { return std::optional{id}; });
}

/// Inserts the refresh token of a pair.
inline result<void> insert_refresh_token(database& on, const issued_tokens& issued, const sql::found_code& code) {
    auto done = on.run(sql::statements::insert_refresh_token, issued.refresh_digest, code.access_grant, code.scopes,
                       issued.refresh_token_end(), issued.refresh_ends_at, code.resources);
    if (!done) return token_exists(std::move(done).error());
    return on.run(sql::statements::trim_refresh_tokens, code.access_grant, issued.refresh_digest, limits::refresh_tokens_per_grant_max - 1);
}

}  // namespace sqlite::detail

namespace sqlite {

TOLLGATE_DECL result<code_result> create_code(database& on, const new_authorization_code& code) {
    const auto is_suspended = sql::read_value<bool>(on.prepare(sql::statements::lock_application_of_code, code.application));
    if (!is_suspended) return is_suspended.error();
    if (is_suspended->value_or(false)) return code_result::suspended;
    if (auto done = on.run(sql::statements::delete_replaceable_code, code.code_digest, code.replaceable_until(), code.latest_end()); !done)
        return std::move(done).error();
    const auto is_spent = sql::read_value<bool>(on.prepare(sql::statements::is_code_spent, code.code_digest));
    if (!is_spent) return is_spent.error();
    if (*is_spent) return **is_spent ? code_result::spent : code_result::waiting;
    if (!*is_suspended) return not_found();

    const auto widened = detail::widen_grant(on, code);
    if (!widened) return widened.error();
    if (!*widened) return code_result::not_granted;
    const auto access_grant = **widened;
    if (auto done = on.run(sql::statements::insert_code, code.code_digest, access_grant, code.scopes, code.redirect, code.code_challenge,
                           code.expires_at, code.resources);
        !done)
        return std::move(done).error();
    return on.run(sql::statements::trim_codes, access_grant, limits::codes_per_grant_max).transform([] { return code_result::created; });
}

}  // namespace sqlite

namespace sqlite_detail {

/// Verbs of `grant_store`.
struct grant_verbs : verbs {
    using verbs::verbs;

    result<code_result> create_code(const new_authorization_code& code) noexcept {
        return impl_->database.transact([&](sqlite::database& on) { return sqlite::create_code(on, code); });
    }

    result<redeemed_code> redeem_code(const code_redemption& shown) noexcept {
        return impl_->database.transact([&](sqlite::database& on) -> result<redeemed_code> {
            const auto found =
                sql::read_one(on.prepare(sql::statements::find_code, shown.code_digest, shown.application), sql::to_found_code);
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

            if (auto done = sqlite::detail::insert_refresh_token(on, shown.tokens, code); !done) return std::move(done).error();
            if (auto done = sqlite::insert_access_token(on, code.access_token(shown), shown.tokens.refresh_digest); !done)
                return std::move(done).error();
            return on.run(sql::statements::spend_code, shown.tokens.refresh_digest, shown.now, code.forget_at(), code.id).transform([&] {
                return redeemed_code{judged, code.user, code.scopes};
            });
        });
    }

    result<refreshed_token> refresh_access_token(const token_refresh& shown) noexcept {
        return impl_->database.transact([&](sqlite::database& on) -> result<refreshed_token> {
            const auto found = sql::read_one(on.prepare(sql::statements::find_refresh_token, shown.access_digest, shown.refresh_digest,
                                                        shown.family_digest(), shown.application, shown.now),
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

            if (auto done = sqlite::insert_access_token(on, token.access_token(shown), token.current); !done)
                return std::move(done).error();
            if (auto done = on.run(sql::statements::prolong_refresh_token, shown.refresh_token_end(token.ends_at), token.id); !done)
                return std::move(done).error();
            if (shown.rotation && token.is_shown_by(shown)) {
                const auto& rotation = *shown.rotation;
                auto done = on.run(sql::statements::replace_refresh_token, rotation.successor_digest, shown.now, rotation.successor_seed,
                                   rotation.family_digest, token.id);
                if (!done) return token_exists(std::move(done).error());
            }
            return token.refreshed(shown);
        });
    }

    result<std::size_t> sweep_expired(instant now, std::size_t rows_max) noexcept {
        const auto sweep = [&](sqlite::database& on) -> result<std::size_t> {
            return sql::sweep_expired(now, rows_max, [&](auto... statement) { return on.remove(statement...); });
        };
        return impl_->change_if("SELECT EXISTS (SELECT 1 FROM tollgate_codes WHERE forget_at <= ?1) "
                         "OR EXISTS (SELECT 1 FROM tollgate_access_tokens WHERE expires_at <= ?1) "
                         "OR EXISTS (SELECT 1 FROM tollgate_refresh_tokens WHERE expires_at <= ?1) "
                         "OR EXISTS (SELECT 1 FROM tollgate_device_codes WHERE expires_at <= ?2)",
                         sweep, now, sql::device_codes_end(now));
    }
};

}  // namespace sqlite_detail

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_GRANTS_IPP

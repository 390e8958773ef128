#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_STORE_IMPL_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_STORE_IMPL_IPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/store/detail/postgres/credential_lookup.hpp>
#include <tollgate/store/detail/postgres/listener.hpp>
#include <tollgate/store/detail/sql/grants.hpp>
#include <tollgate/store/postgres.hpp>
#include <tollgate/store/postgres_database.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tollgate::inline v0 {

/// The state that the verbs use. Each verb is defined in the file of its family, beside this file.
struct postgres_store::impl {
    impl(postgres_database opened, const postgres_settings& settings)
        : lookup{settings.owner_query},
          database{std::move(opened)},
          response_wait_max{settings.response_wait_max},
          keys{settings.hook_secret_keys.value_or(secret_keys{})},
          changes{std::make_shared<cache_invalidation_feed>(
              cache_invalidation_feed_settings{.row_lifetime = settings.cached_for})},
          personal_tokens{*changes, settings.cached_credentials_max},
          access_tokens{*changes, settings.cached_credentials_max},
          listener{database} {
        if (settings.cached_credentials_max > 0) listener.feed(changes);
    }

    /// Called when a verb that revokes tokens has failed, because it may have been committed nevertheless.
    error forget_all_after(error failure) const noexcept {
        // With other kinds the server confirmed that nothing was done.
        if (failure.kind == error_kind::unavailable || failure.kind == error_kind::internal) changes->forget_all();
        return failure;
    }

    /// Called when an access token was created. `others_removed`: whether other access tokens of the user were removed.
    void access_token_created(const digest& token, user_id user, bool others_removed) const noexcept {
        changes->forget_key(access_tokens.hash_of(token));
        if (others_removed) changes->forget(user);
    }

    /// Runs a statement that changes nothing, for verbs of one statement. Returns what `make` makes of each row.
    template <class Make, class... Values>
    auto read_all(Make make, postgres::statement_text text, const Values&... values) noexcept {
        return read([&](postgres::rows& found) { return sql::read_all(found, make); }, text, values...);
    }
    /// Runs a statement that changes nothing. Returns what `make` makes of the first row, if there is one.
    template <class Make, class... Values>
    auto read_one(Make make, postgres::statement_text text, const Values&... values) noexcept {
        return read([&](postgres::rows& found) { return sql::read_one(found, make); }, text, values...);
    }
    /// Runs a statement that changes nothing. Returns what `read_rows` makes of all rows.
    template <class Read, class... Values>
    std::invoke_result_t<Read&, postgres::rows&> read(Read read_rows, postgres::statement_text text, const Values&... values) noexcept {
        return detail::without_exceptions([&]() -> std::invoke_result_t<Read&, postgres::rows&> {
            auto found = database.query(text, values...);
            if (!found) return std::move(found).error();
            return read_rows(*found);
        });
    }
    /// Runs a statement, for verbs of one statement. Returns true if it changed a row.
    template <class... Values>
    result<bool> change(postgres::statement_text text, const Values&... values) noexcept {
        return detail::without_exceptions([&]() -> result<bool> {
            auto done = database.execute(text, values...);
            if (!done) return std::move(done).error();
            return done->affected() > 0;
        });
    }

    /// For verbs of several statements: `verb(batch)` adds them to an empty batch, and runs it.
    template <class Verb>
    std::invoke_result_t<Verb&, postgres::batch&> with_batch(Verb&& verb) noexcept {
        return detail::without_exceptions([&] {
            auto batch = database.make_batch();
            return verb(batch);
        });
    }

    /// Each deletes rows of one kind, at most `rows_max`, and returns their number.
    TOLLGATE_DECL result<std::size_t> sweep_expired(instant now, std::size_t rows_max) noexcept;
    TOLLGATE_DECL result<std::size_t> sweep_deliveries(instant ended_before, std::size_t rows_max) noexcept;
    TOLLGATE_DECL result<std::size_t> sweep_sessions(const session_ends& ends, std::size_t rows_max) noexcept;

    /// Parts of `change_hook` and `resend`.
    TOLLGATE_DECL result<bool> change_hook(const account_ref& account, hook_id id, const hook_fields& fields) noexcept;
    TOLLGATE_DECL result<bool> change_hook(const account_ref& account, hook_id id, const hook_secret_replacement& replacement) noexcept;
    TOLLGATE_DECL result<bool> change_hook(const account_ref& account, hook_id id, const hook_enabling& enabling) noexcept;
    TOLLGATE_DECL result<std::size_t> resend(const account_ref& account, delivery_id id, instant now) noexcept;
    TOLLGATE_DECL result<std::size_t> resend(const account_ref& account, const given_up_deliveries& resent, instant now) noexcept;

    /// Encrypts the webhook secrets that are not encrypted with the first key.
    TOLLGATE_DECL result<void> encrypt_hook_secrets();

    postgres::credential_lookup lookup;  // outlives the connections, which prepare its texts
    postgres_database database;
    milliseconds response_wait_max;
    secret_keys keys;
    postgres_lookup<token_username, token_credential> personal_lookups;
    postgres_lookup<digest, token_credential> access_lookups;
    std::shared_ptr<cache_invalidation_feed> changes;
    postgres_row_cache<token_username, token_credential> personal_tokens;
    postgres_row_cache<digest, token_credential> access_tokens;
    /// When `due_hooks` tries again to release or remove deliveries, after a failure.
    std::atomic<std::chrono::steady_clock::time_point> work_at{};
    postgres::listener listener;  // ends before the database does
};

namespace postgres {

/// Transactions with the same key wait until this batch is committed; its later statements see what earlier ones inserted.
/// Keys are hashed; a collision only makes two transactions wait for each other.
inline void lock_until_commit(batch& in, std::string_view key) {
    in.add("SELECT pg_advisory_xact_lock(hashtextextended('tollgate ' || $1, 0))", key);
}

/// For optional writes of a request that has another purpose: the commit does not wait for the disk, so a power failure
/// may undo it, and a lock is waited for 50 ms at most.
inline void make_best_effort(batch& in) {
    in.add("SELECT set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '50', true)");
}

/// The wait for a connection for optional writes: short enough for the request that causes them.
inline constexpr milliseconds short_connection_wait{50};

/// `create_code` as the end of a transaction, whose first statements are in `reading`. `add_more` adds statements that are executed with
/// the creation; the transaction is then committed.
TOLLGATE_DECL result<code_result> create_code(transaction& on, batch reading, const new_authorization_code& code,
                                              const std::function<void(batch&)>& add_more);

/// Inserts an access token, which was issued with this refresh token, if any, and trims. Returns the index of the statement that trims.
/// Precondition: the transaction has found that there is room for it (`check_room`).
TOLLGATE_DECL std::size_t add_access_token(batch& to, const new_access_token& token, const std::optional<digest>& refresh_token);

/// Deletes expired access tokens of this token's user and application beyond the bound; nothing if the token does not exist. Returns the
/// index of the statement.
TOLLGATE_DECL std::size_t trim_access_tokens(batch& to, const new_access_token& newest);

/// Makes the transaction wait for others that create access tokens of the user and the application, and these wait for it.
TOLLGATE_DECL void lock_access_tokens(batch& in, user_id user, application_id application);

/// The time at which fewer access tokens than the bound remain, of those that a user and an application have, if there are so many.
/// Returns the index of the statement.
TOLLGATE_DECL std::size_t add_room_query(batch& to, user_id user, application_id application);
/// Error (too_many_requests) unless that time is over. `found`: the rows of the query.
[[nodiscard]] TOLLGATE_DECL result<void> check_room(rows& found, instant now);

}  // namespace postgres

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_STORE_IMPL_IPP

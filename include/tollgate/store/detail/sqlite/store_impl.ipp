#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_STORE_IMPL_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_STORE_IMPL_IPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/store/detail/sql/grants.hpp>
#include <tollgate/store/sqlite.hpp>
#include <tollgate/store/sqlite_database.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tollgate::inline v0 {

/// The state that the verbs use. Each verb is defined in the file of its family, beside this file.
struct sqlite_store::impl {
    impl(sqlite_database opened, const sqlite_settings& settings)
        : owner_query{settings.owner_query.empty() ? std::string{} : compose_owner_query(settings.owner_query)},
          database{std::move(opened)},
          keys{settings.hook_secret_keys.value_or(secret_keys{})},
          personal_tokens{database.changes(), settings.cached_credentials_max},
          access_tokens{database.changes(), settings.cached_credentials_max} {}

    /// Runs a statement that changes nothing, for verbs of one statement. Returns what `make` makes of each row.
    template <class Make, class... Values>
    auto read_all(Make make, sql::statement_text text, const Values&... values) noexcept {
        return database.read([&](sqlite::database& on) { return sql::read_all(on.prepare(text, values...), make); });
    }
    /// Runs a statement that changes nothing. Returns what `make` makes of the first row, if there is one.
    template <class Make, class... Values>
    auto read_one(Make make, sql::statement_text text, const Values&... values) noexcept {
        return database.read([&](sqlite::database& on) { return sql::read_one(on.prepare(text, values...), make); });
    }
    /// Runs a statement that changes nothing. Returns what `make` makes of a credential, with its owner.
    template <class Make, class Key>
    result<std::optional<token_credential>> read_credential(Make make, sql::statement_text text, const Key& key) noexcept {
        return database.read([&](sqlite::database& on) -> result<std::optional<token_credential>> {
            auto rows = on.prepare(text, key);  // until both are read, so that they come from one snapshot of the file
            auto found = sql::read_one(rows, make);
            if (!found || !*found) return found;
            auto owner = owner_of(on, (*found)->user);
            if (!owner) return std::move(owner).error();
            (*found)->owner = *owner;
            return found;
        });
    }
    /// Runs a statement, for verbs of one statement. Returns true if it changed a row.
    template <class... Values>
    result<bool> change(sql::statement_text text, const Values&... values) noexcept {
        return database.write([&](sqlite::database& on) { return on.run_counted(text, values...); });
    }

    /// Executes `change` in a transaction if the query `exists` returns true, else returns 0: often there is nothing to do, and then
    /// other writers are not delayed.
    template <class Change, class... Values>
    result<std::size_t> change_if(sql::statement_text exists, Change&& change, const Values&... values) noexcept {
        const auto end = database.deadline_from_now();
        auto any = database.read([&](sqlite::database& on) { return sql::read_value<bool>(on.prepare(exists, values...)); }, end);
        if (!any) return std::move(any).error();
        if (!any->value_or(false)) return std::size_t{0};
        return database.transact(change, end);
    }
    /// For optional writes of a request: enough to wait for a few commits.
    [[nodiscard]] sqlite_database::deadline use_deadline() const noexcept { return database.deadline_from_now(milliseconds{50}); }

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

    std::string owner_query;  // outlives the connections, which prepare it
    sqlite_database database;
    secret_keys keys;
    sqlite_row_cache<token_username, token_credential> personal_tokens;
    sqlite_row_cache<digest, token_credential> access_tokens;

private:
    /// Returns the result of `owner_query` for a user; empty without a query or a row.
    TOLLGATE_DECL result<std::optional<known_user>> owner_of(sqlite::database& on, user_id user) const;
    static TOLLGATE_DECL std::string compose_owner_query(std::string_view integrators);
};

namespace sqlite {

/// Inserts an access token with its refresh token, if any, and deletes expired ones of its user and application beyond the bound. Error
/// (too_many_requests) if as many are valid. Precondition: in a transaction.
TOLLGATE_DECL result<void> insert_access_token(database& on, const new_access_token& token, std::optional<sql::row_number> refresh_token);

/// `create_code` as a part of a transaction.
TOLLGATE_DECL result<code_result> create_code(database& on, const new_authorization_code& code);

}  // namespace sqlite

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_STORE_IMPL_IPP

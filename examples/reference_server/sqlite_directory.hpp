#pragma once

#include "sql_directory.hpp"

#include <tollgate/base/result.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/store/sqlite_database.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reference {

/// Users, their accounts and their quotas, in the same SQLite file as the store, with tables and a schema
/// version of its own. Several processes may use one file at once: a change by one is seen by the others with their
/// next call.
class sqlite_directory final : public sql_directory<sqlite_directory> {
public:
    /// Creates the tables if they do not exist, and brings older ones up to date.
    static tollgate::result<sqlite_directory> open(const std::filesystem::path& file);

    /// The query of `quota_of` and `balance_of`, which the store in the same file runs with each credential
    /// (`sqlite_settings::owner_query`).
    static constexpr const char* owner_query =
        "SELECT requests_per_day, 86400, balance, currency FROM directory_users WHERE id = ? AND NOT disabled";

    /// The version of the tables, without changing them.
    static tollgate::result<tollgate::schema_status> check_schema(const std::filesystem::path& file);

    /// Whether this process may change an open file; it is not changed.
    static tollgate::result<void> check_writable(tollgate::sqlite_database& opened);
    tollgate::result<void> check_writable() { return check_writable(database_); }

    [[nodiscard]] tollgate::backend_statistics statistics() const noexcept override { return database_.statistics(); }

    using sql_directory::owner_of;
    tollgate::result<std::optional<tollgate::user_id>> owner_of(tollgate::token_id token) override;
    tollgate::result<std::optional<tollgate::account_ref>> account_of_delivery(tollgate::delivery_id delivery) override;
    tollgate::result<std::vector<application_grant>> grants_of(tollgate::application_id application, tollgate::user_id first,
                                                               std::size_t rows_max) override;
    tollgate::result<void> record(const tollgate::activity& activity) override;
    tollgate::result<void> delete_user(tollgate::user_id user) override;
    tollgate::result<tollgate::account_id> add_account(tollgate::user_id user, const tollgate::service_name& service,
                                                        std::string_view name, bool admin) override;

private:
    friend sql_directory;
    static constexpr const char* login_query = "SELECT id, password_hash FROM directory_users WHERE login = $1 AND NOT disabled";

    explicit sqlite_directory(tollgate::sqlite_database opened) : database_{std::move(opened)} {}

    template <class Make, class... Values>
    auto read_all(Make make, tollgate::sql::statement_text text, const Values&... values) {
        return database_.read(
            [&](tollgate::sqlite::database& on) { return tollgate::sql::read_all(on.prepare(text, values...), make); });
    }
    template <class Make, class... Values>
    auto read_one(Make make, tollgate::sql::statement_text text, const Values&... values) {
        return database_.read(
            [&](tollgate::sqlite::database& on) { return tollgate::sql::read_one(on.prepare(text, values...), make); });
    }
    template <class Make, class... Values>
    auto insert_one(Make make, tollgate::sql::statement_text text, const Values&... values) {
        using record = typename tollgate::sql::made_by<Make>::record;
        // In a transaction: a statement that has not been read to its end commits when it is reset, and an error of that is lost.
        return database_.transact([&](tollgate::sqlite::database& on) -> tollgate::result<record> {
            auto inserted = tollgate::sql::read_one(on.prepare(text, values...), make);
            if (!inserted) return std::move(inserted).error();
            if (!*inserted) return tollgate::internal_error("SQLite: a statement returned no row");
            return **std::move(inserted);
        });
    }
    template <class... Values>
    tollgate::result<void> change_one(tollgate::sql::statement_text text, const Values&... values) {
        return database_.write([&](tollgate::sqlite::database& on) -> tollgate::result<void> {
            auto changed = on.run_counted(text, values...);
            if (!changed) return std::move(changed).error();
            if (!*changed) return tollgate::not_found();
            return {};
        });
    }

    tollgate::sqlite_database database_;
};

}  // namespace reference

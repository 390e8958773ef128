#pragma once

#include "sql_directory.hpp"

#include <tollgate/base/result.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/store/postgres_database.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace reference {

/// Users, their accounts and their quotas, in the same PostgreSQL database as the store, with tables and a
/// schema version of its own. Any number of nodes use it at once, and see each other's changes with their next call:
/// every verb is one round trip.
class postgres_directory final : public sql_directory<postgres_directory> {
public:
    /// Creates the tables if they do not exist, and brings older ones up to date. Times are those of the server, from the store's
    /// `clock`.
    static tollgate::result<postgres_directory> open(const std::string& connection_string,
                                                      std::size_t connections_max);

    /// The query of `quota_of` and `balance_of`, which the store in the same database runs with each credential
    /// (`postgres_settings::owner_query`). A trigger notifies nodes that cache it.
    static constexpr const char* owner_query =
        "SELECT requests_per_day, 86400, balance, currency FROM directory_users "
        "WHERE directory_users.id = owner.id AND NOT directory_users.disabled";

    /// The version of the tables, without changing them.
    static tollgate::result<tollgate::schema_status> check_schema(const std::string& connection_string);

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
    static constexpr const char* login_query =
        "SELECT id, password_hash FROM directory_users WHERE lower(login) = lower($1 COLLATE \"C\") AND NOT disabled";

    explicit postgres_directory(tollgate::postgres_database opened) : database_{std::move(opened)} {}

    /// False for a text that PostgreSQL refuses, which is therefore in no row.
    template <class Value>
    static bool is_storable(const Value& value) {
        if constexpr (std::is_convertible_v<const Value&, std::string_view>)
            return tollgate::postgres::is_storable(value);
        else
            return true;
    }

    template <class Make, class... Values>
    auto read_all(Make make, tollgate::sql::statement_text text, const Values&... values)
        -> tollgate::result<std::vector<typename tollgate::sql::made_by<Make>::record>> {
        if (!(is_storable(values) && ...)) return std::vector<typename tollgate::sql::made_by<Make>::record>{};
        auto found = database_.query(text, values...);
        if (!found) return std::move(found).error();
        return tollgate::sql::read_all(*found, make);
    }
    template <class Make, class... Values>
    auto read_one(Make make, tollgate::sql::statement_text text, const Values&... values)
        -> tollgate::result<std::optional<typename tollgate::sql::made_by<Make>::record>> {
        if (!(is_storable(values) && ...)) return std::optional<typename tollgate::sql::made_by<Make>::record>{};
        auto found = database_.query(text, values...);
        if (!found) return std::move(found).error();
        return tollgate::sql::read_one(*found, make);
    }
    template <class Make, class... Values>
    auto insert_one(Make make, tollgate::sql::statement_text text, const Values&... values)
        -> tollgate::result<typename tollgate::sql::made_by<Make>::record> {
        auto done = database_.execute(text, values...);
        if (!done) return std::move(done).error();
        auto inserted = tollgate::sql::read_one(*done, make);
        if (!inserted) return std::move(inserted).error();
        if (!*inserted) return tollgate::internal_error("PostgreSQL: a statement returned no row");
        return **std::move(inserted);
    }
    template <class... Values>
    tollgate::result<void> change_one(tollgate::sql::statement_text text, const Values&... values) {
        auto done = database_.execute(text, values...);
        if (!done) return std::move(done).error();
        if (done->affected() == 0) return tollgate::not_found();
        return {};
    }

    tollgate::postgres_database database_;
};

}  // namespace reference

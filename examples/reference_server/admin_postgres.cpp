#include "administer.hpp"
#include "postgres_directory.hpp"

#include <tollgate/store/postgres.hpp>
#include <tollgate/store/postgres_database.hpp>

#include <variant>

namespace reference {

namespace {

struct postgres_access {
    const reference::settings& settings;
    bool may_create;

    [[nodiscard]] std::string address() const { return settings.store_location().connection_string; }

    [[nodiscard]] store_schema schema() const {
        return {expect(tollgate::postgres_store::check_schema(address()), "--store: cannot open the database"),
                expect(postgres_directory::check_schema(address()), "--store: cannot open the database")};
    }
    [[nodiscard]] postgres_directory users() const {
        expect_tables();
        return expect(postgres_directory::open(address(), 1), "--store: cannot open the database");
    }
    [[nodiscard]] tollgate::postgres_store store() const {
        expect_tables();
        tollgate::postgres_settings one;
        one.connections_max = 1;
        one.callers_clock = nullptr;
        return expect(tollgate::postgres_store::open(address(), one), "--store: cannot open the database");
    }
    /// PostgreSQL checks foreign keys with every change; this looks for constraints and indexes that are marked as invalid, and for tables
    /// that the user may not read and write.
    void check_integrity() const {
        auto opened = expect(tollgate::postgres_database::open(address(), {.connections_max = 1}), "cannot open the database");
        const auto expect_none = [&](tollgate::postgres::statement_text text, const std::string& before, const std::string& behind) {
            auto found = expect(opened.query(text), "cannot read the catalog");
            if (const auto name = expect(tollgate::sql::read_value<std::string>(found), "cannot read the catalog"))
                throw run_error{before + " " + *name + behind};
        };
        expect_none("SELECT conname::text FROM pg_constraint "
                    "WHERE NOT convalidated AND connamespace = to_regnamespace(current_schema()::text) LIMIT 1",
                    "the constraint", " is not valid.");
        expect_none("SELECT relname::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid "
                    "WHERE NOT indisvalid AND relnamespace = to_regnamespace(current_schema()::text) LIMIT 1",
                    "the index", " is not valid.");
        expect_none("SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p') "
                    "AND relnamespace = to_regnamespace(current_schema()::text) AND (relname LIKE 'tollgate\\_%' OR relname IN "
                    "('directory_users', 'directory_accounts', 'directory_activities', 'directory_keys')) "
                    "AND NOT (has_table_privilege(oid, 'SELECT') AND (relname = 'tollgate_schema' OR (has_table_privilege(oid, 'INSERT') "
                    "AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE')))) ORDER BY relname LIMIT 1",
                    "this user may not read and write the table", ".");
    }
    [[nodiscard]] std::vector<std::string> one_secret_of_each_key() const {
        auto opened = expect(tollgate::postgres_database::open(address(), {.connections_max = 1}), "cannot open the database");
        auto found = expect(opened.query(select_one_secret_of_each_key), "cannot read the webhooks");
        return expect(tollgate::sql::read_all(found, [](std::string& secret) { return std::move(secret); }),
                      "cannot read the webhooks");
    }
    /// The server's, as in `serve`.
    [[nodiscard]] static tollgate::instant now(const tollgate::postgres_store& store) { return store.clock().now(); }

private:
    /// Throws if the database has no tables and the command may not create them.
    void expect_tables() const {
        if (may_create || !schema().is_empty()) return;
        auto opened = expect(tollgate::postgres_database::open(address(), {.connections_max = 1}), "--store: cannot open the database");
        auto named = expect(opened.query("SELECT concat('database \"', current_database(), '\", schema \"', current_schema(), '\"')"),
                              "--store: cannot read the catalog");
        const auto name = expect(tollgate::sql::read_value<std::string>(named), "--store: cannot read the catalog");
        throw run_error{"--store: " + name.value_or("the database") + " contains no Tollgate tables."};
    }
};

}  // namespace

nlohmann::ordered_json administer_on_postgres(const command& chosen, const settings& settings) {
    return std::visit(administration{postgres_access{settings, may_create_tables(chosen)}}, chosen);
}

}  // namespace reference

#include "data_directory.hpp"
#include "output.hpp"
#include "postgres_directory.hpp"
#include "storage.hpp"

#include <tollgate/store/postgres.hpp>
#include <tollgate/store/postgres_database.hpp>

namespace reference {

namespace {

class postgres_server final : public database {
public:
    postgres_server(const settings& settings, bool may_create) : settings_{settings}, may_create_{may_create} {}

    [[nodiscard]] storage_schema schema() const override {
        return {expect(tollgate::postgres_store::check_schema(address()), "--store: cannot open the database"),
                expect(postgres_directory::check_schema(address()), "--store: cannot open the database")};
    }
    [[nodiscard]] std::unique_ptr<database_directory> users() const override {
        expect_tables();
        return std::make_unique<postgres_directory>(
            expect(postgres_directory::open(address(), 1), "--store: cannot open the database"));
    }
    [[nodiscard]] tollgate::any_store store(const std::optional<tollgate::secret_keys>& keys) const override {
        expect_tables();
        tollgate::postgres_settings one;
        one.connections_max = 1;
        one.hook_secret_keys = keys;
        one.callers_clock = nullptr;
        return expect(tollgate::postgres_store::open_any(address(), one), "--store: cannot open the database");
    }
    /// PostgreSQL checks foreign keys with every change; this looks for constraints and indexes that are marked as invalid, and for tables
    /// that the user may not read and write.
    void check_integrity() const override {
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
    [[nodiscard]] std::vector<std::string> one_secret_of_each_key() const override {
        auto opened = expect(tollgate::postgres_database::open(address(), {.connections_max = 1}), "cannot open the database");
        auto found = expect(opened.query(select_one_secret_of_each_key), "cannot read the webhooks");
        return expect(tollgate::sql::read_all(found, [](std::string& secret) { return std::move(secret); }),
                      "cannot read the webhooks");
    }
    [[nodiscard]] std::unique_ptr<record_reader> reader() const override {
        update_tables();
        return open_postgres_reader(settings_);
    }
    [[nodiscard]] std::unique_ptr<record_writer> writer() const override {
        update_tables();
        return open_postgres_writer(settings_);
    }

private:
    [[nodiscard]] std::string address() const { return settings_.store_location().connection_string; }

    /// Throws if the database has no tables and the command may not create them.
    void expect_tables() const {
        if (may_create_ || !schema().is_empty()) return;
        auto opened = expect(tollgate::postgres_database::open(address(), {.connections_max = 1}), "--store: cannot open the database");
        auto named = expect(opened.query("SELECT concat('database \"', current_database(), '\", schema \"', current_schema(), '\"')"),
                              "--store: cannot read the catalog");
        const auto name = expect(tollgate::sql::read_value<std::string>(named), "--store: cannot read the catalog");
        throw run_error{"--store: " + name.value_or("the database") + " contains no Tollgate tables."};
    }

    const settings& settings_;
    bool may_create_;
};

}  // namespace

storage open_postgres_storage(const settings& settings) {
    const auto to = settings.store_location().connection_string;
    const auto for_users = settings.store_connections / 2;  // a request uses one at a time of either
    tollgate::postgres_settings store_settings;
    store_settings.hook_secret_keys = read_secret_keys(settings.secret_key_file);
    auto users = expect(postgres_directory::open(to, for_users), "--store: cannot open the database");

    store_settings.connections_max = settings.store_connections - for_users;
    store_settings.callers_clock = nullptr;  // all callers use the store's clock
    if (settings.cached_for > tollgate::milliseconds{0}) {
        store_settings.cached_credentials_max = 16'384;  // of each kind: 20 MB, if all are used
        store_settings.cached_for = settings.cached_for;
    }
    store_settings.owner_query = postgres_directory::owner_query;
    auto store = expect(tollgate::postgres_store::open(to, store_settings), "--store: cannot open the database");
    return {std::make_unique<postgres_directory>(std::move(users)), std::move(store)};
}

std::unique_ptr<database> postgres_database_of(const settings& settings, bool may_create) {
    return std::make_unique<postgres_server>(settings, may_create);
}

}  // namespace reference

#include <tollgate/store/schema_status.hpp>

#include <tollgate/store/detail/postgres/schema.hpp>
#include <tollgate/store/detail/sqlite/database.hpp>
#include <tollgate/store/detail/sqlite/schema.hpp>
#include <tollgate/store/detail/sqlite/statement.hpp>
#include <tollgate/store/postgres.hpp>
#include <tollgate/store/postgres_database.hpp>
#include <tollgate/store/sqlite.hpp>
#include <tollgate/store/sqlite_database.hpp>
#include <tollgate/testing/detail/expect.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <support/postgres_server.hpp>
#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace tollgate;
using tollgate::testing::value_of;
using tollgate_test::postgres_server;
using tollgate_test::temporary_directory;

TEST_CASE("statements of a script are counted", "[schema_status]") {
    struct row {
        std::string_view script;
        std::size_t statements;
    };
    for (const row& each : {
             row{"", 0},
             row{" \n ", 0},
             row{";;", 0},
             row{"SELECT 1", 1},
             row{"SELECT 1;", 1},
             row{"SELECT 1; ", 1},
             row{"SELECT 1; SELECT 2", 2},
             row{"SELECT ';'; SELECT 'it''s;'", 2},
             row{"CREATE TABLE \"a;b\" (c)", 1},
             row{"-- SELECT 1; no\nSELECT 1; -- the end;", 1},
             row{"CREATE FUNCTION f() AS $$ a; b; $$; SELECT 1", 2},
             row{"CREATE FUNCTION f() AS $body$ a; $$; b; $body$; SELECT 1", 2},
             row{"SELECT $1; SELECT 'unfinished;", 2},
         }) {
        INFO(each.script);
        CHECK(sql::count_statements(each.script) == each.statements);
    }
}

TEST_CASE("the pending statements are those of the steps to come", "[schema_status]") {
    const std::vector<std::string_view> steps{"a; b", "c", "d; e; f"};
    const auto status = [&](std::int64_t version, std::int64_t works_with) {
        return sql::status_at(version, works_with, steps, [](std::string_view step) { return step; });
    };
    const auto at = [&](std::int64_t version) { return status(version, version); };
    CHECK(at(0).pending_statements == 6);
    CHECK(at(2).pending_statements == 3);
    CHECK(at(2).version == 2);
    CHECK(at(2).newest == 3);
    CHECK(at(3).pending_statements == 0);
    CHECK(at(4).pending_statements == 0);  // of a later release
    CHECK(at(4).version == 4);

    for (const std::int64_t works_with : {0, 2, 3}) CHECK(status(4, works_with).is_usable);
    CHECK_FALSE(status(4, 4).is_usable);
    CHECK(at(0).is_usable);
}

TEST_CASE("the tables and indexes of a new database are the listed ones", "[schema_status]") {
    temporary_directory directory;
    const auto file = directory.file("tollgate.db");
    { sqlite_store store{file}; }
    auto opened = value_of(sqlite::database::open(file));
    CHECK(std::vector<std::string>(sqlite::store_objects.begin(), sqlite::store_objects.end()) ==
          value_of(sql::read_all(opened.prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'index') "
                                                "AND name LIKE 'tollgate\\_%' ESCAPE '\\' AND name <> 'tollgate_schema' ORDER BY name"),
                                 [](std::string& name) { return std::move(name); })));
    const auto schema = postgres_server::shared().new_schema();
    { postgres_store store{schema}; }
    CHECK(std::vector<std::string>(postgres::store_objects.begin(), postgres::store_objects.end()) ==
          postgres_server::run(schema, "SELECT relname FROM pg_class WHERE relkind IN ('r', 'i') AND relnamespace = current_schema()::regnamespace "
                                       "AND relname <> 'tollgate_schema' AND relname NOT LIKE '%\\_pkey' AND relname NOT LIKE '%\\_key' "
                                       "ORDER BY relname COLLATE \"C\""));
}

TEST_CASE("a missing table or index of any component is named", "[schema_status]") {
    constexpr sqlite::statement_text in_sqlite[] = {"CREATE TABLE shop (a INTEGER)", "CREATE INDEX shop_by_a ON shop (a)"};
    constexpr postgres::schema_step in_postgres[] = {{in_sqlite[0]}, {in_sqlite[1]}};
    constexpr std::string_view objects[] = {"shop", "shop_by_a"};
    temporary_directory directory;
    int files = 0;
    struct row {
        std::string change;
        std::size_t steps;  // that are done
        std::size_t known;  // of these
        std::size_t objects;
        std::string_view missing;
    };
    for (const row& each : {
             row{"SELECT 1", 2, 2, 2, ""},
             row{"DROP INDEX shop_by_a", 2, 2, 2, "shop_by_a"},
             row{"DROP TABLE shop", 2, 2, 2, "shop"},
             row{"DROP INDEX shop_by_a; CREATE TABLE others (a INTEGER)", 2, 2, 1, ""},
             row{"DROP TABLE shop", 2, 2, 0, ""},
             row{"SELECT 1", 1, 2, 2, ""},  // the index is still to come
             row{"DROP TABLE shop", 2, 1, 2, ""},  // a later release may have dropped it
         }) {
        CAPTURE(each.change, each.steps, each.known, each.objects);
        const auto names = std::span{objects}.first(each.objects);
        const auto file = directory.file(std::to_string(++files));
        REQUIRE(value_of(sqlite_database::open(file)).migrate("shop", std::span{in_sqlite}.first(each.steps)));
        REQUIRE(value_of(sqlite::database::open(file)).run_script(sqlite::statement_text::composed(each.change)));
        CHECK(value_of(sqlite_database::check_schema(file, "shop", std::span{in_sqlite}.first(each.known), {}, names)).missing ==
              each.missing);

        const auto schema = postgres_server::shared().new_schema();
        REQUIRE(value_of(postgres_database::open(schema)).migrate("shop", std::span{in_postgres}.first(each.steps)));
        postgres_server::run(schema, each.change);
        CHECK(value_of(postgres_database::check_schema(schema, "shop", std::span{in_postgres}.first(each.known), {}, names)).missing ==
              each.missing);
    }
}

TEST_CASE("a missing table or index is named", "[schema_status]") {
    temporary_directory directory;
    CHECK(value_of(sqlite_store::check_schema(directory.file("none.db"))).missing.empty());
    for (const std::string drop : {"", "DROP INDEX tollgate_hooks_by_account", "DROP TABLE tollgate_attempts"}) {
        CAPTURE(drop);
        const auto file = directory.file(std::to_string(drop.size()));
        const auto schema = postgres_server::shared().new_schema();
        { sqlite_store store{file}; }
        { postgres_store store{schema}; }
        if (!drop.empty()) {
            REQUIRE(value_of(sqlite::database::open(file)).run(sqlite::statement_text::composed(drop)));
            postgres_server::run(schema, drop);
        }
        const std::string name = drop.substr(drop.rfind(' ') + 1);
        for (const std::string& missing : {value_of(sqlite_store::check_schema(file)).missing, value_of(postgres_store::check_schema(schema)).missing})
            CHECK((missing.empty() ? drop.empty() : !drop.empty() && missing.starts_with(name)));
    }
}

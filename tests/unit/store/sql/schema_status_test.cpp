#include <tollgate/store/detail/sql/schema_status.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

using namespace tollgate;

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

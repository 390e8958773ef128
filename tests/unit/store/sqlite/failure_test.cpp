#include <tollgate/store/detail/sqlite/failure.hpp>

#include <catch2/catch.hpp>

#include <sqlite3.h>

#include <string>

using namespace tollgate;

TEST_CASE("a failure names the statement in one short line", "[sqlite]") {
    struct {
        std::string doing;
        std::string expected;
    } const cases[] = {
        {"PRAGMA journal_mode = WAL", "PRAGMA journal_mode = WAL"},
        {"/a path/with  blanks.db", "/a path/with  blanks.db"},
        {"\n    SELECT a,\n           b\n    FROM c\n    ", "SELECT a, b FROM c"},
        {std::string(200, 'x'), std::string(200, 'x')},
        {std::string(201, 'x'), std::string(200, 'x') + "..."},
        {"\n  a" + std::string(9000, '\n') + "b", "a b"},
        {"", ""},
        {" \n ", ""},
    };
    for (const auto& each : cases) {
        CAPTURE(each.doing);
        const auto problem = sqlite::failure(nullptr, SQLITE_FULL, each.doing);
        CHECK(problem.kind == error_kind::unavailable);
        CHECK(problem.cause == "SQLite: database or disk is full (result code 13): " + each.expected);
    }
}

#include <tollgate/store/detail/sqlite/statement.hpp>

#include <tollgate/store/detail/sqlite/statement.hpp>
#include <tollgate/store/detail/sqlite/database.hpp>

#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <string>

using namespace tollgate;
using tollgate_test::temporary_directory;

namespace {

struct fixture {
    temporary_directory directory;
    sqlite::database database = *sqlite::database::open(directory.file("test.db"));

    /// The text of a value after it was written to a column and read.
    template <class T>
    T through(const T& value) {
        auto row = database.prepare("SELECT ?", value).template next<T>();
        REQUIRE(row);
        REQUIRE(*row);
        return std::get<0>(**row);
    }
};

}  // namespace

TEST_CASE_METHOD(fixture, "values are read from a column unchanged") {
    for (const std::int64_t each : {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max(),
                                    std::numeric_limits<std::int64_t>::min()})
        CHECK(through(each) == each);
    CHECK(through(true) == true);
    CHECK(through(false) == false);
    for (const std::string& each : {std::string{}, std::string{"text"}, std::string{"a\0b", 3}, std::string{"12"},
                                    std::string{"Zo\xc3\xab"}, std::string(100'000, 'x')})
        CHECK(through(each) == each);
    CHECK(through(*tollgate::detail::inline_text<8>::from("eight b.")) == *tollgate::detail::inline_text<8>::from("eight b."));
    CHECK(through(hook_id{5}) == hook_id{5});
    CHECK(through(from_unix_milliseconds(1'700'000'000'123)) == from_unix_milliseconds(1'700'000'000'123));
    CHECK(through(std::optional<std::int64_t>{7}) == std::optional<std::int64_t>{7});
    CHECK(through(std::optional<std::int64_t>{}) == std::optional<std::int64_t>{});
    CHECK(through(sha256("secret")) == sha256("secret"));
    CHECK(through(*scope_set::parse("b a")) == *scope_set::parse("b a"));
    CHECK(through(scope_set{}) == scope_set{});
    CHECK(through(decimal{"10000000000000000.01"}) == decimal{"10000000000000000.01"});
}

TEST_CASE_METHOD(fixture, "a column of another type is an error") {
    const auto misread = [](const auto& row) {
        return !row && row.error().kind == error_kind::internal && row.error().cause.find("column 1") != std::string::npos;
    };
    CHECK(misread(database.prepare("SELECT 1, 'text'").next<bool, std::int64_t>()));
    CHECK(misread(database.prepare("SELECT 1, NULL").next<bool, std::int64_t>()));
    CHECK(misread(database.prepare("SELECT 1, 1.5").next<bool, std::int64_t>()));
    CHECK(misread(database.prepare("SELECT 1, 12").next<bool, std::string>()));
    CHECK(misread(database.prepare("SELECT 1, x'41'").next<bool, std::string>()));
    CHECK(misread(database.prepare("SELECT 1, 0").next<bool, hook_id>()));
    CHECK(misread(database.prepare("SELECT 1, -5").next<bool, hook_id>()));
    CHECK(misread(database.prepare("SELECT 1, 'nine char'").next<bool, tollgate::detail::inline_text<8>>()));
    CHECK(misread(database.prepare("SELECT 1, 'text'").next<bool, std::optional<std::int64_t>>()));
    CHECK(misread(database.prepare("SELECT 1, zeroblob(31)").next<bool, digest>()));
    CHECK(misread(database.prepare("SELECT 1, zeroblob(33)").next<bool, digest>()));
    CHECK(misread(database.prepare("SELECT 1, x''").next<bool, digest>()));
    CHECK(misread(database.prepare("SELECT 1, 'a' || char(34)").next<bool, scope_set>()));
    CHECK(misread(database.prepare("SELECT 1, '1e5'").next<bool, decimal>()));
    CHECK(misread(database.prepare("SELECT 1, 1.5").next<bool, decimal>()));
}

TEST_CASE_METHOD(fixture, "rows are returned one after the other, then none") {
    auto rows = database.prepare("SELECT value FROM json_each(?)", std::string_view{"[3, 1, 2]"});
    for (const std::int64_t expected : {3, 1, 2}) {
        auto row = rows.next<std::int64_t>();
        REQUIRE(row);
        REQUIRE(*row);
        CHECK(std::get<0>(**row) == expected);
    }
    for (int times = 0; times < 2; ++times) {
        auto end = rows.next<std::int64_t>();
        REQUIRE(end);
        CHECK_FALSE(*end);
    }
}

TEST_CASE_METHOD(fixture, "a statement is executed once, however often it is finished") {
    REQUIRE(database.run("CREATE TABLE t (a INTEGER) STRICT"));
    auto rows = database.prepare("INSERT INTO t VALUES (?) RETURNING a", std::int64_t{1});
    for (int times = 0; times < 3; ++times) REQUIRE(rows.finish());
    const auto count = sql::read_value<std::int64_t>(database.prepare("SELECT count(*) FROM t"));
    REQUIRE(count);
    CHECK(*count == 1);
}

TEST_CASE_METHOD(fixture, "an error of prepare or bind is reported by the first step") {
    auto wrong = database.prepare("SELEKT 1");
    auto row = wrong.next<std::int64_t>();
    REQUIRE_FALSE(row);
    CHECK(row.error().kind == error_kind::internal);
    CHECK_THAT(row.error().cause, Catch::Contains("SELEKT 1"));
    CHECK_FALSE(wrong.finish());

    const auto too_many = database.run("SELECT ?", std::int64_t{1}, std::int64_t{2});
    REQUIRE_FALSE(too_many);
    CHECK(too_many.error().kind == error_kind::internal);
}

TEST_CASE_METHOD(fixture, "a text without a statement is an error") {
    for (const sql::statement_text text : {sql::statement_text{""}, sql::statement_text{" -- nothing"}}) {
        const auto done = database.run(text);
        REQUIRE_FALSE(done);
        CHECK(done.error().kind == error_kind::internal);
    }
}

TEST_CASE_METHOD(fixture, "a cause names the statement, not its values") {
    REQUIRE(database.run("CREATE TABLE t (a TEXT UNIQUE) STRICT"));
    REQUIRE(database.run("INSERT INTO t VALUES (?)", std::string_view{"a secret"}));
    const auto again = database.run("INSERT INTO t VALUES (?)", std::string_view{"a secret"});
    REQUIRE_FALSE(again);
    CHECK(again.error().kind == error_kind::conflict);
    CHECK_THAT(again.error().cause, Catch::Contains("INSERT INTO t VALUES (?)"));
    CHECK_THAT(again.error().cause, !Catch::Contains("a secret"));
    CHECK_THAT(again.error().message, !Catch::Contains("INSERT"));
}

TEST_CASE_METHOD(fixture, "a value need not outlive the call that binds it") {
    auto rows = database.prepare("SELECT ?", std::string(1000, 'x') + "y");
    auto row = rows.next<std::string>();
    REQUIRE(row);
    REQUIRE(*row);
    CHECK(std::get<0>(**row) == std::string(1000, 'x') + "y");
}

#include <tollgate/store/detail/sqlite/migrations.hpp>

#include <support/child_process.hpp>
#include <support/sqlite_file.hpp>
#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <span>
#include <thread>
#include <vector>

using namespace tollgate;
using tollgate_test::number_in;
using tollgate_test::number_pipe;
using tollgate_test::run_processes;
using tollgate_test::temporary_directory;

namespace {

constexpr std::array<sqlite::statement_text, 3> steps{
    "CREATE TABLE things (name TEXT NOT NULL) STRICT;",
    "ALTER TABLE things ADD COLUMN size INTEGER NOT NULL DEFAULT 1; INSERT INTO things (name) VALUES ('by step 2');",
    "CREATE UNIQUE INDEX things_by_name ON things (name);",
};
constexpr std::array<sqlite::statement_text, 2> steps_that_fail{
    "CREATE TABLE things (name TEXT NOT NULL) STRICT;",
    "INSERT INTO things VALUES ('half'); INSERT INTO no_such_table VALUES (1);",
};

std::span<const sqlite::statement_text> first(std::size_t count) { return std::span{steps}.first(count); }

struct fixture {
    temporary_directory directory;
    sqlite::database database = *sqlite::database::open(directory.file("test.db"));
};

}  // namespace

TEST_CASE_METHOD(fixture, "a new file gets every step once") {
    REQUIRE(sqlite::migrate(database, "things", steps));
    CHECK(number_in(database, "SELECT version FROM tollgate_schema WHERE component = 'things'") == 3);
    CHECK(number_in(database, "SELECT count(*) FROM things") == 1);
    REQUIRE(sqlite::migrate(database, "things", steps));
    CHECK(number_in(database, "SELECT count(*) FROM things") == 1);
}

TEST_CASE_METHOD(fixture, "an older file keeps its rows and gets the missing steps") {
    REQUIRE(sqlite::migrate(database, "things", first(1)));
    REQUIRE(database.run("INSERT INTO things VALUES ('old')"));
    REQUIRE(sqlite::migrate(database, "things", first(2)));
    CHECK(number_in(database, "SELECT size FROM things WHERE name = 'old'") == 1);
    REQUIRE(sqlite::migrate(database, "things", steps));
    CHECK(number_in(database, "SELECT count(*) FROM things") == 2);
    CHECK(number_in(database, "SELECT version FROM tollgate_schema") == 3);
}

TEST_CASE_METHOD(fixture, "a file of a later version is not changed, and the error says why") {
    REQUIRE(sqlite::migrate(database, "things", steps));
    const auto refused = sqlite::migrate(database, "things", first(2));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == error_kind::internal);
    CHECK_THAT(refused.error().cause, Catch::Contains("\"things\"") && Catch::Contains("version 3") &&
                                          Catch::Contains("later release") && Catch::Contains("up to 2"));
    CHECK(number_in(database, "SELECT version FROM tollgate_schema") == 3);
}

TEST_CASE_METHOD(fixture, "a step that fails undoes all of them") {
    CHECK_FALSE(sqlite::migrate(database, "things", steps_that_fail));
    CHECK(number_in(database, "SELECT count(*) FROM sqlite_schema") == 0);
    REQUIRE(sqlite::migrate(database, "things", first(1)));
    CHECK_FALSE(sqlite::migrate(database, "things", steps_that_fail));
    CHECK(number_in(database, "SELECT count(*) FROM things") == 0);
    CHECK(number_in(database, "SELECT version FROM tollgate_schema") == 1);
}

TEST_CASE_METHOD(fixture, "components of one file have separate versions, and user_version is not used") {
    static constexpr std::array<sqlite::statement_text, 1> others{"CREATE TABLE others (name TEXT) STRICT;"};
    REQUIRE(database.run_script("PRAGMA user_version = 42"));
    REQUIRE(sqlite::migrate(database, "things", steps));
    REQUIRE(sqlite::migrate(database, "others", others));
    CHECK(number_in(database, "SELECT version FROM tollgate_schema WHERE component = 'things'") == 3);
    CHECK(number_in(database, "SELECT version FROM tollgate_schema WHERE component = 'others'") == 1);
    CHECK(number_in(database, "PRAGMA user_version") == 42);
}

TEST_CASE("processes that open one new file at once migrate it once") {
    for (int round = 0; round < 3; ++round) {
        temporary_directory directory;
        const auto path = directory.file("test.db");
        const auto codes = run_processes(6, [&](number_pipe& start, int) {
            start.take();
            auto database = sqlite::database::open(path, {.busy_wait_max = seconds{60}});
            if (!database) return 1;
            return sqlite::migrate(*database, "things", steps) ? 0 : 2;
        });
        CHECK(codes == std::vector<int>(6, 0));
        auto database = *sqlite::database::open(path);
        CHECK(number_in(database, "SELECT count(*) FROM things") == 1);
        CHECK(number_in(database, "SELECT version FROM tollgate_schema") == 3);
    }
}

TEST_CASE("threads that open one new file at once migrate it once") {
    for (int round = 0; round < 3; ++round) {
        temporary_directory directory;
        const auto path = directory.file("test.db");
        std::atomic<int> ready{0}, done{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 6; ++i)
            threads.emplace_back([&] {
                ++ready;
                while (ready < 6) std::this_thread::yield();
                auto database = sqlite::database::open(path, {.busy_wait_max = seconds{60}});
                if (database && sqlite::migrate(*database, "things", steps)) ++done;
            });
        for (auto& each : threads) each.join();
        CHECK(done == 6);
        auto database = *sqlite::database::open(path);
        CHECK(number_in(database, "SELECT count(*) FROM things") == 1);
    }
}

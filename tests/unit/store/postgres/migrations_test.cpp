#include <tollgate/store/postgres_database.hpp>

#include <support/child_process.hpp>
#include <support/postgres_server.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

using namespace tollgate;
using postgres::schema_step;
using tollgate_test::number_pipe;
using tollgate_test::run_processes;
using tollgate_test::postgres_server;

namespace {

constexpr std::array steps{
    schema_step{"CREATE TABLE things (id bigint PRIMARY KEY); INSERT INTO things VALUES (1);"},
    schema_step{"ALTER TABLE things ADD COLUMN name text; INSERT INTO things VALUES (2, 'two');"},
    schema_step{"ALTER TABLE things DROP COLUMN name", true},
    schema_step{"INSERT INTO things VALUES (4)"},
};

std::span<const schema_step> first(std::size_t count) { return std::span{steps}.first(count); }

postgres_database open_pool(const std::string& to) {
    auto opened = postgres_database::open(to);
    INFO((opened ? "" : opened.error().cause));
    REQUIRE(opened);
    return *std::move(opened);
}

std::int64_t number(postgres_database& on, postgres::statement_text text) {
    auto found = on.query(text);
    INFO((found ? "" : found.error().cause));
    REQUIRE(found);
    return std::get<0>(*found->only<std::int64_t>());
}

std::int64_t version(postgres_database& on) {
    return number(on, "SELECT coalesce(max(version), 0) FROM tollgate_schema WHERE component = 'things'");
}

}  // namespace

TEST_CASE("steps run once and in order") {
    auto& server = postgres_server::shared();
    auto pool = open_pool(server.new_schema());
    REQUIRE(pool.migrate("things", first(1)));
    CHECK(number(pool, "SELECT count(*) FROM things") == 1);
    REQUIRE(pool.migrate("things", first(1)));
    CHECK(version(pool) == 1);
    REQUIRE(pool.migrate("things", first(4)));
    CHECK(version(pool) == 4);
    CHECK(number(pool, "SELECT count(*) FROM things") == 3);
    // Components are independent of each other.
    constexpr std::array others{schema_step{"CREATE TABLE others (id bigint)"}};
    const auto done = pool.migrate("others", others);
    INFO((done ? "" : done.error().cause));
    REQUIRE(done);
    CHECK(number(pool, "SELECT count(*) FROM tollgate_schema") == 2);
    REQUIRE(pool.migrate("nothing", {}));
}

TEST_CASE("a failing step changes nothing and is reported") {
    auto& server = postgres_server::shared();
    auto pool = open_pool(server.new_schema());
    REQUIRE(pool.migrate("things", first(1)));
    constexpr std::array broken{steps[0], steps[1], schema_step{"CREATE TABLE more (id bigint); SELECT nonsense"}};
    const auto refused = pool.migrate("things", broken);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == error_kind::internal);
    CHECK_THAT(refused.error().cause, Catch::Contains("nonsense"));
    CHECK(version(pool) == 1);
    CHECK(number(pool, "SELECT count(*) FROM things") == 1);
    CHECK(number(pool, "SELECT count(to_regclass('more'))") == 0);
    REQUIRE(pool.migrate("things", first(2)));
}

TEST_CASE("a step that copies from or to the client fails") {
    auto pool = open_pool(postgres_server::shared().new_schema());
    REQUIRE(pool.migrate("things", first(1)));
    for (const char* const direction : {"FROM STDIN", "TO STDOUT"}) {
        const std::string script = std::string{"INSERT INTO things VALUES (3); COPY things "} + direction;
        const std::array copying{steps[0], schema_step{postgres::statement_text::composed(script)}};
        const auto refused = pool.migrate("things", copying);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == error_kind::internal);
        CHECK_THAT(refused.error().cause, Catch::Contains("COPY"));
        CHECK(version(pool) == 1);
        CHECK(number(pool, "SELECT count(*) FROM things") == 1);
    }
}

TEST_CASE("steps may take any time") {
    auto pool = open_pool(postgres_server::shared().new_schema());
    REQUIRE(pool.migrate("things", first(4), (milliseconds::max)()));
    CHECK(version(pool) == 4);
}

TEST_CASE("an older node continues beside newer tables, unless a step broke compatibility") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    auto old_node = open_pool(schema), newer_node = open_pool(schema);
    REQUIRE(old_node.migrate("things", first(1)));
    REQUIRE(newer_node.migrate("things", first(2)));
    CHECK(number(old_node, "SELECT count(*) FROM things") == 2);

    auto old_again = open_pool(schema);  // started again beside the newer one
    REQUIRE(old_again.migrate("things", first(1)));
    CHECK(version(old_again) == 2);
    CHECK(number(old_again, "SELECT count(*) FROM things") == 2);

    auto newest_node = open_pool(schema);
    REQUIRE(newest_node.migrate("things", first(4)));
    for (const std::size_t known : {1U, 2U}) {
        auto late = open_pool(schema);
        const auto refused = late.migrate("things", first(known));
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == error_kind::internal);
        CHECK_THAT(refused.error().cause, Catch::Contains("made by a later release"));
    }
    auto late = open_pool(schema);
    CHECK(late.migrate("things", first(3)));
    // Running nodes keep their connections and get no new ones.
    const auto another = old_node.open_another();
    REQUIRE_FALSE(another);
    CHECK_THAT(another.error().cause, Catch::Contains("later release"));
    CHECK(newest_node.open_another());
}

TEST_CASE("only one of the nodes that start at once migrates, as processes or threads") {
    auto& server = postgres_server::shared();
    constexpr std::array counting{
        schema_step{"CREATE TABLE runs (id bigint GENERATED ALWAYS AS IDENTITY); SELECT pg_sleep(0.2)"},
        schema_step{"INSERT INTO runs DEFAULT VALUES"},
    };
    for (int round = 0; round < 2; ++round) {
        const auto schema = server.new_schema();
        const auto codes = run_processes(6, [&](number_pipe& start, int) {
            start.take();
            auto pool = postgres_database::open(schema);
            if (!pool) return 1;
            return pool->migrate("things", counting) ? 0 : 2;
        });
        CHECK(codes == std::vector<int>(6, 0));
        auto pool = open_pool(schema);
        CHECK(number(pool, "SELECT count(*) FROM runs") == 1);

        std::atomic<int> done{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                if (pool.migrate("things", counting)) ++done;
            });
        for (auto& each : threads) each.join();
        CHECK(done == 4);
        CHECK(number(pool, "SELECT count(*) FROM runs") == 1);
    }
}

TEST_CASE("without pending steps no right to create tables is needed") {
    auto& server = postgres_server::shared();
    const auto target = server.new_schema();
    auto pool = open_pool(target);
    REQUIRE(pool.migrate("things", first(1)));
    const auto schema = target.substr(target.find("test_"));
    const auto role = "clerk_of_" + server.database();
    server.run("CREATE ROLE " + role + " LOGIN; GRANT USAGE ON SCHEMA " + schema + " TO " + role +
               "; GRANT SELECT ON ALL TABLES IN SCHEMA " + schema + " TO " + role);
    auto clerk = open_pool(target + " user=" + role);
    CHECK(clerk.migrate("things", first(1)));
    const auto refused = clerk.migrate("things", first(2));
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().cause, Catch::Contains("42501"));  // insufficient_privilege
    CHECK(refused.error().kind == error_kind::unavailable);  // as with a file that SQLite may not write
    server.run("DROP OWNED BY " + role + "; DROP ROLE " + role);
}

TEST_CASE("waiting for a locked table is bounded by the time of a request") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    auto pool = open_pool(schema);
    REQUIRE(pool.migrate("things", first(1)));
    auto transaction = pool.begin();
    REQUIRE(transaction);
    auto batch = pool.make_batch();
    batch.add("BEGIN");
    batch.add("SELECT id FROM things");
    REQUIRE(transaction->run(batch));
    constexpr std::array impatient{steps[0],
                                   schema_step{"SET LOCAL lock_timeout = '200ms'; ALTER TABLE things ADD b int"}};
    const auto refused = pool.migrate("things", impatient);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == error_kind::unavailable);
    CHECK(version(pool) == 1);
}

#include <tollgate/store/sqlite_database.hpp>

#include <support/eventually.hpp>
#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

using namespace tollgate;
using tollgate_test::eventually;
using tollgate_test::temporary_directory;

namespace {

sqlite_database open_pool(const temporary_directory& in, std::size_t readers_max, milliseconds busy_wait_max = seconds{60}) {
    auto opened = sqlite_database::open(in.file("test.db"), {.readers_max = readers_max, .busy_wait_max = busy_wait_max});
    REQUIRE(opened);
    return *std::move(opened);
}

}  // namespace

TEST_CASE("a pool is bounded in readers and in waiting time") {
    temporary_directory directory;
    auto pool = open_pool(directory, 2, milliseconds{5});
    auto first = pool.reader();
    auto second = pool.reader();
    REQUIRE(first);
    REQUIRE(second);
    CHECK(&**first != &**second);
    const auto third = pool.reader();
    REQUIRE_FALSE(third);
    CHECK(third.error().kind == error_kind::unavailable);
    CHECK_THAT(third.error().cause, Catch::Contains("no connection came free within 5 ms; there are 2"));
    {
        const auto returned = *std::move(first);
    }
    CHECK(pool.reader());
}

TEST_CASE("a pool lends one writer at a time") {
    temporary_directory directory;
    auto pool = open_pool(directory, 1, milliseconds{5});
    {
        auto writer = pool.writer();
        REQUIRE(writer);
        CHECK_FALSE(pool.writer());
        CHECK(pool.reader());
    }
    CHECK(pool.writer());
}

TEST_CASE("a pool lends the most recently used connection") {
    temporary_directory directory;
    auto pool = open_pool(directory, 4);
    const sqlite::database* used = &**pool.reader();
    for (int i = 0; i < 3; ++i) CHECK(&**pool.reader() == used);
}

TEST_CASE("reading the schema status neither changes nor creates a file") {
    temporary_directory directory;
    static constexpr sqlite::statement_text steps[] = {"CREATE TABLE a (b); CREATE TABLE c (d)", "CREATE TABLE e (f)"};
    const std::span<const sqlite::statement_text> all{steps};
    const auto file = directory.file("test.db");
    const auto status = [&](std::span<const sqlite::statement_text> known) {
        auto read = sqlite_database::check_schema(file, "shop", known);
        REQUIRE(read);
        return std::vector<std::int64_t>{read->version, read->newest, static_cast<std::int64_t>(read->pending_statements)};
    };
    CHECK(status(all) == std::vector<std::int64_t>{0, 2, 3});
    CHECK_FALSE(std::filesystem::exists(file));
    std::ofstream{file};
    CHECK(status(all) == std::vector<std::int64_t>{0, 2, 3});
    CHECK(std::filesystem::file_size(file) == 0);
    auto pool = open_pool(directory, 1);
    CHECK(status(all) == std::vector<std::int64_t>{0, 2, 3});
    REQUIRE(pool.migrate("shop", all.first(1)));
    CHECK(status(all) == std::vector<std::int64_t>{1, 2, 1});
    REQUIRE(pool.migrate("shop", all));
    CHECK(status(all) == std::vector<std::int64_t>{2, 2, 0});
    CHECK(status(all.first(1)) == std::vector<std::int64_t>{2, 1, 0});
    CHECK(sqlite_database::check_schema(file, "other", all)->version == 0);
    CHECK(sqlite_database::check_schema(directory.file(""), "shop", all).error().kind != error_kind::not_found);
}

TEST_CASE("readers cannot write") {
    temporary_directory directory;
    auto pool = open_pool(directory, 1);
    REQUIRE((*pool.writer())->run("CREATE TABLE t (a INTEGER) STRICT"));
    CHECK_FALSE((*pool.reader())->run("INSERT INTO t VALUES (1)"));
}

TEST_CASE("a pool without readers, or without a file, is refused") {
    temporary_directory directory;
    const auto none = sqlite_database::open(directory.file("test.db"), {.readers_max = 0});
    REQUIRE_FALSE(none);
    CHECK(none.error().kind == error_kind::invalid);
    CHECK_FALSE(sqlite_database::open(directory.file("missing/test.db")));
}

TEST_CASE("a pool can be moved, and its change stamp keeps its address") {
    temporary_directory directory;
    auto pool = open_pool(directory, 1);
    const sqlite::change_stamp* changes = &pool.changes();
    auto moved = std::move(pool);
    CHECK(&moved.changes() == changes);
    CHECK(moved.changes().read());
    CHECK(moved.reader());
}

TEST_CASE("threads share a pool: all get a connection, and no write is lost") {
    temporary_directory directory;
    auto pool = open_pool(directory, 2);
    REQUIRE((*pool.writer())->run("CREATE TABLE t (a INTEGER) STRICT"));
    constexpr std::int64_t threads = 6, rounds = 25;
    std::atomic<std::int64_t> failures{0};
    std::vector<std::thread> all;
    for (std::int64_t i = 0; i < threads; ++i)
        all.emplace_back([&] {
            for (std::int64_t round = 0; round < rounds; ++round) {
                auto writer = pool.writer();
                if (!writer || !(*writer)->run("INSERT INTO t VALUES (?)", round)) ++failures;
                auto reader = pool.reader();
                if (!reader || !(*reader)->prepare("SELECT count(*) FROM t").next<std::int64_t>()) ++failures;
            }
        });
    for (auto& each : all) each.join();
    CHECK(failures == 0);
    auto reader = pool.reader();
    CHECK(std::get<0>(**(*reader)->prepare("SELECT count(*) FROM t").next<std::int64_t>()) == threads * rounds);
}

TEST_CASE("a deadline that is never, or has passed, is one") {
    using time_point = std::chrono::steady_clock::time_point;
    temporary_directory directory;
    auto pool = open_pool(directory, 1, (milliseconds::max)());
    CHECK(pool.writer((time_point::max)()));
    CHECK(pool.reader((time_point::max)()));
    CHECK(pool.writer((time_point::min)()));
    const auto never = pool.deadline_from_now(), passed = pool.deadline_from_now((milliseconds::min)());
    CHECK(*never > std::chrono::steady_clock::now());
    CHECK(*passed <= std::chrono::steady_clock::now());
    CHECK(pool.migrate("things", {}, (milliseconds::max)()));

    std::atomic<bool> waits{false}, has_taken{false};
    std::thread later;
    {
        const auto taken = pool.writer();
        REQUIRE(taken);
        later = std::thread{[&] {
            waits = true;
            has_taken = pool.writer((time_point::max)()).has_value();
        }};
        while (!waits) std::this_thread::yield();
    }
    later.join();
    CHECK(has_taken);
}

TEST_CASE("calls with the same deadline wait that long in all") {
    temporary_directory directory;
    auto pool = open_pool(directory, 1, std::chrono::hours{1});
    REQUIRE((*pool.writer())->run("CREATE TABLE t (a INTEGER) STRICT"));
    const auto insert = [](sqlite::database& on) { return on.run("INSERT INTO t VALUES (1)"); };
    const auto over = pool.deadline_from_now(milliseconds{0});
    {
        auto other = *sqlite::database::open(directory.file("test.db"));
        auto change = sqlite::transaction::begin(other);
        REQUIRE(change);
        const auto refused = pool.transact(insert, over);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == error_kind::unavailable);
        CHECK_FALSE(pool.write(insert, over));
        const auto lent = pool.reader();
        CHECK_FALSE(pool.reader(over));
    }
    CHECK(pool.transact(insert, over));  // there is nothing to wait for
    const auto bounded = pool.deadline_from_now(std::chrono::hours{2});
    CHECK(*bounded <= std::chrono::steady_clock::now() + std::chrono::hours{1});  // its busy_wait_max
}

TEST_CASE("when its file or log was deleted or replaced, a database accepts no writes and returns nothing from the cache") {
    temporary_directory directory;
    const auto database = directory.file("test.db"), link = directory.file("link.db");
    std::filesystem::create_symlink(database, link);
    const auto* const suffix = GENERATE("", "-wal", "-shm");
    const bool is_linked = GENERATE(false, true);
    const bool is_replaced = GENERATE(false, true);
    CAPTURE(suffix, is_linked, is_replaced);
    const std::string path = database + suffix;
    static constexpr sqlite::statement_text steps[] = {"CREATE TABLE numbers (n INTEGER)"};
    const auto insert = [](sqlite::database& on) { return on.run("INSERT INTO numbers VALUES (1)"); };
    auto pool = *sqlite_database::open(is_linked ? link : database, {.readers_max = 1});
    REQUIRE(pool.migrate("test", steps));
    REQUIRE(pool.write(insert));
    REQUIRE(pool.changes().read());
    std::filesystem::rename(path, path + ".away");
    if (is_replaced) std::ofstream{path};

    const auto refused = pool.write(insert);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == error_kind::unavailable);
    CHECK_THAT(refused.error().cause, Catch::Contains("deleted or replaced") && Catch::Contains(is_linked ? link : database));
    CHECK_FALSE(pool.transact(insert));
    CHECK_FALSE(pool.changes().read());
    CHECK_FALSE(pool.statistics().is_up);
    CHECK(std::filesystem::exists(path) == is_replaced);  // no empty file was created in its place

    std::filesystem::rename(path + ".away", path);
    CHECK(pool.write(insert));
    CHECK(pool.changes().read());
}

TEST_CASE("when its file was emptied, a database accepts no writes and returns nothing from the cache") {
    temporary_directory directory;
    auto pool = open_pool(directory, 1);
    static constexpr sqlite::statement_text steps[] = {"CREATE TABLE numbers (n INTEGER)"};
    const auto insert = [](sqlite::database& on) { return on.run("INSERT INTO numbers VALUES (1)"); };
    REQUIRE(pool.migrate("test", steps));
    REQUIRE(pool.write(insert));
    std::filesystem::resize_file(directory.file("test.db"), 0);
    const auto refused = pool.write(insert);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == error_kind::unavailable);
    CHECK_FALSE(pool.changes().read());
}

TEST_CASE("after its file was deleted, a database that is not queried soon returns nothing from the cache") {
    temporary_directory directory;
    auto pool = open_pool(directory, 1);
    sqlite_row_cache<user_id, int> rows{pool.changes(), 10};
    const auto query = [&]() -> result<std::optional<int>> {
        if (auto on = pool.reader(); !on) return std::move(on).error();
        return 7;
    };
    REQUIRE(rows.find(user_id{1}, query));
    std::filesystem::remove(directory.file("test.db"));
    CHECK(eventually([&] { return !rows.find(user_id{1}, query); }));
}

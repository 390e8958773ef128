#include <tollgate/store/sqlite_database.hpp>

#include <tollgate/store/sqlite_database.hpp>

#include <support/child_process.hpp>
#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sys/mman.h>

using namespace tollgate;
using tollgate_test::child_process;
using tollgate_test::number_pipe;
using tollgate_test::temporary_directory;

namespace {

using query_result = result<std::optional<std::int64_t>>;
using cache = sqlite_row_cache<user_id, std::int64_t>;

/// A table of numbers, read through a cache.
struct fixture {
    temporary_directory directory;
    std::string path = directory.file("test.db");
    sqlite_database pool = opened(path);
    cache numbers{pool.changes(), 64};
    int queries = 0;

    static sqlite_database opened(const std::string& at) {
        auto opened = sqlite_database::open(at);
        REQUIRE(opened);
        REQUIRE((*opened->writer())->run("CREATE TABLE IF NOT EXISTS t (user INTEGER PRIMARY KEY, number INTEGER) STRICT"));
        return *std::move(opened);
    }

    static query_result query(sqlite_database& from, user_id user) {
        auto connection = from.reader();
        if (!connection) return std::move(connection).error();
        auto row = (*connection)->prepare("SELECT number FROM t WHERE user = ?", user).next<std::int64_t>();
        if (!row) return std::move(row).error();
        if (!*row) return std::optional<std::int64_t>{};
        return std::optional{std::get<0>(**row)};
    }

    std::optional<std::int64_t> find(std::int64_t user) {
        auto found = numbers.find(user_id{user}, [&] {
            ++queries;
            return query(pool, user_id{user});
        });
        REQUIRE(found);
        return *found;
    }
    void put(std::int64_t user, std::int64_t number) {
        REQUIRE((*pool.writer())->run("REPLACE INTO t VALUES (?, ?)", user, number));
    }
};

}  // namespace

TEST_CASE_METHOD(fixture, "a row is queried once, until any connection commits") {
    put(1, 10);
    CHECK(find(1) == 10);
    CHECK(find(1) == 10);
    CHECK(queries == 1);
    put(1, 11);
    CHECK(find(1) == 11);
    CHECK(find(1) == 11);
    CHECK(queries == 2);
    put(2, 20);  // another row: the cache cannot distinguish it
    CHECK(find(1) == 11);
    CHECK(queries == 3);
}

TEST_CASE_METHOD(fixture, "a missing row is also cached, until it is inserted") {
    CHECK_FALSE(find(1));
    CHECK_FALSE(find(1));
    CHECK(queries == 1);
    put(1, 10);
    CHECK(find(1) == 10);
    CHECK(queries == 2);
}

TEST_CASE_METHOD(fixture, "a commit of an unrelated connection is seen by the next call") {
    auto other = *sqlite::database::open(path);
    for (std::int64_t i = 0; i < 20; ++i) {
        REQUIRE(other.run("REPLACE INTO t VALUES (1, ?)", i));
        CHECK(find(1) == i);
        CHECK(find(1) == i);
        if (i % 5 == 0) REQUIRE(other.prepare("PRAGMA wal_checkpoint(TRUNCATE)").finish());
        CHECK(find(1) == i);
    }
}

TEST_CASE_METHOD(fixture, "a result that is older than a concurrent commit is returned once and not cached") {
    put(1, 10);
    const auto overtaken = numbers.find(user_id{1}, [&] {
        auto read = query(pool, user_id{1});
        put(1, 11);  // between the query and the insertion into the cache
        return read;
    });
    REQUIRE(overtaken);
    CHECK(*overtaken == 10);
    CHECK(find(1) == 11);
    CHECK(queries == 1);
}

TEST_CASE_METHOD(fixture, "an error is not cached") {
    const auto failed = numbers.find(user_id{1}, []() -> query_result { return unavailable("busy"); });
    CHECK_FALSE(failed);
    CHECK_FALSE(find(1));
    CHECK(queries == 1);
}

TEST_CASE_METHOD(fixture, "missing keys evict no existing row") {
    put(1, 10);
    CHECK(find(1) == 10);
    for (std::int64_t made_up = 1000; made_up < 21'000; ++made_up)
        CHECK_FALSE(*numbers.find(user_id{made_up}, [] { return query_result{std::optional<std::int64_t>{}}; }));
    queries = 0;
    CHECK(find(1) == 10);
    CHECK(queries == 0);
}

TEST_CASE_METHOD(fixture, "a full cache evicts rows, stays correct, and keeps as many rows as fit") {
    constexpr std::int64_t users = 1000;
    const auto fill = [&](cache& in, std::int64_t count) {
        int queried = 0;
        for (std::int64_t user = 1; user <= count; ++user) {
            const auto found = in.find(user_id{user}, [&]() -> query_result {
                ++queried;
                return std::optional{user * 3};
            });
            REQUIRE(found);
            REQUIRE(*found == user * 3);
        }
        return queried;
    };
    cache small{pool.changes(), 64};
    CHECK(fill(small, users) == users);
    CHECK(fill(small, users) > users - 100);
    cache large{pool.changes(), 16 * 1024};
    CHECK(fill(large, users) == users);
    CHECK(fill(large, users) < 50);  // more than three rows may share one set
    cache none{pool.changes(), 0};
    CHECK(fill(none, 10) == 10);
    CHECK(fill(none, 10) == 10);
    cache one{pool.changes(), 1};
    CHECK(fill(one, 1) == 1);
    CHECK(fill(one, 1) == 0);
    CHECK(fill(one, 100) > 90);
}

TEST_CASE_METHOD(fixture, "keys with the same hash are distinguished") {
    sqlite_row_cache<digest, std::int64_t> tokens{pool.changes(), 64};
    const auto look_up = [&](std::uint8_t last_byte) {
        std::array<std::uint8_t, digest::size_bytes> bytes{};
        bytes.back() = last_byte;  // a digest's hash is its first bytes
        return *tokens.find(digest::from_bytes(bytes), [&] { return query_result{std::optional<std::int64_t>{last_byte}}; });
    };
    for (const std::uint8_t each : std::array<std::uint8_t, 5>{1, 2, 1, 3, 2}) CHECK(look_up(each) == each);
}

TEST_CASE_METHOD(fixture, "for random sequences of operations, the cache equals the table") {
    std::mt19937 random{Catch::rngSeed()};
    const auto below = [&](unsigned bound) { return static_cast<std::int64_t>(random() % bound); };
    auto other = *sqlite::database::open(path);
    std::map<std::int64_t, std::int64_t> truth;
    for (int step = 0; step < 3000; ++step) {
        const std::int64_t user = 1 + below(80);
        switch (below(12)) {
            case 0:
                put(user, step);
                truth[user] = step;
                break;
            case 1:
                REQUIRE(other.run("REPLACE INTO t VALUES (?, ?)", user, std::int64_t{step}));
                truth[user] = step;
                break;
            case 2:
                REQUIRE(other.run("DELETE FROM t WHERE user = ?", user));
                truth.erase(user);
                break;
            case 3: {
                auto change = sqlite::transaction::begin(other);
                REQUIRE(change);
                REQUIRE(other.run("REPLACE INTO t VALUES (?, -1)", user));
                break;  // rolled back
            }
            case 4: REQUIRE(other.prepare("PRAGMA wal_checkpoint(PASSIVE)").finish()); break;
            case 5:
                if (step % 5 == 0) REQUIRE(other.prepare("PRAGMA wal_checkpoint(TRUNCATE)").finish());
                break;
            case 6:
                if (step % 10 == 0) other = *sqlite::database::open(path);
                break;
            default: break;
        }
        const auto known = truth.find(user);
        const auto expected = known == truth.end() ? std::nullopt : std::optional{known->second};
        REQUIRE(find(user) == expected);
    }
    CHECK(queries < 3000);
}

TEST_CASE_METHOD(fixture, "a thread reads at least what was committed before its query") {
    put(1, 0);
    constexpr std::int64_t commits = 300;
    std::atomic<std::int64_t> committed{0};
    std::atomic<int> failures{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i)
        readers.emplace_back([&] {
            while (committed < commits) {
                const std::int64_t at_least = committed;
                const auto found = numbers.find(user_id{1}, [&] { return query(pool, user_id{1}); });
                if (!found || !*found || **found < at_least) ++failures;
            }
        });
    for (std::int64_t i = 1; i <= commits; ++i) {
        put(1, i);
        committed = i;
    }
    for (auto& each : readers) each.join();
    CHECK(failures == 0);
}

TEST_CASE("a process reads at least what another one committed before its query") {
    // Memory that both processes share: the last committed number, set right after the commit.
    void* block = ::mmap(nullptr, sizeof(std::atomic<std::int64_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(block != MAP_FAILED);
    auto& committed = *new (block) std::atomic<std::int64_t>{0};
    constexpr std::int64_t commits = 2000;

    temporary_directory directory;
    const auto path = directory.file("test.db");
    number_pipe ready;
    child_process writer{[&] {
        auto pool = fixture::opened(path);
        auto connection = pool.writer();
        if (!connection || !(*connection)->run("REPLACE INTO t VALUES (1, 0)")) return 1;
        ready.put(0);
        for (std::int64_t i = 1; i <= commits; ++i) {
            if (!(*connection)->run("REPLACE INTO t VALUES (1, ?)", i)) {
                committed = commits;  // the parent continues
                return 2;
            }
            committed = i;
        }
        return 0;
    }};
    ready.close_writing();
    REQUIRE(ready.take() == 0);
    auto pool = fixture::opened(path);
    cache numbers{pool.changes(), 64};
    std::int64_t late = 0, calls = 0;
    while (committed < commits) {
        const std::int64_t at_least = committed;
        const auto found = numbers.find(user_id{1}, [&] { return fixture::query(pool, user_id{1}); });
        if (!found || !*found || **found < at_least) ++late;
        ++calls;
    }
    CHECK(writer.wait() == 0);
    CHECK(late == 0);
    CHECK(calls > 0);
    ::munmap(block, sizeof committed);
}

#include <tollgate/store/detail/sqlite/change_stamp.hpp>

#include <support/child_process.hpp>
#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

using namespace tollgate;
using tollgate_test::child_process;
using tollgate_test::number_pipe;
using tollgate_test::temporary_directory;

namespace {

struct fixture {
    temporary_directory directory;
    std::string path = directory.file("test.db");
    sqlite::database database = prepared(path);
    sqlite::change_stamp changes = *sqlite::change_stamp::watch(*sqlite::database::open(path));

    static sqlite::database prepared(const std::string& at) {
        auto opened = *sqlite::database::open(at);
        REQUIRE(opened.run("CREATE TABLE t (a INTEGER) STRICT"));
        return opened;
    }
};

}  // namespace

TEST_CASE_METHOD(fixture, "a stamp is constant between commits and changes with every commit") {
    const auto first = changes.read();
    REQUIRE(first);
    CHECK(changes.read() == first);
    REQUIRE(database.prepare("SELECT count(*) FROM t").finish());
    CHECK(changes.read() == first);

    REQUIRE(database.run("INSERT INTO t VALUES (1)"));
    const auto second = changes.read();
    REQUIRE(second);
    CHECK(second != first);
    {
        auto change = sqlite::transaction::begin(database);
        REQUIRE(change);
        REQUIRE(database.run("INSERT INTO t VALUES (2)"));
        CHECK(changes.read() == second);  // not committed yet
    }
    CHECK(changes.read() == second);  // rolled back
    REQUIRE(database.run("DELETE FROM t"));
    CHECK(changes.read() != second);
}

TEST_CASE_METHOD(fixture, "different contents have different stamps, also across checkpoints of the log") {
    std::set<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>> seen;
    auto last = changes.read();
    for (std::int64_t round = 0; round < 200; ++round) {
        REQUIRE(database.run("DELETE FROM t"));
        REQUIRE(database.run("INSERT INTO t VALUES (?)", round % 3));  // the same contents each time
        const auto mark = changes.read();
        REQUIRE(mark);
        CHECK(mark != last);
        CHECK(seen.insert({mark->counter, mark->log_end, mark->checksum, mark->salts}).second);
        last = mark;
        switch (round % 4) {
            case 0: REQUIRE(database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").finish()); break;
            case 1: REQUIRE(database.prepare("PRAGMA wal_checkpoint(RESTART)").finish()); break;
            case 2: REQUIRE(database.prepare("PRAGMA wal_checkpoint(PASSIVE)").finish()); break;
            default: break;
        }
    }
}

TEST_CASE_METHOD(fixture, "there are stamps while the file is in place") {
    sqlite::opened_file file{path};
    changes.set_file(file);
    CHECK(changes.read());
    std::filesystem::rename(path, path + ".away");
    CHECK_FALSE(file.is_in_place());
    CHECK_FALSE(changes.read());
    std::filesystem::rename(path + ".away", path);
    CHECK(file.is_in_place());
    CHECK(changes.read());
}

TEST_CASE("a new database has a stamp from the start, and so has one whose log was removed") {
    temporary_directory directory;
    const auto path = directory.file("test.db");
    for (int round = 0; round < 2; ++round) {
        const auto changes = sqlite::change_stamp::watch(*sqlite::database::open(path));
        REQUIRE(changes);
        CHECK(changes->read());
    }
}

TEST_CASE("watching through a read-only connection changes nothing, and has stamps after the first commit") {
    temporary_directory directory;
    const auto path = directory.file("test.db");
    { auto closed = fixture::prepared(path); }
    const auto changes = sqlite::change_stamp::watch(*sqlite::database::open(path, {.read_only = true}));
    REQUIRE(changes);
    CHECK_FALSE(changes->read());
    auto database = *sqlite::database::open(path);
    REQUIRE(database.run("INSERT INTO t VALUES (1)"));
    CHECK(changes->read());
}

TEST_CASE_METHOD(fixture, "watching does not change the file's user_version") {
    REQUIRE(database.run_script("PRAGMA user_version = 42"));
    const auto again = sqlite::change_stamp::watch(*sqlite::database::open(path));
    auto version = database.prepare("PRAGMA user_version").next<std::int64_t>();
    REQUIRE(version);
    CHECK(std::get<0>(**version) == 42);
}

TEST_CASE_METHOD(fixture, "a stamp can be moved") {
    const auto before = changes.read();
    const auto moved = std::move(changes);
    CHECK(moved.read() == before);
}

TEST_CASE_METHOD(fixture, "after a process died while it published a commit, there is no stamp until SQLite has repaired the log") {
    REQUIRE(database.run("INSERT INTO t VALUES (1)"));
    const auto before = changes.read();
    REQUIRE(before);
    // In another process, because closing the file here would drop SQLite's locks.
    child_process dying{[&] {
        const int index = ::open((path + "-shm").c_str(), O_RDWR);
        const std::uint32_t next_counter = 12345;
        constexpr off_t second_copy_counter = 48 + 8;
        return ::pwrite(index, &next_counter, sizeof next_counter, second_copy_counter) == sizeof next_counter ? 0 : 1;
    }};
    REQUIRE(dying.wait() == 0);
    CHECK_FALSE(changes.read());
    auto count = database.prepare("SELECT count(*) FROM t").next<std::int64_t>();
    REQUIRE(count);
    CHECK(std::get<0>(**count) == 1);
    CHECK(changes.read());
}

TEST_CASE("a commit of another process is seen at once") {
    temporary_directory directory;
    const auto path = directory.file("test.db");
    number_pipe requests, responses;
    child_process other{[&] {
        // Close the ends whose copies would keep the parent waiting.
        requests.close_writing();
        responses.close_reading();
        auto database = fixture::prepared(path);
        responses.put(0);
        while (const auto number = requests.take()) {
            if (!database.run("INSERT INTO t VALUES (?)", *number)) return 1;
            if (*number % 10 == 0 && !database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").finish()) return 2;
            responses.put(*number);
        }
        return 0;
    }};
    requests.close_reading();
    responses.close_writing();
    REQUIRE(responses.take() == 0);
    const auto changes = sqlite::change_stamp::watch(*sqlite::database::open(path));
    REQUIRE(changes);
    for (std::int64_t number = 1; number <= 50; ++number) {
        const auto before = changes->read();
        REQUIRE(before);
        REQUIRE(requests.put(number));
        REQUIRE(responses.take() == number);
        CHECK(changes->read() != before);
    }
    requests.close_writing();
    CHECK(other.wait() == 0);
}

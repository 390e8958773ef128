#include <tollgate/store/detail/sqlite/database.hpp>

#include <support/faulty_vfs.hpp>
#include <support/sqlite_file.hpp>
#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <fstream>
#include <string>
#include <thread>

#include <sys/stat.h>

using namespace tollgate;
using tollgate_test::faulty_vfs;
using tollgate_test::number_in;
using tollgate_test::temporary_directory;

namespace {

unsigned mode_of(const std::string& path) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 ? found.st_mode & 0777U : 0U;
}

}  // namespace

TEST_CASE("a new database and its log are accessible to the owner only, whatever the umask") {
    temporary_directory directory;
    const auto path = directory.file("new.db");
    const auto before = ::umask(0);
    auto database = sqlite::database::open(path);
    const bool written = database && database->run("CREATE TABLE t (a INTEGER) STRICT");
    ::umask(before);
    REQUIRE(written);
    CHECK(mode_of(path) == 0600);
    CHECK(mode_of(path + "-wal") == 0600);
    CHECK(mode_of(path + "-shm") == 0600);
}

TEST_CASE("the mode of an existing file is not changed") {
    temporary_directory directory;
    const auto path = directory.file("shared.db");
    std::ofstream{path}.flush();
    REQUIRE(::chmod(path.c_str(), 0640) == 0);
    REQUIRE(sqlite::database::open(path));
    CHECK(mode_of(path) == 0640);
}

TEST_CASE("a database has a write-ahead log, full synchronisation and foreign keys") {
    temporary_directory directory;
    auto database = *sqlite::database::open(directory.file("test.db"));
    auto mode = database.prepare("PRAGMA journal_mode").next<std::string>();
    REQUIRE(mode);
    CHECK(std::get<0>(**mode) == "wal");
    CHECK(number_in(database, "PRAGMA synchronous") == 2);
    CHECK(number_in(database, "PRAGMA foreign_keys") == 1);
    CHECK(number_in(database, "PRAGMA trusted_schema") == 0);
    CHECK_FALSE(database.run("SELECT \"no such column\""));

    REQUIRE(database.run_script("CREATE TABLE parent (id INTEGER PRIMARY KEY) STRICT;"
                                "CREATE TABLE child (of INTEGER REFERENCES parent (id)) STRICT;"));
    const auto orphan = database.run("INSERT INTO child VALUES (1)");
    REQUIRE_FALSE(orphan);
    CHECK(orphan.error().kind == error_kind::conflict);
}

TEST_CASE("a file that is not a database is reported") {
    temporary_directory directory;
    std::ofstream{directory.file("garbage.db")} << std::string(5000, 'x');
    struct row {
        std::string path;
        error_kind kind;
        const char* message;
    };
    for (const row& each : {row{directory.file("garbage.db"), error_kind::internal, "file is not a database"},
                            row{directory.file("missing/x.db"), error_kind::unavailable, "No such file or directory"},
                            row{directory.path(), error_kind::unavailable, "unable to open database file"}}) {
        CAPTURE(each.path);
        const auto opened = sqlite::database::open(each.path);
        REQUIRE_FALSE(opened);
        CHECK(opened.error().kind == each.kind);
        CHECK_THAT(opened.error().cause, Catch::Contains(each.message) && Catch::Contains(each.path));
    }
    for (const std::string& each : {std::string{}, std::string{":memory:"}, std::string{"file:x.db?mode=memory"}, std::string{"a\0b", 3}}) {
        CAPTURE(each);
        const auto opened = sqlite::database::open(each);
        REQUIRE_FALSE(opened);
        CHECK(opened.error().kind == error_kind::invalid);
    }
}

TEST_CASE("a file system without shared memory is refused, because the log needs it") {
    temporary_directory directory;
    faulty_vfs vfs{false};
    const auto opened = sqlite::database::open(directory.file("test.db"), {.vfs = vfs.name()});
    REQUIRE_FALSE(opened);
    CHECK(opened.error().kind == error_kind::unavailable);
    CHECK_THAT(opened.error().cause, Catch::Contains("a write-ahead log is not possible"));
}

TEST_CASE("a read-only database can be read and not changed") {
    temporary_directory directory;
    const auto path = directory.file("test.db");
    CHECK_FALSE(sqlite::database::open(path, {.read_only = true}));
    auto writing = *sqlite::database::open(path);
    REQUIRE(writing.run("CREATE TABLE t (a INTEGER) STRICT"));
    auto reading = *sqlite::database::open(path, {.read_only = true});
    CHECK(number_in(reading, "SELECT count(*) FROM t") == 0);
    const auto refused = reading.run("INSERT INTO t VALUES (1)");
    REQUIRE_FALSE(refused);
    REQUIRE(writing.run("INSERT INTO t VALUES (1)"));
    CHECK(number_in(reading, "SELECT count(*) FROM t") == 1);
}

TEST_CASE("a statement is prepared once, and twice if it is in use") {
    temporary_directory directory;
    auto database = *sqlite::database::open(directory.file("test.db"));
    const auto prepared_count = [&] {
        int count = 0;
        for (sqlite3_stmt* each = nullptr; (each = sqlite3_next_stmt(database.handle(), each)) != nullptr;) ++count;
        return count;
    };
    const int before = prepared_count();
    for (std::int64_t i = 0; i < 10; ++i) {
        auto row = database.prepare("SELECT ? + 1", i).next<std::int64_t>();
        REQUIRE(row);
        CHECK(std::get<0>(**row) == i + 1);
    }
    CHECK(prepared_count() == before + 1);
    {
        auto outer = database.prepare("SELECT ? + 1", std::int64_t{1});
        auto inner = database.prepare("SELECT ? + 1", std::int64_t{10});
        CHECK(std::get<0>(**outer.next<std::int64_t>()) == 2);
        CHECK(std::get<0>(**inner.next<std::int64_t>()) == 11);
    }
    CHECK(prepared_count() == before + 2);
    // The bindings of the last use are cleared.
    CHECK(std::get<0>(**database.prepare("SELECT ? + 1").next<std::optional<std::int64_t>>()) == std::nullopt);

    auto moved = std::move(database);
    CHECK(std::get<0>(**moved.prepare("SELECT ? + 1", std::int64_t{5}).next<std::int64_t>()) == 6);
}

TEST_CASE("a transaction is all or nothing") {
    temporary_directory directory;
    auto database = *sqlite::database::open(directory.file("test.db"));
    REQUIRE(database.run("CREATE TABLE t (a INTEGER UNIQUE) STRICT"));
    {
        auto change = sqlite::transaction::begin(database);
        REQUIRE(change);
        REQUIRE(database.run("INSERT INTO t VALUES (1)"));
        REQUIRE(database.run("INSERT INTO t VALUES (2)"));
        CHECK_FALSE(database.run("INSERT INTO t VALUES (1)"));
    }
    CHECK(number_in(database, "SELECT count(*) FROM t") == 0);
    {
        auto change = sqlite::transaction::begin(database);
        REQUIRE(change);
        REQUIRE(database.run("INSERT INTO t VALUES (1)"));
        CHECK(database.changes() == 1);
        REQUIRE(database.run("INSERT INTO t VALUES (2)"));
        CHECK(database.last_insert_id() == 2);
        REQUIRE(change->commit());
    }
    CHECK(number_in(database, "SELECT count(*) FROM t") == 2);
}

TEST_CASE("waiting for another writer too long is an error, and a retry may succeed") {
    temporary_directory directory;
    const auto path = directory.file("test.db");
    auto first = *sqlite::database::open(path);
    auto second = *sqlite::database::open(path, {.busy_wait_max = milliseconds{20}});
    REQUIRE(first.run("CREATE TABLE t (a INTEGER) STRICT"));
    auto change = sqlite::transaction::begin(first);
    REQUIRE(change);
    REQUIRE(first.run("INSERT INTO t VALUES (1)"));

    const auto refused = second.run("INSERT INTO t VALUES (2)");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == error_kind::unavailable);
    CHECK_FALSE(sqlite::transaction::begin(second));
    CHECK(number_in(second, "SELECT count(*) FROM t") == 0);  // readers do not wait

    REQUIRE(change->commit());
    REQUIRE(second.run("INSERT INTO t VALUES (2)"));
    CHECK(number_in(first, "SELECT count(*) FROM t") == 2);
}

TEST_CASE("a waiting writer continues as soon as the other one is done") {
    temporary_directory directory;
    const auto path = directory.file("test.db");
    auto first = *sqlite::database::open(path);
    REQUIRE(first.run("CREATE TABLE t (a INTEGER) STRICT"));
    auto change = sqlite::transaction::begin(first);
    REQUIRE(change);
    bool done = false;
    std::thread waiting{[&] {
        auto second = sqlite::database::open(path, {.busy_wait_max = seconds{60}});
        done = second && second->run("INSERT INTO t VALUES (2)");
    }};
    REQUIRE(first.run("INSERT INTO t VALUES (1)"));
    REQUIRE(change->commit());
    waiting.join();
    CHECK(done);
    CHECK(number_in(first, "SELECT count(*) FROM t") == 2);
}

TEST_CASE("a full disk is a temporary error and leaves nothing half done") {
    temporary_directory directory;
    faulty_vfs vfs;
    auto database = *sqlite::database::open(directory.file("test.db"), {.vfs = vfs.name()});
    REQUIRE(database.run("CREATE TABLE t (a INTEGER) STRICT"));
    vfs.fail_after(0, SQLITE_FULL);
    const auto refused = database.run("INSERT INTO t VALUES (1)");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == error_kind::unavailable);
    CHECK_THAT(refused.error().cause, Catch::Contains("database or disk is full"));
    {
        auto change = sqlite::transaction::begin(database);
        REQUIRE(change);
        REQUIRE(database.run("INSERT INTO t VALUES (2)"));
        CHECK_FALSE(change->commit());
    }
    CHECK(number_in(database, "SELECT count(*) FROM t") == 0);
    vfs.heal();
    REQUIRE(database.run("INSERT INTO t VALUES (3)"));
    CHECK(number_in(database, "SELECT a FROM t") == 3);
}

#include <tollgate/store/sqlite_database.hpp>

#include <support/child_process.hpp>
#include <support/faulty_vfs.hpp>
#include <support/sqlite_file.hpp>
#include <support/temporary_directory.hpp>
#include <tollgate/store/detail/sqlite/database.hpp>
#include <tollgate/store/sqlite.hpp>
#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <catch2/catch.hpp>
#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>

#include <unistd.h>

using namespace tollgate;
using namespace tollgate::testing;
using namespace tollgate::testing::detail;
using tollgate_test::child_process;
using tollgate_test::create_sqlite_file;
using tollgate_test::faulty_vfs;
using tollgate_test::number_pipe;
using tollgate_test::temporary_directory;

namespace {

/// A connection of an integrator, with SQLite's defaults.
class own_connection {
public:
    explicit own_connection(const std::string& path, const char* vfs = nullptr) {
        sqlite3* opened = nullptr;
        REQUIRE(sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs) == SQLITE_OK);
        handle_.reset(opened);
        sqlite3_busy_timeout(opened, 5000);
    }

    int run(const char* sql) { return sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr); }
    std::int64_t sites() {
        sqlite3_stmt* counting = nullptr;
        REQUIRE(sqlite3_prepare_v2(handle_.get(), "SELECT count(*) FROM sites", -1, &counting, nullptr) == SQLITE_OK);
        REQUIRE(sqlite3_step(counting) == SQLITE_ROW);
        const std::int64_t count = sqlite3_column_int64(counting, 0);
        sqlite3_finalize(counting);
        return count;
    }
    sqlite3* get() { return handle_.get(); }

private:
    struct closer {
        void operator()(sqlite3* open) const { CHECK(sqlite3_close(open) == SQLITE_OK); }  // no statement is left open
    };
    std::unique_ptr<sqlite3, closer> handle_;
};

constexpr const char* make_sites = "CREATE TABLE sites (id INTEGER PRIMARY KEY, name TEXT)";
constexpr const char* add_site = "INSERT INTO sites (name) VALUES ('a site')";

}  // namespace

TEST_CASE("an event and the caller's row are committed together or not at all") {
    temporary_directory directory;
    const auto path = directory.file("tollgate.db");
    sqlite_store store{path};
    const auto account = sample_account();
    listen(store, account);
    listen_at(store, account, "https://other.example/");
    own_connection connection{path};
    REQUIRE(connection.run(make_sites) == SQLITE_OK);
    sqlite_own_transaction outbox{connection.get()};
    const auto append = [&] { return outbox.append_event(sample_event(account), sample_seed(1), noon); };

    expect_error(append(), error_kind::invalid);  // no transaction
    CHECK(lease_due_at(store, noon).empty());

    REQUIRE(connection.run("BEGIN IMMEDIATE") == SQLITE_OK);
    REQUIRE(connection.run(add_site) == SQLITE_OK);
    CHECK(value_of(append()) == 2);
    CHECK(lease_due_at(store, noon).empty());  // not before the commit
    const auto seen = store.changes_seen();
    REQUIRE(connection.run("ROLLBACK") == SQLITE_OK);
    CHECK(lease_due_at(store, noon).empty());
    CHECK(store.changes_seen() == seen);
    CHECK(connection.sites() == 0);

    REQUIRE(connection.run("BEGIN") == SQLITE_OK);
    REQUIRE(connection.run(add_site) == SQLITE_OK);
    CHECK(value_of(append()) == 2);
    CHECK(value_of(append()) == 2);
    CHECK(value_of(outbox.append_event(sample_event(sample_account("sitesmaker", 43)), sample_seed(2), noon)) == 0);
    REQUIRE(connection.run("COMMIT") == SQLITE_OK);
    CHECK(store.changes_seen() != seen);
    CHECK(connection.sites() == 1);
    const auto due = lease_due_at(store, noon);
    CHECK(due.size() == 4);
    for (const due_delivery& each : due) CHECK(each.message_id == message_id_of(sample_seed(1), each.hook));
}

TEST_CASE("a file without the store's tables, or with later ones, is refused") {
    temporary_directory directory;
    const auto path = directory.file("own.db");
    own_connection connection{path};
    sqlite_own_transaction outbox{connection.get()};
    const auto append = [&] {
        REQUIRE(connection.run("BEGIN IMMEDIATE") == SQLITE_OK);
        auto appended = outbox.append_event(sample_event(sample_account()), sample_seed(1), noon);
        REQUIRE(connection.run("ROLLBACK") == SQLITE_OK);
        return appended;
    };
    auto refused = append();
    expect_error(refused, error_kind::internal);
    CHECK_THAT(refused.error().cause, Catch::Contains("version 0"));
    { sqlite_store created{path}; }
    CHECK(value_of(append()) == 0);
    REQUIRE(connection.run("UPDATE tollgate_schema SET version = 1000") == SQLITE_OK);
    refused = append();
    expect_error(refused, error_kind::internal);
    CHECK_THAT(refused.error().cause, Catch::Contains("version 1000"));
}

TEST_CASE("the store and a caller's transaction wait for each other") {
    temporary_directory directory;
    const auto path = directory.file("tollgate.db");
    sqlite_settings settings;
    settings.busy_wait_max = milliseconds{20};
    sqlite_store store{path, settings};
    listen(store, sample_account());
    own_connection connection{path}, other{path};
    sqlite3_busy_timeout(other.get(), 0);
    REQUIRE(connection.run("BEGIN IMMEDIATE") == SQLITE_OK);
    REQUIRE(other.run("BEGIN") == SQLITE_OK);
    sqlite_own_transaction outbox{other.get()};
    expect_error(outbox.append_event(sample_event(sample_account()), sample_seed(1), noon),
                   error_kind::unavailable);
    expect_error(store.append_event(sample_event(sample_account()), sample_seed(1), noon), error_kind::unavailable);
    REQUIRE(other.run("ROLLBACK") == SQLITE_OK);
    REQUIRE(connection.run("ROLLBACK") == SQLITE_OK);
    CHECK(value_of(store.append_event(sample_event(sample_account()), sample_seed(1), noon)) == 1);
}

TEST_CASE("when the disk fails at the nth change of the caller's transaction, it is stored completely or not at all") {
    const int code = GENERATE(SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC);
    const bool goes_on = GENERATE(false, true);  // a commit after an error stores the caller's row, and no partial event
    CAPTURE(code, goes_on);
    temporary_directory directory;
    bool committed = false;
    for (long n = 0; !committed; ++n) {
        REQUIRE(n < 200);
        CAPTURE(n);
        const auto path = directory.file(std::to_string(n) + ".db");
        create_sqlite_file(path);
        sqlite_store store{path};
        for (int i = 0; i < 3; ++i) listen(store, sample_account());
        faulty_vfs vfs;
        own_connection connection{path, vfs.name().c_str()};
        REQUIRE(connection.run(make_sites) == SQLITE_OK);
        REQUIRE(connection.run("PRAGMA cache_size = 1") == SQLITE_OK);  // so that it also writes before it commits
        sqlite_own_transaction outbox{connection.get()};
        auto reported_event = sample_event(sample_account());
        reported_event.data = '"' + std::string(100'000, 'x') + '"';

        vfs.fail_after(n, code);
        bool row_added = connection.run("BEGIN IMMEDIATE") == SQLITE_OK && connection.run(add_site) == SQLITE_OK;
        bool event_done = false;
        if (row_added) {
            const auto appended = outbox.append_event(reported_event, sample_seed(1), noon);
            if (!appended) CHECK(appended.error().kind == error_kind::unavailable);
            event_done = appended.has_value();
        }
        committed = row_added && (event_done || goes_on) && connection.run("COMMIT") == SQLITE_OK;
        if (!committed && sqlite3_get_autocommit(connection.get()) == 0) connection.run("ROLLBACK");
        vfs.heal();
        CHECK(connection.sites() == (committed ? 1 : 0));
        CHECK(lease_due_at(store, noon).size() == (committed && event_done ? 3U : 0U));
        if (committed && !event_done) committed = false;  // try the next change
    }
}

TEST_CASE("a process that dies before its commit has published nothing, and one that dies after it has published everything") {
    temporary_directory directory;
    const auto path = directory.file("tollgate.db");
    {
        sqlite_store store{path};
        listen(store, sample_account());
    }
    const bool commits = GENERATE(false, true);
    number_pipe ready;
    child_process server{[&] {
        ready.close_reading();
        own_connection connection{path};
        connection.run(make_sites);
        connection.run("BEGIN IMMEDIATE");
        connection.run(add_site);
        sqlite_own_transaction outbox{connection.get()};
        if (!outbox.append_event(sample_event(sample_account()), sample_seed(1), noon)) return 1;
        if (commits) connection.run("COMMIT");
        ready.put(1);
        for (;;) ::pause();
    }};
    ready.close_writing();
    REQUIRE(ready.take());
    server.kill();
    CHECK(own_connection{path}.sites() == (commits ? 1 : 0));
    sqlite_store store{path};
    CHECK(lease_due_at(store, noon).size() == (commits ? 1U : 0U));
}

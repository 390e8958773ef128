#include <tollgate/store/sqlite.hpp>

#include <tollgate/testing/detail/samples.hpp>

#include <tollgate/store/detail/sqlite/statement.hpp>
#include <tollgate/store/detail/sqlite/database.hpp>
#include <tollgate/store/detail/sqlite/migrations.hpp>
#include <tollgate/store/detail/sqlite/schema.hpp>
#include <tollgate/store/sqlite_database.hpp>

#include <support/child_process.hpp>
#include <support/disk_faults.hpp>
#include <support/faulty_vfs.hpp>
#include <support/run_store_suite.hpp>
#include <support/sqlite_file.hpp>
#include <support/store_processes.hpp>
#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

using namespace tollgate;
using namespace tollgate::testing;
using tollgate_test::child_process;
using tollgate_test::faulty_vfs;
using tollgate_test::number_pipe;
using tollgate_test::run_processes;
using tollgate_test::progress;
using tollgate_test::temporary_directory;

static_assert(sqlite_store::blocking);
static_assert(std::is_nothrow_move_constructible_v<sqlite_store> && std::is_nothrow_move_assignable_v<sqlite_store>);

namespace {

/// Files in one directory, a new one for each store.
struct files {
    temporary_directory directory;
    int count = 0;

    std::string next() { return directory.file(std::to_string(++count) + ".db"); }
    std::string next_with_tables() {
        auto path = next();
        tollgate_test::create_sqlite_file(path);
        return path;
    }
    std::string last() { return directory.file(std::to_string(count) + ".db"); }
};

}  // namespace

TEST_CASE("a SQLite store with a relative path survives a change of the program's directory") {
    const temporary_directory directory, elsewhere;
    struct returning {
        std::filesystem::path to = std::filesystem::current_path();
        ~returning() { std::filesystem::current_path(to); }
    } const home;
    std::filesystem::current_path(directory.path());
    sqlite_store store{"relative.db"};
    std::filesystem::current_path(elsewhere.path());
    for (int i = 0; i < 3; ++i) {  // also with connections that are opened later
        value_of(store.create_application(sample_application("tgi_" + std::to_string(i)), 100));
        CHECK(value_of(store.find_application("tgi_" + std::to_string(i))));
    }
    CHECK(std::filesystem::exists(directory.file("relative.db")));
    CHECK_FALSE(std::filesystem::exists(elsewhere.file("relative.db")));
}

TEST_CASE("the SQLite store passes the store suite") {
    files files;
    tollgate_test::run_store_suite([&] { return sqlite_store{files.next()}; },
                                   [&] { return sqlite_store{files.last()}; });
}

TEST_CASE("the SQLite store passes the store suite without its cache") {
    files files;
    sqlite_settings settings;
    settings.cached_credentials_max = 0;
    tollgate_test::run_store_suite([&] { return sqlite_store{files.next_with_tables(), settings}; },
                                   [&] { return sqlite_store{files.last(), settings}; });
}

TEST_CASE("the SQLite store passes the store suite with one reader and a minimal cache") {
    files files;
    sqlite_settings settings;
    settings.readers_max = 1;
    settings.cached_credentials_max = 1;
    tollgate_test::run_store_suite([&] { return sqlite_store{files.next_with_tables(), settings}; },
                                   [&] { return sqlite_store{files.last(), settings}; });
}

TEST_CASE("a SQLite store that cannot be opened reports why, by exception or result") {
    temporary_directory directory;
    const auto path = directory.file("missing/tollgate.db");
    CHECK_THROWS_WITH(sqlite_store{path}, Catch::Contains(path) && Catch::Contains("No such file or directory"));
    CHECK_THROWS_AS(sqlite_store{":memory:"}, store_error);
    const auto opened = sqlite_store::open(path);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().kind == error_kind::unavailable);
    CHECK_THAT(opened.error().cause, Catch::Contains(path));
    REQUIRE(sqlite_store::open(directory.file("tollgate.db")));
}

TEST_CASE("a new file is readable by its owner only, also behind links") {
    namespace fs = std::filesystem;
    for (const auto& links : std::vector<std::vector<std::string>>{{}, {"store.db"}, {"link.db", "store.db"}}) {
        for (const bool absolute : {false, true}) {
            temporary_directory directory;
            fs::create_directory(directory.file("below"));
            std::string path = directory.file("below/first.db");
            std::string from = path;
            for (const std::string& each : links) {
                const std::string target = directory.file(each);
                fs::create_symlink(absolute ? fs::path{target} : fs::relative(target, fs::path{from}.parent_path()), from);
                from = target;
            }
            CAPTURE(path, from, absolute);
            const auto mask = ::umask(0);
            const auto opened = sqlite_store::open(path);
            ::umask(mask);
            REQUIRE(opened);
            CHECK(fs::status(from).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
            CHECK(fs::is_regular_file(fs::symlink_status(from)));
        }
    }
}

TEST_CASE("a directory without write permission is refused") {
    temporary_directory directory;
    namespace fs = std::filesystem;
    fs::permissions(directory.path(), fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read |
                                          fs::perms::others_exec);
    // In another process without root privileges, to which permissions apply.
    child_process somebody{[&] {
        if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return 2;
        const auto opened = sqlite_store::open(directory.file("tollgate.db"));
        return !opened && opened.error().kind == error_kind::unavailable &&
                       opened.error().cause.find("unable to open database file") != std::string::npos
                   ? 0
                   : 1;
    }};
    CHECK(somebody.wait() == 0);
}

TEST_CASE("a SQLite store can be moved and move-assigned") {
    files files;
    sqlite_store store{files.next()};
    value_of(store.create_personal_token(sample_personal_token("tgu_a"), tokens_max));
    sqlite_store moved{std::move(store)};
    CHECK(value_of(moved.find_credential(personal_token_key{"tgu_a"})));
    moved = sqlite_store{files.next()};
    CHECK_FALSE(value_of(moved.find_credential(personal_token_key{"tgu_a"})));
}

TEST_CASE("two stores on one file see each other's changes in the next call") {
    files files;
    sqlite_store one{files.next()}, other{files.last()};
    const auto token = sample_personal_token("tgu_a");
    const auto access = sample_access_token(1);
    for (int round = 0; round < 5; ++round) {
        CHECK_FALSE(value_of(one.find_credential(personal_token_key{"tgu_a"})));
        const auto id = value_of(other.create_personal_token(token, tokens_max));
        CHECK(value_of(one.find_credential(personal_token_key{"tgu_a"})));
        CHECK(value_of(one.revoke(personal_token_revocation{id})));
        CHECK_FALSE(value_of(other.find_credential(personal_token_key{"tgu_a"})));

        CHECK_FALSE(value_of(one.find_credential(access_token_key{access.token_digest})));
        value_of(other.create_access_token(access));
        CHECK(value_of(one.find_credential(access_token_key{access.token_digest})));
        CHECK(value_of(one.revoke(oauth_token_revocation{access.token_digest})));
        CHECK_FALSE(value_of(other.find_credential(access_token_key{access.token_digest})));
    }
}

TEST_CASE("cached rows equal stored rows, and are invalid after any commit") {
    files files;
    sqlite_store one{files.next()}, other{files.last()};
    const auto access = sample_access_token(1);
    value_of(other.create_personal_token(sample_personal_token("tgu_a"), tokens_max));
    value_of(other.create_access_token(access));
    CHECK(one.cached_credential(personal_token_key{"tgu_a"}).is_unknown());
    CHECK(one.cached_credential(access_token_key{access.token_digest}).is_unknown());
    for (int round = 0; round < 3; ++round) {
        value_of(one.find_credential(personal_token_key{"tgu_a"}));
        value_of(one.find_credential(personal_token_key{"tgu_b"}));
        value_of(one.find_credential(access_token_key{access.token_digest}));
        REQUIRE(one.cached_credential(personal_token_key{"tgu_a"}).is_hit());
        CHECK(one.cached_credential(personal_token_key{"tgu_a"})->user == user_id{7});
        REQUIRE(one.cached_credential(personal_token_key{"tgu_b"}).is_miss());
        REQUIRE(one.cached_credential(access_token_key{access.token_digest}).is_hit());
        CHECK(one.cached_credential(access_token_key{access.token_digest})->expires_at == access.expires_at);
        value_of(other.create_hook(sample_hook(sample_account()), 100));
        CHECK(one.cached_credential(personal_token_key{"tgu_a"}).is_unknown());
        CHECK(one.cached_credential(personal_token_key{"tgu_b"}).is_unknown());
        CHECK(one.cached_credential(access_token_key{access.token_digest}).is_unknown());
    }
    CHECK(one.cached_credential(personal_token_key{std::string(999, 'x')}).is_unknown());
}

TEST_CASE("processes that open one new store at once all succeed, and no row is lost") {
    constexpr int process_count = 6;
    for (int round = 0; round < 3; ++round) {
        files files;
        const auto path = files.next();
        const auto codes = run_processes(process_count, [&](number_pipe& start, int) {
            start.take();
            // Creating the tables takes longer than a call may wait.
            if (!sqlite_store::open(path, {.busy_wait_max = milliseconds{1}})) return 1;
            auto store = sqlite_store::open(path);
            if (!store) return 2;
            return store->create_hook(sample_hook(sample_account()), process_count) ? 0 : 3;
        });
        CHECK(codes == std::vector<int>(process_count, 0));
        sqlite_store store{path};
        CHECK(value_of(store.hooks_of(sample_account())).size() == process_count);
        expect_error(store.create_hook(sample_hook(sample_account()), process_count), error_kind::invalid);
    }
}

TEST_CASE("processes that create hooks at the bound never exceed it") {
    files files;
    const auto path = files.next();
    tollgate_test::check_bound_of_hooks([&] { return sqlite_store{path}; });
}

TEST_CASE("acknowledged changes survive kill -9") {
    files files;
    const auto path = files.next();
    std::set<std::int64_t> acknowledged;
    for (std::size_t round = 0; round < 5; ++round) {
        number_pipe ids;
        child_process server{[&] {
            ids.close_reading();
            sqlite_store store{path};
            std::vector<std::thread> threads;
            for (int i = 0; i < 3; ++i)
                threads.emplace_back([&] {
                    while (const auto id = store.create_hook(sample_hook(sample_account()), SIZE_MAX)) ids.put(id->value());
                });
            for (auto& each : threads) each.join();
            return 1;
        }};
        ids.close_writing();
        for (std::size_t n = 0; n < 5 + round * 20; ++n) {
            const auto id = ids.take();
            REQUIRE(id);
            CHECK(acknowledged.insert(*id).second);  // an id is never used again
        }
        server.kill();
        while (const auto id = ids.take()) CHECK(acknowledged.insert(*id).second);

        sqlite_store store{path};
        std::set<std::int64_t> stored;
        for (const hook& each : value_of(store.hooks_of(sample_account()))) stored.insert(each.id.value());
        CHECK(std::includes(stored.begin(), stored.end(), acknowledged.begin(), acknowledged.end()));
        CHECK(stored.size() <= acknowledged.size() + 3 * (round + 1));  // one per thread was in progress
    }
}

TEST_CASE("when the disk fails at the nth change, each verb is done or not, reports which, and works again when the disk works") {
    // Each verb that writes, and whether its change is stored.
    struct verb {
        const char* name;
        result<void> (*act)(sqlite_store&);
        bool (*is_done)(sqlite_store&);
    };
    const auto nothing_but_problem = [](auto outcome) -> result<void> {
        if (!outcome) return std::move(outcome).error();
        return {};
    };
    static constexpr auto settle = nothing_but_problem;
    const auto each = GENERATE(
        verb{"create_personal_token",
             [](sqlite_store& store) { return settle(store.create_personal_token(sample_personal_token("tgu_new"), tokens_max)); },
             [](sqlite_store& store) { return value_of(store.find_credential(personal_token_key{"tgu_new"})).has_value(); }},
        verb{"revoke_personal_token", [](sqlite_store& store) { return settle(store.revoke(personal_token_revocation{token_id{1}})); },
             [](sqlite_store& store) { return !value_of(store.find_credential(personal_token_key{"tgu_old"})).has_value(); }},
        verb{"create_access_token", [](sqlite_store& store) { return settle(store.create_access_token(sample_access_token(2))); },
             [](sqlite_store& store) {
                 return value_of(store.find_credential(access_token_key{sample_access_token(2).token_digest})).has_value();
             }},
        verb{"revoke_access_token",
             [](sqlite_store& store) { return settle(store.revoke(oauth_token_revocation{sample_access_token(1).token_digest})); },
             [](sqlite_store& store) {
                 return !value_of(store.find_credential(access_token_key{sample_access_token(1).token_digest})).has_value();
             }},
        verb{"create_hook", [](sqlite_store& store) { return settle(store.create_hook(sample_hook(sample_account()), 20)); },
             [](sqlite_store& store) { return value_of(store.hooks_of(sample_account())).size() == 2; }},
        verb{"delete_hook", [](sqlite_store& store) { return settle(store.delete_hook(sample_account(), hook_id{1})); },
             [](sqlite_store& store) { return value_of(store.hooks_of(sample_account())).empty(); }});
    const int code = GENERATE(SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC);
    CAPTURE(each.name, code);

    tollgate_test::fail_each_disk_change(
        code,
        [](const std::string& path, const sqlite_settings& settings) {
            sqlite_store store{path, settings};
            value_of(store.create_personal_token(sample_personal_token("tgu_old"), tokens_max));
            value_of(store.create_access_token(sample_access_token(1)));
            value_of(store.create_hook(sample_hook(sample_account()), 20));
            return store;
        },
        each.act, [&](sqlite_store& store) { return progress{each.is_done(store)}; },
        [&](const std::string& path) {
            sqlite_store again{path};
            CHECK(each.is_done(again));
        });
}

TEST_CASE("a file that cannot grow is a temporary error, and no partial hook is left") {
    files files;
    const auto path = files.next();
    number_pipe reported;
    // In another process, because the limit would be permanent for this one.
    child_process server{[&] {
        reported.close_reading();
        sqlite_store store{path};
        tollgate_test::limit_file_size(500'000);
        auto hook = sample_hook(sample_account());
        hook.target_url.resize(1500, 'x');
        for (;;) {
            const auto id = store.create_hook(hook, SIZE_MAX);
            if (!id) {
                if (id.error().kind != error_kind::unavailable) return 1;
                break;
            }
            reported.put(id->value());
        }
        const auto listed = store.hooks_of(sample_account());
        if (!listed) return 2;
        tollgate_test::limit_file_size({});
        const auto id = store.create_hook(hook, SIZE_MAX);
        if (!id) return 3;
        reported.put(id->value());
        return 0;
    }};
    reported.close_writing();
    std::set<std::int64_t> acknowledged;
    while (const auto id = reported.take()) acknowledged.insert(*id);
    CHECK(server.wait() == 0);
    CHECK(acknowledged.size() > 10);
    sqlite_store store{path};
    const auto stored = value_of(store.hooks_of(sample_account()));
    CHECK(stored.size() == acknowledged.size());
    for (const hook& each : stored) {
        CHECK(acknowledged.count(each.id.value()) == 1);
        CHECK(each.target_url.size() == 1500);
    }
}

TEST_CASE("a damaged file is reported by every verb that reads the damaged part") {
    files files;
    const auto path = files.next();
    {
        sqlite_store store{path};
        auto hook = sample_hook(sample_account());
        hook.target_url.resize(1500, 'x');
        for (int i = 0; i < 200; ++i) value_of(store.create_hook(hook, SIZE_MAX));
        value_of(store.create_personal_token(sample_personal_token("tgu_a"), tokens_max));
    }
    constexpr std::streamoff page_bytes = 4096;
    const auto pages = static_cast<std::streamoff>(std::filesystem::file_size(path)) / page_bytes;
    REQUIRE(pages > 10);
    {
        std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
        for (std::streamoff page = 1; page < pages; ++page) {  // all but the first
            file.seekp(page * page_bytes);
            file << std::string(page_bytes, '\xa5');
        }
    }
    int problems = 0;
    const auto check_damage = [&](const auto& outcome) {
        if (outcome) return;
        CHECK(outcome.error().kind == error_kind::internal);
        CHECK_THAT(outcome.error().cause, Catch::Contains("malformed"));
        CHECK_THAT(outcome.error().message, !Catch::Contains("malformed"));
        ++problems;
    };
    auto opened = sqlite_store::open(path);
    check_damage(opened);
    if (opened) {
        check_damage(opened->hooks_of(sample_account()));
        check_damage(opened->find_credential(personal_token_key{"tgu_a"}));
        check_damage(opened->create_hook(sample_hook(sample_account()), 20));
        check_damage(opened->create_personal_token(sample_personal_token("tgu_b"), tokens_max));
    }
    CHECK(problems > 0);
}

TEST_CASE("a row of an unexpected type is an error") {
    files files;
    sqlite_store store{files.next()};
    value_of(store.create_personal_token(sample_personal_token("tgu_a"), tokens_max));
    auto other = *sqlite::database::open(files.last());
    REQUIRE(other.run("UPDATE tollgate_personal_tokens SET scopes = 'a' || char(9) || 'b'"));
    const auto found = store.find_credential(personal_token_key{"tgu_a"});
    REQUIRE_FALSE(found);
    CHECK(found.error().kind == error_kind::internal);
    CHECK_FALSE(other.run("UPDATE tollgate_personal_tokens SET secret_digest = x'00'"));
    CHECK_FALSE(other.run("UPDATE tollgate_personal_tokens SET user = 0"));
    CHECK_FALSE(other.run("UPDATE tollgate_personal_tokens SET user = 'text'"));
}

TEST_CASE("a store of a later release is not changed, and the error names the file") {
    files files;
    const auto path = files.next();
    { sqlite_store created{path}; }
    REQUIRE(sqlite::database::open(path)->run("UPDATE tollgate_schema SET version = 1000"));
    CHECK_THROWS_WITH(sqlite_store{path}, Catch::Contains("later release") && Catch::Contains(path));
    const auto opened = sqlite_store::open(path);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().kind == error_kind::internal);
}

TEST_CASE("a store of version 1 is migrated and keeps its data") {
    files files;
    const auto path = files.next();
    const auto personal = sample_personal_token("tgu_a");
    const auto access = sample_access_token(1);
    {
        // The literal schema of version 1: not to be changed with the current schema.
        auto database = *sqlite::database::open(path);
        REQUIRE(database.run_script(R"sql(
            CREATE TABLE tollgate_schema (component TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID;
            INSERT INTO tollgate_schema VALUES ('store', 1);
            CREATE TABLE tollgate_personal_tokens (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                user INTEGER NOT NULL CHECK (user > 0),
                username TEXT NOT NULL UNIQUE,
                secret_digest BLOB NOT NULL CHECK (length(secret_digest) = 32),
                description TEXT NOT NULL,
                scopes TEXT NOT NULL,
                created_at INTEGER NOT NULL,
                last_used_at INTEGER
            ) STRICT;
            CREATE INDEX tollgate_personal_tokens_by_user ON tollgate_personal_tokens (user);
            CREATE TABLE tollgate_access_tokens (
                token_digest BLOB PRIMARY KEY CHECK (length(token_digest) = 32),
                user INTEGER NOT NULL CHECK (user > 0),
                application INTEGER NOT NULL CHECK (application > 0),
                scopes TEXT NOT NULL,
                created_at INTEGER NOT NULL,
                expires_at INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE tollgate_hooks (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                service TEXT NOT NULL,
                account INTEGER NOT NULL CHECK (account > 0),
                event TEXT NOT NULL,
                source TEXT NOT NULL CHECK (source IN ('api', 'manual')),
                type TEXT NOT NULL,
                target_url TEXT NOT NULL,
                secret TEXT NOT NULL,
                created_at INTEGER NOT NULL
            ) STRICT;
            CREATE INDEX tollgate_hooks_by_account ON tollgate_hooks (service, account, event);
            INSERT INTO tollgate_hooks (service, account, event, source, type, target_url, secret, created_at)
                VALUES ('sitesmaker', 42, 'site.published', 'manual', 'webhook', 'https://example.com/', 'whsec_x', 1);
        )sql"));
        REQUIRE(database.run("INSERT INTO tollgate_personal_tokens (user, username, secret_digest, description, scopes, "
                             "created_at, last_used_at) VALUES (7, 'tgu_a', ?, 'for a script', 'user:balance', 5, 6)",
                             personal.secret_digest));
        REQUIRE(database.run("INSERT INTO tollgate_access_tokens VALUES (?, 7, 3, 'sitesmaker', 1, 2)", access.token_digest));
    }
    sqlite_store store{path};
    const auto found = value_of(store.find_credential(personal_token_key{"tgu_a"}));
    REQUIRE(found);
    CHECK(found->secret_digest == personal.secret_digest);
    const auto listed = value_of(store.personal_tokens_of(user_id{7}));
    REQUIRE(listed.size() == 1);
    CHECK(listed[0].last_used_at == from_unix_milliseconds(6));
    const auto granted = value_of(store.find_credential(access_token_key{access.token_digest}));
    REQUIRE(granted);
    CHECK(granted->application == application_id{3});
    CHECK(granted->expires_at == from_unix_milliseconds(2));
    CHECK_FALSE(granted->last_used_at);
    const auto hooks = value_of(store.hooks_of(sample_account()));
    REQUIRE(hooks.size() == 1);
    CHECK(hooks[0].source == hook_source::manual);
    value_of(store.create_personal_token(sample_personal_token("tgu_b"), tokens_max));
    CHECK(value_of(store.change_hook(sample_account(), hooks[0].id, hook_secret_replacement{"whsec_y", noon})));

    // A new application's id is not used by any older token: deleting the application removes no token of another one.
    const auto application = value_of(store.create_application(sample_application("tgi_a"), 100));
    CHECK(application.value() > 3);
    CHECK(value_of(store.delete_application(user_id{3}, application)));
    CHECK(value_of(store.find_credential(access_token_key{access.token_digest})));
    CHECK_FALSE(value_of(store.revoke(grant_revocation{user_id{7}, application_id{3}})));
    CHECK_FALSE(value_of(store.find_credential(access_token_key{access.token_digest})));
}

TEST_CASE("a store of version 1 with the largest application ids can still create one") {
    files files;
    const auto path = files.next();
    const auto access = sample_access_token(1);
    {
        auto database = *sqlite::database::open(path);
        REQUIRE(sqlite::migrate(database, sqlite::store_component, std::span{sqlite::store_steps}.first(1)));
        REQUIRE(database.run("INSERT INTO tollgate_access_tokens VALUES (?, 7, 9223372036854775807, '', 1, 2)",
                             access.token_digest));
    }
    sqlite_store store{path};
    value_of(store.create_application(sample_application("tgi_a"), 100));
    CHECK(value_of(store.find_credential(access_token_key{access.token_digest})));
}

TEST_CASE("a store waits for another writing process, and reports when that takes too long") {
    files files;
    sqlite_settings settings;
    settings.busy_wait_max = milliseconds{20};
    sqlite_store store{files.next(), settings};
    auto other = *sqlite::database::open(files.last());
    {
        auto change = sqlite::transaction::begin(other);
        REQUIRE(change);
        expect_error(store.create_hook(sample_hook(sample_account()), 20), error_kind::unavailable);
        CHECK(value_of(store.hooks_of(sample_account())).empty());
    }
    value_of(store.create_hook(sample_hook(sample_account()), 20));
}

TEST_CASE("a SQLite store returns the owner with the credential") {
    files files;
    const auto path = files.next();
    const user_id ann{1}, deleted{2};
    auto users = *sqlite_database::open(path);
    REQUIRE(users.write([](sqlite::database& on) {
        return on.run_script("CREATE TABLE users (id INTEGER PRIMARY KEY, requests INTEGER, balance, currency TEXT);"
                             "INSERT INTO users VALUES (1, 5, '12.50', 'EUR')");
    }));
    sqlite_settings settings;
    settings.cached_credentials_max = GENERATE(std::size_t{0}, std::size_t{16});
    settings.owner_query = "SELECT requests, 60, balance, currency FROM users WHERE id = ? -- theirs";
    sqlite_store store{path, settings};
    const auto now = from_unix_seconds(1'700'000'000);
    const auto app = value_of(store.create_application(sample_application("tgi_a"), 100));
    for (const auto user : {ann, deleted}) {
        const auto name = "tgu_" + std::to_string(user.value());
        value_of(store.create_personal_token({user, *token_username::from(name), digest_of(name), "", {}, now}, 9));
        REQUIRE(store.create_access_token({user, app, digest_of(name), {}, now, now + std::chrono::hours{1}}));
    }
    const auto owners_of = [&](const std::string& name) {
        const auto personal = value_of(store.find_credential(personal_token_key{name}));
        const auto access = value_of(store.find_credential(access_token_key{digest_of(name)}));
        REQUIRE(personal);
        REQUIRE(access);
        CHECK(personal->owner == access->owner);
        return personal->owner;
    };
    const auto set = [&](sql::statement_text change) {
        REQUIRE(users.write([&](sqlite::database& on) { return on.run(change); }));
    };
    const auto euros = [&](decimal amount) { return balance{ann, amount, "EUR"}; };
    CHECK(owners_of("tgu_1") == known_user{quota{5, seconds{60}}, euros("12.50")});
    CHECK_FALSE(owners_of("tgu_2"));

    // A change applies at once, also to a value that is invalid.
    set("UPDATE users SET requests = NULL, balance = 7");
    CHECK(owners_of("tgu_1") == known_user{std::nullopt, euros("7")});
    set("UPDATE users SET balance = NULL");
    CHECK(owners_of("tgu_1") == known_user{});
    set("UPDATE users SET balance = 'much'");
    expect_error(store.find_credential(personal_token_key{"tgu_1"}), error_kind::internal);
    expect_error(store.find_credential(access_token_key{digest_of("tgu_1")}), error_kind::internal);
    CHECK(sqlite_store::open(path, settings));  // it concerns that user only
    set("DELETE FROM users");
    CHECK_FALSE(owners_of("tgu_1"));
}

TEST_CASE("a SQLite store reports an invalid owner query when it is opened") {
    files files;
    sqlite_settings settings;
    settings.owner_query = GENERATE("SELECT 1, 60, NULL, NULL FROM nowhere WHERE id = ?", "SELECT 1, 60", "nonsense");
    const auto opened = sqlite_store::open(files.next(), settings);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().kind == error_kind::internal);
}

#include <tollgate/store/sqlite.hpp>

#include <tollgate/store/sqlite_database.hpp>
#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/expect.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <support/allocations.hpp>
#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

using namespace tollgate;
using namespace tollgate::testing;
using namespace tollgate::testing::detail;
using tollgate_test::fail_each_allocation;

namespace {

/// The error of a verb; none if it succeeded. Nothing else runs here: an assertion would need memory.
struct verb {
    std::string_view name;
    std::function<std::optional<error_kind>(sqlite_store&)> run;
};

std::optional<error_kind> failure_of(const auto& returned) noexcept {
    if (returned) return std::nullopt;
    return returned.error().kind;
}

/// A store with verbs that read, write, and write in a transaction.
struct small_store {
    small_store() { value_of(store.create_access_token(token)); }

    static sqlite_settings settings() {
        sqlite_settings settings;
        settings.readers_max = 1;  // with one reader, a lost connection would be detected
        settings.busy_wait_max = milliseconds{50};
        settings.cached_credentials_max = 0;
        return settings;
    }
    void check_that_it_works() {
        CHECK(value_of(store.find_credential(access_token_key{token.token_digest})));
        value_of(store.record_use(access_token_key{token.token_digest}, noon, {}));
        const auto id = value_of(store.create_hook(hook, 1000));
        CHECK(value_of(other.account_of_hook(account.service, id)));  // acknowledged changes are on disk
        CHECK(value_of(store.delete_hook(account, id)));
    }

    tollgate_test::temporary_directory directory;
    sqlite_store store{directory.file("test.db"), settings()};
    sqlite_store other{directory.file("test.db")};
    const new_access_token token = sample_access_token(1);
    const account_ref account = sample_account();
    const new_hook hook = sample_hook(account);
    const std::vector<verb> verbs{
        {"find_access_token", [this](sqlite_store& in) { return failure_of(in.find_credential(access_token_key{token.token_digest})); }},
        {"record_access_token_use",
         [this](sqlite_store& in) { return failure_of(in.record_use(access_token_key{token.token_digest}, noon, {})); }},
        {"create_hook", [this](sqlite_store& in) { return failure_of(in.create_hook(hook, 1000)); }},
        {"hooks_of", [this](sqlite_store& in) { return failure_of(in.hooks_of(account)); }},
    };
};

}  // namespace

TEST_CASE("a store for which SQLite has no memory works again afterwards, in a new transaction") {
    small_store small;
    for (const verb& each : small.verbs) {
        CAPTURE(each.name);
        int failures = 0;
        for (std::int64_t left = 0; left < 32'768; left += 1024) {
            CAPTURE(left);
            sqlite3_hard_heap_limit64(sqlite3_memory_used() + left);
            const auto failed = each.run(small.store);
            sqlite3_hard_heap_limit64(0);
            if (failed) {
                CHECK(*failed == error_kind::unavailable);
                ++failures;
            }
            small.check_that_it_works();
        }
        // SQLite 3.46 updates one row without allocating.
        if (each.name != "record_access_token_use" || sqlite3_libversion_number() < 3'046'000) CHECK(failures > 0);
    }
}

#if !defined(TOLLGATE_TEST_NEW_IS_TAKEN)

TEST_CASE("a store that runs out of memory reports it and keeps its connections") {
    small_store small;
    for (const verb& each : small.verbs) {
        CAPTURE(each.name);
        fail_each_allocation([&](auto short_of_memory) {
            const auto failed = short_of_memory([&] { return each.run(small.store); });
            if (failed) CHECK(*failed == error_kind::unavailable);
            small.check_that_it_works();
            return !failed;
        });
    }
}

TEST_CASE("after memory ran out within the caller's transaction, no part of the event is in it") {
    small_store small;
    value_of(small.store.create_hook(small.hook, 1000));
    sqlite3* opened = nullptr;
    REQUIRE(sqlite3_open(small.directory.file("test.db").c_str(), &opened) == SQLITE_OK);
    const std::unique_ptr<sqlite3, int (*)(sqlite3*)> own{opened, sqlite3_close};
    const auto run = [&](const char* script) { return sqlite3_exec(own.get(), script, nullptr, nullptr, nullptr) == SQLITE_OK; };
    sqlite_own_transaction outbox{own.get()};
    const long failures = fail_each_allocation([&](auto short_of_memory) {
        REQUIRE(run("BEGIN"));
        const auto appended = short_of_memory([&] { return outbox.append_event(sample_event(small.account), sample_seed(1), noon); });
        if (!appended) CHECK(appended.error().kind == error_kind::unavailable);
        REQUIRE(run(appended ? "ROLLBACK" : "COMMIT"));
        CHECK(value_of(small.other.due_hooks(noon, 10)).hooks.empty());
        REQUIRE(run("CREATE TABLE IF NOT EXISTS leftovers (count INTEGER CHECK (count = 0)); "
                    "INSERT INTO leftovers SELECT count(*) FROM tollgate_events"));
        return appended.has_value();
    });
    CHECK(failures > 3);
}

#endif

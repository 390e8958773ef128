#include <tollgate/store/sqlite.hpp>

#include <support/child_process.hpp>
#include <support/disk_faults.hpp>
#include <support/sqlite_file.hpp>
#include <support/store_processes.hpp>
#include <support/temporary_directory.hpp>
#include <tollgate/store/detail/sql/history_trim.hpp>
#include <tollgate/store/detail/sqlite/statement.hpp>
#include <tollgate/store/detail/sqlite/database.hpp>
#include <tollgate/store/detail/sqlite/migrations.hpp>
#include <tollgate/store/detail/sqlite/schema.hpp>
#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <catch2/catch.hpp>
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate::testing;
using namespace tollgate::testing::detail;
using tollgate_test::child_process;
using tollgate_test::all_or_nothing;
using tollgate_test::progress;
using tollgate_test::number_in;
using tollgate_test::number_pipe;
using tollgate_test::temporary_directory;

namespace {

/// Account 42 has hooks 1 and 2 at one host, with a delivery each: 1 and 2. Hook 3 (of account 43) is disabled and
/// holds delivery 4, after delivery 3 was given up; 5 of account 44's hook 4 is leased.
struct populated_store {
    sqlite_store store;
    account_ref account = sample_account(), disabled = sample_account("sitesmaker", 43),
                sending = sample_account("sitesmaker", 44);
    std::optional<due_delivery> leased;

    populated_store(const std::string& path, const sqlite_settings& settings) : store{path, settings} {
        listen(store, account);
        listen(store, account);
        listen_at(store, disabled, "https://disabled.example/");
        listen_at(store, sending, "https://sending.example/");
        report(store, account, 1, noon + seconds{60});
        report(store, disabled, 2);
        auto one = sample_terms(noon);
        one.deliveries_max = 1;
        const auto deliveries = lease_due(store, one);
        REQUIRE(complete_one(store, completed(deliveries.at(0), delivery_outcome::gone)) == completion::hook_disabled);
        report(store, sending);
        leased = lease_one(store, noon);
    }

    std::vector<delivery_state> states(const account_ref& of, std::int64_t hook) {
        std::vector<delivery_state> all;
        for (const delivery& each : deliveries(store, of, hook_id{hook})) all.push_back(each.state);
        return all;
    }
};

result<void> expected(result<bool> outcome) {
    if (!outcome) return std::move(outcome).error();
    if (!*outcome) return internal_error("the verb found nothing to do");
    return {};
}

struct verb {
    const char* name;
    result<void> (*act)(populated_store&);
    progress (*done)(populated_store&);
};

using enum delivery_state;
using states = std::vector<delivery_state>;

const verb verbs[] = {
    {"append_event",
     [](populated_store& data) {
         const auto count = data.store.append_event(sample_event(data.account), sample_seed(9), noon);
         if (!count) return result<void>{count.error()};
         return expected(*count == 2);
     },
     [](populated_store& data) {
         return all_or_nothing({data.states(data.account, 1).size() == 2, data.states(data.account, 2).size() == 2});
     }},
    {"lease",
     [](populated_store& data) {
         const instant now = noon + seconds{60};
         std::vector<lease_request> requests;
         for (const std::int64_t each : {1, 2, 4}) requests.push_back({hook_id{each}, 9, 9, now});
         const auto leased = data.store.lease(requests, {now, now + seconds{30}});
         if (!leased) return result<void>{leased.error()};
         return expected(leased->size() == 3);  // including the one whose lease has ended
     },
     [](populated_store& data) {
         const auto is_leased = [&](const account_ref& of, std::int64_t hook) {
             return only_delivery(data.store, of, hook_id{hook}).next_attempt_at == noon + seconds{90};
         };
         return all_or_nothing({is_leased(data.account, 1), is_leased(data.account, 2), is_leased(data.sending, 4)});
     }},
    {"complete",
     [](populated_store& data) {
         const auto ended = completed(*data.leased, delivery_outcome::gone);
         const auto results = data.store.complete({&ended, 1}, noon);
         if (!results) return result<void>{results.error()};
         return expected(results->at(0) == completion::hook_disabled);
     },
     [](populated_store& data) {
         const auto hook = listed_hook(data.store, data.sending, hook_id{4});
         return all_or_nothing({data.states(data.sending, 4) == states{given_up}, hook.disabled.has_value(),
                                hook.failing_since.has_value(),
                                value_of(testing::detail::attempts_of(data.store, data.sending, hook_id{4}, 9)).size() == 1});
     }},
    {"resend",
     [](populated_store& data) { return expected(data.store.resend(data.sending, data.leased->lease.delivery, noon + seconds{31})); },
     [](populated_store& data) {
         return progress{only_delivery(data.store, data.sending, hook_id{4}).next_attempt_at == noon + seconds{31}};
     }},
    {"enable_hook", [](populated_store& data) { return expected(data.store.change_hook(data.disabled, hook_id{3}, hook_enabling{noon})); },
     [](populated_store& data) {
         return all_or_nothing({!listed_hook(data.store, data.disabled, hook_id{3}).disabled,
                                data.states(data.disabled, 3) == states{waiting, given_up}});
     }},
    {"sweep_deliveries",
     [](populated_store& data) {
         const auto swept = data.store.sweep({.deliveries_ended_before = noon + seconds{1}, .rows_max = 100});
         if (!swept) return result<void>{swept.error()};
         return expected(*swept == 2);
     },
     [](populated_store& data) {
         return all_or_nothing(
             {data.states(data.disabled, 3).empty(), value_of(testing::detail::attempts_of(data.store, data.disabled, hook_id{3}, 9)).empty()});
     }},
    {"delete_hook", [](populated_store& data) { return expected(data.store.delete_hook(data.disabled, hook_id{3})); },
     [](populated_store& data) { return progress{value_of(data.store.hooks_of(data.disabled)).empty()}; }},
};

}  // namespace

TEST_CASE("when the disk fails at the nth change, each verb of the outbox is done completely or not at all") {
    const auto& each = GENERATE(from_range(std::begin(verbs), std::end(verbs)));
    const int code = GENERATE(SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC);
    CAPTURE(each.name, code);

    tollgate_test::fail_each_disk_change(
        code, [](const std::string& path, const sqlite_settings& settings) { return populated_store{path, settings}; }, each.act,
        each.done, [](const std::string& path) {
            auto file = *sqlite::database::open(path);
            CHECK(number_in(file, "SELECT count(*) FROM pragma_foreign_key_check") == 0);
            CHECK(number_in(file,
                           "SELECT count(*) FROM tollgate_events WHERE id NOT IN "
                           "(SELECT event FROM tollgate_deliveries)") == 0);
            CHECK(number_in(file,
                           "SELECT count(*) FROM tollgate_deliveries WHERE ended_at IS NULL AND NOT EXISTS "
                           "(SELECT 1 FROM tollgate_hooks WHERE id = hook AND ready_at IS NOT NULL)") == 0);
        });
}

TEST_CASE("a file that cannot grow is an error for the publisher, and no partial event is left") {
    temporary_directory directory;
    const auto path = directory.file("tollgate.db");
    number_pipe reported;
    // In another process, because the limit would be permanent for this one.
    child_process server{[&] {
        reported.close_reading();
        sqlite_store store{path};
        const auto account = sample_account();
        for (int i = 0; i < 3; ++i) listen(store, account);
        tollgate_test::limit_file_size(500'000);
        auto reported_event = sample_event(account);
        reported_event.data = '"' + std::string(10'000, 'x') + '"';
        for (std::uint64_t i = 0;; ++i) {
            const auto count = store.append_event(reported_event, sample_seed(i), noon);
            if (!count) {
                if (count.error().kind != error_kind::unavailable) return 1;
                break;
            }
            reported.put(static_cast<std::int64_t>(*count));
        }
        tollgate_test::limit_file_size({});
        const auto count = store.append_event(reported_event, sample_seed(1'000), noon);
        if (!count) return 2;
        reported.put(static_cast<std::int64_t>(*count));
        return 0;
    }};
    reported.close_writing();
    std::size_t acknowledged = 0;
    while (const auto count = reported.take()) acknowledged += static_cast<std::size_t>(*count);
    CHECK(server.wait() == 0);
    CHECK(acknowledged > 10);
    sqlite_store store{path};
    const auto due = lease_due_at(store, noon);
    CHECK(due.size() == acknowledged);
    for (const due_delivery& each : due) CHECK(each.event->data.size() == 10'002);
    auto file = *sqlite::database::open(path);
    CHECK(number_in(file, "SELECT count(*) FROM tollgate_events") == static_cast<std::int64_t>(acknowledged / 3));
}

TEST_CASE("processes that lease at once never get the same delivery, and everything is delivered") {
    temporary_directory directory;
    const auto path = directory.file("tollgate.db");
    tollgate_test::check_concurrent_leases([&] { return sqlite_store{path}; });
    sqlite_store store{path};
    CHECK(lease_due_at(store, noon + seconds{86'400}).empty());
}

TEST_CASE(
    "an acknowledged event is delivered after kill -9 at any point, with one id") {
    temporary_directory directory;
    const auto path = directory.file("tollgate.db");
    std::optional<hook_id> hook;
    {
        sqlite_store store{path};
        hook = listen(store, sample_account());
    }
    std::set<std::uint64_t> acknowledged;
    for (std::uint64_t round = 0; round < 4; ++round) {
        number_pipe seeds;
        child_process server{[&] {
            seeds.close_reading();
            sqlite_store store{path};
            std::thread worker{[&] {  // leases and fails, repeatedly
                for (instant now = noon;; now += milliseconds{1}) {
                    auto terms = sample_terms(now);
                    terms.lease_until = now + milliseconds{1};
                    terms.deliveries_max = 3;
                    std::vector<attempt_result> ended;
                    for (const due_delivery& each : lease_due(store, terms)) {
                        ended.push_back(completed(each, delivery_outcome::retry, now));
                        ended.back().retry_at = now + milliseconds{5};
                    }
                    value_of(store.complete(ended, now));
                }
            }};
            for (std::uint64_t seed = round * 10'000;; ++seed) {
                if (!store.append_event(sample_event(sample_account()), sample_seed(seed), noon)) return 1;
                seeds.put(static_cast<std::int64_t>(seed));
            }
        }};
        seeds.close_writing();
        for (std::uint64_t n = 0; n < 10 + round * 10; ++n) {
            const auto seed = seeds.take();
            REQUIRE(seed);
            acknowledged.insert(static_cast<std::uint64_t>(*seed));
        }
        server.kill();
        while (const auto seed = seeds.take()) acknowledged.insert(static_cast<std::uint64_t>(*seed));
    }
    sqlite_store store{path};
    std::multiset<std::string> due;
    for (const due_delivery& each : lease_due_at(store, noon + seconds{86'400}))
        due.insert(std::string{each.message_id.view()});
    CHECK(due.size() >= acknowledged.size());
    CHECK(due.size() <= acknowledged.size() + 4);  // one per round was in progress
    for (const std::uint64_t seed : acknowledged)
        CHECK(due.count(std::string{message_id_of(sample_seed(seed), *hook).view()}) == 1);
}

TEST_CASE("events of another process are visible without a lease, and an empty lease writes nothing") {
    temporary_directory directory;
    const auto path = directory.file("tollgate.db");
    sqlite_store store{path};
    const auto account = sample_account();
    listen(store, account);
    auto seen = store.changes_seen();
    REQUIRE(seen);
    CHECK(store.changes_seen() == seen);
    CHECK(lease_due_at(store, noon).empty());
    CHECK(value_of(store.append_event(sample_event(sample_account("sitesmaker", 43)), sample_seed(1), noon)) == 0);
    CHECK(value_of(store.sweep({.deliveries_ended_before = noon, .rows_max = 100})) == 0);
    CHECK(store.changes_seen() == seen);

    for (std::uint64_t round = 0; round < 3; ++round) {
        child_process other{[&] {
            sqlite_store emitting{path};
            return emitting.append_event(sample_event(account), sample_seed(round), noon) ? 0 : 1;
        }};
        CHECK(other.wait() == 0);
        CHECK(store.changes_seen() != seen);
        CHECK(lease_due_at(store, noon).size() == 1);
        seen = store.changes_seen();
        CHECK(lease_due_at(store, noon).empty());
        CHECK(store.changes_seen() == seen);
    }

    // Nor does a hook that waits for its host.
    report(store, account, 2);
    const hook_id hook = due_hook_ids(store, noon).at(0);
    CHECK(lease_of(store, {hook, 9, 3, noon + seconds{20}}, sample_terms(noon)).empty());
    seen = store.changes_seen();
    CHECK(lease_due_at(store, noon).empty());
    CHECK(store.changes_seen() == seen);
    CHECK(value_of(store.due_hooks(noon, 10)).next_at == noon + seconds{20});
}

TEST_CASE("nothing remains of swept deliveries: no events or attempts") {
    temporary_directory directory;
    const auto path = directory.file("tollgate.db");
    sqlite_store store{path};
    auto file = *sqlite::database::open(path);
    const auto account = sample_account();
    for (int round = 0; round < 2; ++round) {
        const auto one = listen(store, account), other = listen_at(store, account, "https://other.example/");
        report(store, account, 10);
        std::vector<attempt_result> ended;
        for (const due_delivery& each : lease_due_at(store, noon))
            ended.push_back(completed(each, delivery_outcome::delivered));
        value_of(store.complete(ended, noon));
        CHECK(number_in(file, "SELECT count(*) FROM tollgate_events") == 10);
        if (round == 0) {
            CHECK(value_of(store.sweep({.deliveries_ended_before = noon + seconds{1}, .rows_max = 19})) == 19);
            CHECK(number_in(file, "SELECT count(*) FROM tollgate_events") == 1);
            CHECK(value_of(store.sweep({.deliveries_ended_before = noon + seconds{1}, .rows_max = 19})) == 1);
        } else {
            CHECK(value_of(store.delete_hook(account, one)));
            CHECK(number_in(file, "SELECT count(*) FROM tollgate_events") == 10);
            CHECK(value_of(store.delete_hook(account, other)));
        }
        CHECK(number_in(file, "SELECT count(*) FROM tollgate_deliveries") == 0);
        CHECK(number_in(file, "SELECT count(*) FROM tollgate_events") == 0);
        CHECK(number_in(file, "SELECT count(*) FROM tollgate_attempts") == 0);
        for (const hook& each : value_of(store.hooks_of(account))) value_of(store.delete_hook(account, each.id));
    }
}

namespace {

/// More deliveries of the hook, inserted directly: reporting each would take a commit.
void add_deliveries(sqlite::database& file, hook_id to, std::int64_t count, std::optional<instant> ended_at) {
    REQUIRE(file.run("WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers "
                     "WHERE number < ?2) INSERT INTO tollgate_events (id, service, account, name, data, happened_at) "
                     "SELECT ?1 * 1000000 + number, 'sitesmaker', 42, 'site.published', 'null', 1 FROM numbers",
                     to, count));
    REQUIRE(file.run("INSERT INTO tollgate_deliveries (hook, event, host, message_id, created_at, state, due_at, "
                     "ended_at) SELECT ?1, id, 'https://example.com', 'msg_' || printf('%022d', id), 1, "
                     "CASE WHEN ?2 IS NULL THEN 'waiting' ELSE 'delivered' END, CASE WHEN ?2 IS NULL THEN ?3 END, ?2 "
                     "FROM tollgate_events WHERE id > ?1 * 1000000 AND id <= (?1 + 1) * 1000000",
                     to, ended_at, noon));
    REQUIRE(file.run("UPDATE tollgate_hooks SET ready_at = ?2 WHERE id = ?1 AND ?3 IS NULL", to, noon, ended_at));
}

}  // namespace

TEST_CASE("a deleted hook with a large backlog on disk is removed at once, and its backlog in steps") {
    temporary_directory directory;
    const auto path = directory.file("tollgate.db");
    sqlite_store store{path};
    auto file = *sqlite::database::open(path);
    const auto account = sample_account(), other = sample_account("sitesmaker", 43);
    const auto busy = listen(store, account);
    const auto other_hook = listen(store, other);  // at the same host
    report(store, account);
    add_deliveries(file, busy, 4500, std::nullopt);
    const auto rows = [&] { return number_in(file, "SELECT count(*) FROM tollgate_deliveries"); };
    REQUIRE(rows() == 4501);
    auto terms = sample_terms(noon);
    terms.host_leases_max = 8;
    const auto leased = lease_due(store, terms);
    REQUIRE(leased.size() == 8);
    expect_completed(store, completed(leased[7], delivery_outcome::retry), completion::done);
    report(store, other, 1, noon + seconds{1});
    value_of(store.change_hook(account, busy, hook_secret_replacement{"whsec_x", noon + seconds{60}}));
    CHECK(value_of(store.delete_hook(account, busy)));
    CHECK(rows() == 4502 - 7 - 1000);
    CHECK(value_of(store.hooks_of(account)).empty());
    CHECK_FALSE(value_of(store.account_of_hook(account.service, busy)));
    CHECK_FALSE(value_of(store.delete_hook(account, busy)));
    CHECK(number_in(file, "SELECT count(*) FROM tollgate_hooks WHERE secret = ''") == 1);
    CHECK(number_in(file, "SELECT count(*) FROM tollgate_hook_secrets") == 0);
    CHECK(deliveries(store, account, busy).empty());
    CHECK(value_of(testing::detail::attempts_of(store, account, busy, 10)).empty());
    CHECK(value_of(store.append_event(sample_event(account), sample_seed(1), noon)) == 0);
    for (const due_delivery& each : leased) {
        CHECK_FALSE(value_of(store.resend(account, each.lease.delivery, noon)));
        CHECK(complete_one(store, completed(each, delivery_outcome::retry)) == completion::too_late);
    }
    terms.now += seconds{1};
    CHECK(due_hook_ids(store, terms.now) == std::vector{other_hook});
    CHECK(value_of(store.sweep({.deliveries_ended_before = noon, .rows_max = 1000})) == 1000);
    CHECK(rows() == 4502 - 7 - 2000);
    CHECK(value_of(store.sweep({.deliveries_ended_before = noon, .rows_max = 1000})) == 1000);
    CHECK(value_of(store.sweep({.deliveries_ended_before = noon, .rows_max = 1000})) == 1000);
    const auto due = lease_due(store, terms);
    REQUIRE(due.size() == 1);
    CHECK(due[0].hook == other_hook);
    expect_completed(store, completed(due[0], delivery_outcome::delivered), completion::done);
    CHECK(value_of(store.sweep({.deliveries_ended_before = noon, .rows_max = 1000})) < 1000);
    CHECK(value_of(store.sweep({.deliveries_ended_before = noon, .rows_max = 1000})) == 0);
    CHECK(lease_due_at(store, noon + seconds{600}).empty());
    CHECK_FALSE(value_of(store.due_hooks(noon + seconds{600}, 10)).next_at);
    CHECK(rows() == 1);
    CHECK(number_in(file, "SELECT count(*) FROM tollgate_hooks") == 1);
    CHECK(number_in(file, "SELECT count(*) FROM tollgate_events") == 1);
    CHECK(number_in(file, "SELECT count(*) FROM tollgate_attempts") == 1);
}

namespace {

/// A store of which one hook has 2,500 due deliveries.
struct store_with_backlog {
    temporary_directory directory;
    sqlite_store store{directory.file("tollgate.db")};
    sqlite::database file = *sqlite::database::open(directory.file("tollgate.db"));
    const account_ref account = sample_account();
    const hook_id hook = listen(store, account);
    lease_terms one = sample_terms(noon);  // for one delivery

    store_with_backlog() {
        add_deliveries(file, hook, 2500, std::nullopt);
        one.deliveries_max = 1;
    }
    due_delivery lease_one() {
        auto leased = lease_due(store, one);
        REQUIRE(leased.size() == 1);
        return std::move(leased[0]);
    }
    /// Disables the hook: one delivery is given up, all others are held.
    void hold_all() {
        expect_completed(store, completed(lease_one(), delivery_outcome::gone), completion::hook_disabled);
        while (number_in(file, "SELECT count(*) FROM tollgate_deliveries WHERE state = 'held'") < 2499)
            CHECK(lease_due(store, one).empty());
    }
    /// A store whose calls have no time for a second step.
    [[nodiscard]] sqlite_store without_waits() const {
        sqlite_settings settings;
        settings.busy_wait_max = milliseconds{0};
        return sqlite_store{directory.file("tollgate.db"), settings};
    }
};

}  // namespace

TEST_CASE_METHOD(store_with_backlog, "a backlog on disk is held and released in steps, and listed as if the step were complete") {
    const auto count = [&] { return number_in(file, "SELECT count(*) FROM tollgate_deliveries WHERE state = 'held'"); };
    const auto all_are = [&](delivery_state state) {
        const auto listed = deliveries(store, account, hook);
        CHECK(listed.size() == 2500);
        return std::all_of(listed.begin(), listed.end(), [&](const delivery& each) {
            return (each.state == state || each.state == delivery_state::given_up) &&
                   each.next_attempt_at.has_value() == (each.state == delivery_state::waiting);
        });
    };
    const auto leased = lease_one();
    expect_completed(store, completed(leased, delivery_outcome::gone), completion::hook_disabled);
    CHECK(count() == 1000);
    CHECK(all_are(delivery_state::held));
    for (const std::int64_t held : {2000, 2499, 2499}) {
        CHECK(lease_due(store, one).empty());
        CHECK(count() == held);
        CHECK(all_are(delivery_state::held));
    }
    CHECK_FALSE(value_of(store.due_hooks(noon, 10)).next_at);

    // Which were released while the hook was still disabled, so that nothing was sent between the steps.
    REQUIRE(file.run("CREATE TABLE released (while_disabled INTEGER)"));
    REQUIRE(file.run("CREATE TRIGGER releases AFTER UPDATE OF state ON tollgate_deliveries BEGIN INSERT INTO released "
                     "SELECT disabled_at IS NOT NULL FROM tollgate_hooks WHERE id = new.hook; END"));
    CHECK_FALSE(value_of(store.change_hook(sample_account("sitesmaker", 43), hook, hook_enabling{noon})));
    CHECK(count() == 2499);
    CHECK(value_of(store.change_hook(account, hook, hook_enabling{noon})));
    CHECK(number_in(file, "SELECT count(*) FROM released WHERE while_disabled") == 2499);
    CHECK(number_in(file, "SELECT count(*) FROM released") == 2499);
    CHECK(count() == 0);
    CHECK(all_are(delivery_state::waiting));
    CHECK(lease_due(store, one).size() == 1);
}

TEST_CASE_METHOD(store_with_backlog, "deliveries of a disabled hook that were not due yet are due when it is enabled") {
    const auto leased = lease_one();
    REQUIRE(file.run("UPDATE tollgate_deliveries SET due_at = due_at + 3600000, attempts_made = 3 WHERE due_at IS NOT NULL"));
    expect_completed(store, completed(leased, delivery_outcome::gone), completion::hook_disabled);
    CHECK(lease_due(store, one).empty());
    const auto fresh = [&] {
        return number_in(file, "SELECT count(*) FROM tollgate_deliveries WHERE due_at IS NOT NULL AND attempts_made = 0");
    };
    CHECK(fresh() == 0);

    // If it is not enabled in the last step, what the others have released is held again.
    REQUIRE(file.run("CREATE TRIGGER stops BEFORE UPDATE OF disabled_at ON tollgate_hooks BEGIN SELECT RAISE (ABORT, 'stopped'); END"));
    CHECK_FALSE(store.change_hook(account, hook, hook_enabling{noon}));
    CHECK(fresh() == 2499);
    CHECK(due_hook_ids(store, noon + seconds{59}).empty());
    auto later = sample_terms(noon + seconds{60});
    for (int i = 0; i < 3; ++i) CHECK(lease_due(store, later).empty());
    CHECK(fresh() == 0);
    CHECK(number_in(file, "SELECT count(*) FROM tollgate_deliveries WHERE state = 'held'") >= 2000);

    REQUIRE(file.run("DROP TRIGGER stops"));
    CHECK(value_of(store.change_hook(account, hook, hook_enabling{later.now})));
    CHECK(fresh() == 2499);
    CHECK_FALSE(lease_due(store, later).empty());
}

TEST_CASE_METHOD(store_with_backlog, "a call without enough time to enable a hook leaves the rest to later calls") {
    hold_all();
    sqlite_store hurried = without_waits();

    const auto now = noon + seconds{5};
    for (const std::int64_t released : {1000, 2000}) {
        expect_error(hurried.change_hook(account, hook, hook_enabling{now}), error_kind::unavailable);
        CHECK(number_in(file, "SELECT count(*) FROM tollgate_deliveries WHERE due_at IS NOT NULL") == released);
        CHECK(listed_hook(store, account, hook).disabled);
        CHECK(due_hook_ids(store, now).empty());
    }
    CHECK(value_of(hurried.change_hook(account, hook, hook_enabling{now + seconds{1}})));
    CHECK_FALSE(listed_hook(store, account, hook).disabled);
    CHECK(number_in(file, "SELECT count(*) FROM tollgate_deliveries WHERE due_at IS NOT NULL AND attempts_made = 0") == 2499);
    CHECK(due_hook_ids(store, now + seconds{1}) == std::vector{hook});
}

TEST_CASE_METHOD(store_with_backlog, "deliveries that are held again while a hook is enabled in several calls keep their place") {
    hold_all();
    sqlite_store hurried = without_waits();

    const auto now = noon + seconds{5};
    for (int calls = 0; calls < 2; ++calls) expect_error(hurried.change_hook(account, hook, hook_enabling{now}), error_kind::unavailable);
    one.now = now + std::chrono::minutes{1};
    CHECK(lease_due(store, one).empty());
    CHECK(number_in(file, "SELECT count(*) FROM tollgate_deliveries WHERE state = 'held'") == 1499);

    CHECK(value_of(store.change_hook(account, hook, hook_enabling{one.now})));
    auto all = sample_terms(one.now);
    all.deliveries_max = all.host_leases_max = 2500;
    std::vector<delivery_id> sent;
    for (const due_delivery& each : lease_due(store, all)) sent.push_back(each.lease.delivery);
    CHECK(sent.size() == 2499);
    CHECK(std::is_sorted(sent.begin(), sent.end()));
}

TEST_CASE("the newest of a hook's ended deliveries are retained, up to the bound") {
    temporary_directory directory;
    const auto path = directory.file("tollgate.db");
    sqlite_store store{path};
    auto file = *sqlite::database::open(path);
    const auto account = sample_account(), other = sample_account("sitesmaker", 43);
    const auto busy = listen(store, account), other_hook = listen(store, other);
    add_deliveries(file, busy, limits::ended_deliveries_per_hook_max, noon);
    add_deliveries(file, other_hook, limits::ended_deliveries_per_hook_max, noon);
    const auto rows_of = [&](hook_id of) {
        return std::get<0>(value_of(file.prepare("SELECT count(*) FROM tollgate_deliveries WHERE hook = ?", of)
                                        .next<std::int64_t>())
                               .value());
    };
    constexpr std::int64_t retained = limits::ended_deliveries_per_hook_max;
    report(store, account, 250);
    std::vector<attempt_result> ended;
    for (const due_delivery& each : lease_due_at(store, noon))
        ended.push_back(completed(each, ended.size() % 2 == 0 ? delivery_outcome::delivered : delivery_outcome::given_up));
    value_of(store.complete(ended, noon));
    const auto last_trim = std::find_if(ended.rbegin(), ended.rend(), [](const attempt_result& each) {
        return sql::trims_history(each.lease.delivery, delivery_state::delivered);
    });
    REQUIRE(last_trim != ended.rend());
    const auto since_then = last_trim - ended.rbegin();
    CHECK(rows_of(busy) == retained + since_then);
    CHECK(rows_of(other_hook) == retained);
    CHECK(only_of(deliveries(store, account, busy), ended[0].lease.delivery).state == delivered);
    CHECK(number_in(file, "SELECT count(*) FROM tollgate_events") == 2 * retained + since_then);
}

TEST_CASE("a store of version 3 is migrated, and failing hooks stay failing") {
    temporary_directory directory;
    const auto path = directory.file("tollgate.db");
    {
        auto file = *sqlite::database::open(path);
        REQUIRE(sqlite::migrate(file, sqlite::store_component, std::span{sqlite::store_steps}.first(3)));
        for (const auto& [last, number] : {std::pair{noon, std::int64_t{1}}, {noon - seconds{60}, 2}}) {
            REQUIRE(file.run("INSERT INTO tollgate_hooks (service, account, event, source, type, target_url, secret, "
                             "created_at, failing_since) VALUES ('sitesmaker', 42, 'site.published', 'manual', "
                             "'webhook', 'https://example.com/', 'whsec_x', 1, ?)",
                             noon - seconds{600}));
            REQUIRE(file.run("INSERT INTO tollgate_events (service, account, name, data, happened_at) "
                             "VALUES ('sitesmaker', 42, 'site.published', 'null', 1)"));
            REQUIRE(file.run("INSERT INTO tollgate_deliveries (hook, event, host, message_id, created_at, due_at) "
                             "VALUES (?1, ?1, 'https://example.com', 'msg_x', 1, ?2)",
                             number, noon));
            for (const instant at : {last - seconds{1}, last, last - seconds{2}})
                REQUIRE(file.run("INSERT INTO tollgate_attempts (delivery, hook, began_at, duration, outcome, status, "
                                 "answer) VALUES (?1, ?1, ?2, 1, 'answered', 500, x'')",
                                 number, at));
        }
    }
    sqlite_store store{path};
    report(store, sample_account());
    std::set<std::int64_t> completed_of;
    for (const due_delivery& each : lease_due_at(store, noon + seconds{10})) {
        if (!completed_of.insert(each.hook.value()).second) continue;
        auto ended = completed(each, delivery_outcome::given_up, noon + seconds{10});
        ended.disable_if_failing_since = noon - seconds{30};
        // Hook 1 has been failing since before the migration, the other only since this attempt.
        CHECK(complete_one(store, ended) ==
              (each.hook == hook_id{1} ? completion::hook_disabled : completion::done));
    }
    CHECK(completed_of.size() == 2);
    CHECK(listed_hook(store, sample_account(), hook_id{1}).failing_since == noon - seconds{600});
    CHECK(listed_hook(store, sample_account(), hook_id{2}).failing_since == noon + seconds{10});
}

TEST_CASE("a store of version 2 is migrated, and its hooks get events") {
    temporary_directory directory;
    const auto path = directory.file("tollgate.db");
    {
        auto file = *sqlite::database::open(path);
        REQUIRE(sqlite::migrate(file, sqlite::store_component, std::span{sqlite::store_steps}.first(2)));
        REQUIRE(
            file.run("INSERT INTO tollgate_hooks (service, account, event, source, type, target_url, secret, "
                     "created_at, previous_secret, previous_secret_until) VALUES ('sitesmaker', 42, "
                     "'site.published', 'manual', 'webhook', 'https://example.com/', 'whsec_x', 1, 'whsec_y', ?)",
                     noon + seconds{1}));
    }
    sqlite_store store{path};
    const auto listed = value_of(store.hooks_of(sample_account()));
    REQUIRE(listed.size() == 1);
    CHECK_FALSE(listed[0].disabled);
    CHECK_FALSE(listed[0].failing_since);
    report(store, sample_account());
    const auto due = lease_one(store, noon);
    CHECK(due.secret == "whsec_x");
    CHECK(due.previous_secrets == std::vector<std::string>{"whsec_y"});
}

#include <tollgate/store/postgres_database.hpp>

#include <tollgate/store/detail/postgres/migrations.hpp>
#include <tollgate/store/detail/postgres/remove_deliveries.hpp>
#include <tollgate/store/detail/postgres/schema.hpp>
#include <tollgate/store/postgres_database.hpp>
#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <support/eventually.hpp>
#include <support/child_process.hpp>
#include <support/own_connection.hpp>
#include <support/postgres_server.hpp>
#include <support/store_processes.hpp>
#include <support/tcp_proxy.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

using namespace tollgate;
using namespace tollgate::testing;
using namespace tollgate::testing::detail;
using tollgate_test::eventually;
using tollgate_test::child_process;
using tollgate_test::number_pipe;
using tollgate_test::own_connection;
using tollgate_test::postgres_server;
using tollgate_test::tcp_proxy;

namespace {

std::string count_of(const std::string& schema, const std::string& table) {
    return postgres_server::run(schema, "SELECT count(*) FROM tollgate_" + table).at(0);
}

/// Counts the notifications that any connection sends on the channel of due deliveries.
class notification_counter {
public:
    explicit notification_counter(const std::string& schema) : on_{schema} { REQUIRE(on_.run("LISTEN tollgate_deliveries")); }

    /// The notifications since the last call. PostgreSQL delivers them in the order of their commits, including those of a
    /// session to itself, so all that were sent before have arrived.
    std::size_t count() {
        REQUIRE(on_.run("NOTIFY tollgate_deliveries, 'end'"));
        std::size_t counted = 0;
        bool ended = false;
        while (PGnotify* const each = PQnotifies(on_.handle())) {
            ended = std::string{each->extra} == "end";
            counted += ended ? 0 : 1;
            PQfreemem(each);
        }
        REQUIRE(ended);
        return counted;
    }

private:
    own_connection on_;
};

void wait_until_it_listens(postgres_store& store) {
    REQUIRE(eventually([&] { return store.changes_seen().has_value(); }));
}

}  // namespace

TEST_CASE("nodes that lease at once never get the same delivery, and everything is delivered") {
    const auto schema = postgres_server::shared().new_schema();
    tollgate_test::check_concurrent_leases([&] { return postgres_store{schema}; });
}

TEST_CASE("a host never has more leases than requested, over all nodes") {
    constexpr std::size_t per_host_max = 3;
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    const auto account = sample_account();
    postgres_store store{schema};
    for (const char* each : {"https://a.example/", "https://b.example/"}) listen_at(store, account, each);
    report(store, account, 100);
    std::mutex mutex;
    std::map<std::string, std::size_t> in_flight;
    std::atomic<std::size_t> delivered{0}, too_many{0};
    std::vector<std::thread> nodes;
    for (int i = 0; i < 4; ++i)
        nodes.emplace_back([&] {
            postgres_store node{schema};
            while (delivered < 200) {
                auto terms = sample_terms(noon);
                terms.host_leases_max = per_host_max;
                const auto leased = lease_due(node, terms);
                {
                    const std::scoped_lock lock{mutex};
                    for (const due_delivery& each : leased)
                        if (++in_flight[each.target_url] > per_host_max) ++too_many;
                }
                std::vector<attempt_result> ended;
                for (const due_delivery& each : leased) ended.push_back(completed(each, delivery_outcome::delivered));
                {
                    const std::scoped_lock lock{mutex};
                    for (const due_delivery& each : leased) --in_flight[each.target_url];
                }
                value_of(node.complete(ended, noon));
                delivered += ended.size();
            }
        });
    for (auto& each : nodes) each.join();
    CHECK(too_many == 0);
    CHECK(delivered == 200);
}

TEST_CASE("a locked host delays no other lease, and is tried again shortly after") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    postgres_store store{schema};
    const auto one = sample_account("sitesmaker", 1), other = sample_account("sitesmaker", 2);
    listen_at(store, one, "https://one.example/");
    listen_at(store, other, "https://other.example/");
    report(store, one);
    report(store, other);
    own_connection hang{schema};
    REQUIRE(hang.run("BEGIN; SELECT FROM tollgate_hosts WHERE name LIKE '%one%' FOR NO KEY UPDATE"));
    const auto first = lease_due_at(store, noon);
    REQUIRE(first.size() == 1);
    CHECK(first[0].target_url == "https://other.example/");
    CHECK(due_hook_ids(store, noon).size() == 1);  // it stays listed
    REQUIRE(hang.run("ROLLBACK"));
    CHECK(lease_one(store, noon).target_url == "https://one.example/");
}

TEST_CASE("a node that hangs loses its deliveries when their leases end") {
    auto& server = postgres_server::shared();
    tcp_proxy proxy{server.socket_path()};
    const auto schema = server.new_schema();
    postgres_store good{schema};
    postgres_settings settings;
    settings.response_wait_max = settings.connect_wait_max = milliseconds{300};
    const auto account = sample_account();
    listen(good, account);
    report(good, account);
    postgres_store bad{proxy.connection_string(schema.substr(schema.find("options="))), settings};
    const auto leased = lease_one(bad, noon);
    proxy.set_mode(tcp_proxy::mode::hang);
    const auto ended = completed(leased, delivery_outcome::delivered);
    expect_error(bad.complete({&ended, 1}, noon), error_kind::unavailable);
    expect_none_due(good, noon + seconds{29});
    CHECK(lease_one(good, noon + seconds{30}).lease.delivery == leased.lease.delivery);
}

TEST_CASE("acknowledged events are delivered even if a node is killed") {
    postgres_server server{postgres_server::disk::waited_for};
    const auto schema = server.new_schema();
    const auto account = sample_account();
    {
        postgres_store store{schema};
        listen(store, account);
    }
    std::size_t acknowledged = 0;
    for (int round = 0; round < 2; ++round) {
        number_pipe reported;
        child_process node{[&, round] {
            reported.close_reading();
            postgres_store store{schema};
            for (std::uint64_t n = 1;; ++n) {
                const auto appended = store.append_event(
                    sample_event(account), sample_seed(static_cast<std::uint64_t>(round) * 1'000'000 + n), noon);
                if (!appended) return 0;
                reported.put(static_cast<std::int64_t>(*appended));
            }
        }};
        reported.close_writing();
        for (int n = 0; n < 40; ++n, ++acknowledged) REQUIRE(reported.take() == 1);
        if (round == 0) node.kill();
        else server.kill();
        while (reported.take()) ++acknowledged;
    }
    server.start();
    postgres_store store{schema};
    std::set<public_id> messages;
    for (const due_delivery& each : lease_due_at(store, noon)) messages.insert(each.message_id);
    CHECK(messages.size() >= acknowledged);
    CHECK(messages.size() <= acknowledged + 2);
}

TEST_CASE("an event in a caller's transaction commits together with the caller's rows, or not at all") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    postgres_store store{schema};
    const auto account = sample_account();
    listen(store, account);
    own_connection own{schema};
    postgres_own_transaction outbox{store, own.handle()};
    REQUIRE(own.run("CREATE TABLE sites (name text PRIMARY KEY)"));
    const auto append = [&](std::uint64_t seed) {
        return outbox.append_event(sample_event(account), sample_seed(seed), noon);
    };

    expect_error(append(1), error_kind::invalid);  // there is no transaction
    REQUIRE(own.run("BEGIN; INSERT INTO sites VALUES ('a')"));
    CHECK(value_of(append(1)) == 1);
    CHECK(value_of(append(2)) == 1);
    expect_none_due(store, noon);
    REQUIRE(own.run("COMMIT"));
    CHECK(lease_due_at(store, noon).size() == 2);

    REQUIRE(own.run("BEGIN; INSERT INTO sites VALUES ('b')"));
    CHECK(value_of(append(3)) == 1);
    REQUIRE(own.run("ROLLBACK"));
    expect_none_due(store, noon);

    REQUIRE(own.run("BEGIN"));
    CHECK(value_of(outbox.append_event(sample_event(sample_account("sitesmaker", 999)), sample_seed(4), noon)) == 0);
    CHECK(own.run("INSERT INTO sites VALUES ('c')"));
    CHECK_FALSE(own.run("INSERT INTO sites VALUES ('a')"));
    expect_error(append(5), error_kind::invalid);  // the transaction has failed
    REQUIRE(own.run("ROLLBACK"));
    expect_none_due(store, noon);
    expect_error(postgres_own_transaction(store, nullptr).append_event(sample_event(account), sample_seed(8), noon),
                   error_kind::invalid);
}

TEST_CASE("after an error the caller's transaction continues without the event") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    postgres_store store{schema};
    const auto account = sample_account();
    listen(store, account);
    own_connection own{schema};
    postgres_own_transaction outbox{store, own.handle()};
    REQUIRE(own.run("CREATE TABLE sites (name text PRIMARY KEY)"));
    const auto expect_refused = [&](const event& reported_event, error_kind kind, const char* prepared,
                                    const char* restored) {
        CAPTURE(prepared);
        REQUIRE(own.run("BEGIN"));
        REQUIRE(own.run("INSERT INTO sites VALUES ('x')"));
        REQUIRE(own.run(prepared));
        expect_error(outbox.append_event(reported_event, sample_seed(1), noon), kind);
        CHECK(own.run(restored));
        CHECK(own.run("INSERT INTO sites VALUES ('y')"));
        REQUIRE(own.run("COMMIT"));
        CHECK(postgres_server::run(schema, "DELETE FROM sites RETURNING name").size() == 2);
        expect_none_due(store, noon);
    };
    auto refused = sample_event(account);
    refused.data = std::string{"\"\0\"", 3};
    expect_refused(refused, error_kind::invalid, "SELECT 1", "SELECT 1");
    expect_refused(sample_event(account), error_kind::invalid, "SET LOCAL client_encoding = 'LATIN1'", "SELECT 1");
    expect_refused(sample_event(account), error_kind::internal, "ALTER TABLE tollgate_due_notices RENAME TO elsewhere",
                   "ALTER TABLE elsewhere RENAME TO tollgate_due_notices");
    REQUIRE(own.run("BEGIN"));
    CHECK(value_of(outbox.append_event(sample_event(account), sample_seed(2), noon)) == 1);
    REQUIRE(own.run("COMMIT"));
    CHECK(lease_one(store, noon).message_id == message_id_of(sample_seed(2), hook_id{1}));
}

TEST_CASE("events of any node are notified at once, also from a transaction and after an outage") {
    postgres_server server;
    const auto schema = server.new_schema();
    postgres_store listening{schema}, reporting{schema};
    const auto account = sample_account();
    const auto hook = listen(reporting, account);
    wait_until_it_listens(listening);

    const auto expect_told = [&](const char* of, const auto& act) {
        CAPTURE(of);
        const auto before = listening.changes_seen();
        act();
        CHECK(eventually([&] {
            const auto seen = listening.changes_seen();
            return seen && seen != before;
        }));
    };
    expect_told("append_event", [&] { report(reporting, account); });
    expect_told("resend", [&] {
        const auto delivery = lease_one(listening, noon);
        expect_completed(listening, completed(delivery, delivery_outcome::gone), completion::hook_disabled);
        value_of(reporting.change_hook(account, hook, hook_enabling{noon}));
        value_of(reporting.resend(account, delivery.lease.delivery, noon));
    });
    CHECK(lease_due_at(listening, noon).size() == 1);
    own_connection own{schema};
    notification_counter notifications{schema};
    REQUIRE(own.run("BEGIN"));
    value_of(
        postgres_own_transaction(reporting, own.handle()).append_event(sample_event(account), sample_seed(100), noon));
    CHECK(notifications.count() == 0);
    expect_told("COMMIT", [&] { REQUIRE(own.run("COMMIT")); });
    CHECK(notifications.count() == 1);
    CHECK(lease_due_at(listening, noon).size() == 1);

    report(reporting, sample_account("sitesmaker", 999));  // no hook has this account
    CHECK(notifications.count() == 0);

    const auto before_the_stop = listening.changes_seen();
    server.stop();
    CHECK(eventually([&] { return !listening.changes_seen(); }));
    server.start();
    wait_until_it_listens(listening);
    CHECK(listening.changes_seen() != before_the_stop);  // something may have been missed
    REQUIRE(eventually([&] { return reporting.hooks_of(account).has_value(); }));
    expect_told("append_event again", [&] { report(reporting, account); });
}

TEST_CASE("nothing remains of swept deliveries: no events, attempts, hosts or notices") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    postgres_store store{schema};
    const auto account = sample_account();
    const auto swept = listen_at(store, account, "https://one.example/a");
    listen_at(store, account, "https://one.example/b");
    const auto alone = listen_at(store, account, "https://two.example/");
    report(store, account, 3);
    std::vector<attempt_result> ended;
    for (const due_delivery& each : lease_due_at(store, noon)) ended.push_back(completed(each, delivery_outcome::delivered));
    value_of(store.complete(ended, noon));
    CHECK(count_of(schema, "attempts") == "9");
    CHECK(count_of(schema, "due_notices") == "0");
    CHECK(count_of(schema, "hosts") == "2");
    CHECK(value_of(store.sweep({.deliveries_ended_before = noon + seconds{1}, .rows_max = 4})) == 4);
    CHECK(value_of(store.sweep({.deliveries_ended_before = noon + seconds{1}, .rows_max = 100})) == 5);
    for (const char* each : {"deliveries", "attempts", "events"}) CHECK(count_of(schema, each) == "0");

    report(store, account, 2);
    CHECK(value_of(store.delete_hook(account, alone)));
    CHECK(count_of(schema, "hosts") == "1");
    CHECK(count_of(schema, "events") == "2");
    CHECK(value_of(store.delete_hook(account, swept)));
    CHECK(count_of(schema, "hosts") == "1");  // the other hook's
    for (const hook& each : value_of(store.hooks_of(account))) CHECK(value_of(store.delete_hook(account, each.id)));
    expect_none_due(store, noon);
    for (const char* each : {"hosts", "hooks", "deliveries", "events", "attempts", "due_notices"})
        CHECK(count_of(schema, each) == "0");

    // A hook over the bound leaves no host row.
    value_of(store.create_hook(sample_hook(account), 1));
    auto refused = sample_hook(account);
    refused.target_url = "https://refused.example/";
    expect_error(store.create_hook(refused, 1), error_kind::invalid);
    CHECK(count_of(schema, "hosts") == "1");
}

TEST_CASE("a hook that is deleted while an event is sent to it leaves nothing") {
    const auto schema = postgres_server::shared().new_schema();
    postgres_store store{schema};
    const auto account = sample_account();
    const auto hook = listen(store, account);
    own_connection own{schema};
    REQUIRE(own.run("BEGIN"));
    CHECK(value_of(postgres_own_transaction(store, own.handle()).append_event(sample_event(account), sample_seed(1), noon)) == 1);
    CHECK(value_of(store.delete_hook(account, hook)));  // does not wait
    CHECK_FALSE(value_of(store.due_hooks(noon, 10)).next_at);  // nor tries again at once
    CHECK(count_of(schema, "hooks") == "1");
    CHECK(own.run("COMMIT"));
    value_of(store.due_hooks(noon, 10));  // works on the backlog
    for (const char* each : {"hooks", "deliveries", "events", "hosts"}) CHECK(count_of(schema, each) == "0");
}

TEST_CASE("a late result waits for the host that its hook has now") {
    const auto schema = postgres_server::shared().new_schema();
    postgres_store store{schema};
    const auto account = sample_account();
    const auto hook = listen_at(store, account, "https://one.example/");
    report(store, account);
    const auto sent = lease_one(store, noon);
    CHECK(value_of(store.change_hook(account, hook, hook_fields{"site.published", "https://two.example/", 100})));
    own_connection own{schema};
    REQUIRE(own.run("BEGIN; SELECT FROM tollgate_hosts WHERE name = 'https://two.example' FOR UPDATE"));
    std::thread completes{[&] { (void)store.complete(std::vector{completed(sent, delivery_outcome::delivered)}, noon); }};
    CHECK(eventually([&] { return own.blocks_another(schema); }));
    CHECK(own.run("COMMIT"));
    completes.join();
    expect_none_due(store, noon);
}

TEST_CASE("a delivery that is removed meanwhile is not sent again") {
    const auto schema = postgres_server::shared().new_schema();
    postgres_store store{schema};
    const auto account = sample_account();
    listen(store, account);
    report(store, account);
    const auto sent = lease_one(store, noon);
    expect_completed(store, completed(sent, delivery_outcome::given_up), completion::done);
    own_connection own{schema};
    REQUIRE(own.run("BEGIN; DELETE FROM tollgate_deliveries"));
    std::optional<result<bool>> resent;
    std::thread resends{[&] { resent.emplace(store.resend(account, sent.lease.delivery, noon)); }};
    CHECK(eventually([&] { return own.blocks_another(schema); }));
    CHECK(own.run("COMMIT"));
    resends.join();
    expect_error(*resent, error_kind::unavailable);
    CHECK_FALSE(value_of(store.resend(account, sent.lease.delivery, noon)));
}

TEST_CASE("hooks are created and deleted while others send to the same host") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    std::atomic<bool> over{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&, i] {
            postgres_store store{schema};
            const auto account = sample_account("sitesmaker", i + 1);
            for (int n = 0; n < 40; ++n) {
                const auto hook = listen(store, account), other = listen(store, account);
                report(store, account, 2);
                value_of(store.delete_hook(account, hook));
                value_of(store.resend(account, delivery_id{n + 1}, noon));
                value_of(store.change_hook(account, other, hook_enabling{noon}));
                value_of(store.delete_hook(account, other));
            }
        });
    for (int i = 0; i < 2; ++i)
        threads.emplace_back([&] {
            postgres_store store{schema};
            while (!over) {
                std::vector<attempt_result> ended;
                for (const due_delivery& each : lease_due_at(store, noon))
                    ended.push_back(
                        completed(each, ended.size() % 3 == 0 ? delivery_outcome::gone : delivery_outcome::delivered));
                value_of(store.complete(ended, noon));
                value_of(store.sweep({.deliveries_ended_before = noon + seconds{1}, .rows_max = 10}));
            }
        });
    for (std::size_t i = 0; i < 3; ++i) threads[i].join();
    over = true;
    for (std::size_t i = 3; i < threads.size(); ++i) threads[i].join();
    postgres_store store{schema};
    // Each lease removes one of the hooks that were deleted while others held their rows.
    for (int turns = 0; turns < 240 && count_of(schema, "hooks") != "0"; ++turns) expect_none_due(store, noon);
    expect_none_due(store, noon);
    for (const char* each : {"hosts", "hooks", "deliveries", "events", "attempts", "due_notices"}) {
        CAPTURE(each);
        CHECK(count_of(schema, each) == "0");
    }
}

namespace {

/// Adds deliveries for the hook of account 42 that are due at this time.
void insert_deliveries(const std::string& schema, std::size_t count, instant at) {
    postgres_server::run(schema, "WITH made AS (INSERT INTO tollgate_events (service, account_id, name, data, happened_at, seed) "
                                 "SELECT 'sitesmaker', 42, 'site.published', '{}', 0, decode(repeat('ab', 16), 'hex') "
                                 "FROM generate_series(1, " + std::to_string(count) + ") RETURNING id) "
                                 "INSERT INTO tollgate_deliveries (event_id, hook_id, host_id, created_at, at) "
                                 "SELECT made.id, hooks.id, host_id, 0, " + std::to_string(to_unix_milliseconds(at)) +
                                 " FROM made, tollgate_hooks AS hooks WHERE account_id = 42 RETURNING id");
}

}  // namespace

TEST_CASE("a backlog of any size is removed, held and released in steps, and listed as if the step were complete") {
    constexpr std::size_t waiting = 3500;
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    postgres_store store{schema};
    const auto account = sample_account(), other = sample_account("sitesmaker", 43);
    const auto hook = listen(store, account), beside = listen(store, other);
    const auto make_backlog = [&] {
        insert_deliveries(schema, waiting, noon);
        postgres_server::run(schema, "UPDATE tollgate_hooks SET ready_at = 0");
    };
    const auto all_are = [&](delivery_state state) {
        const auto listed = deliveries(store, account, hook);
        CHECK(listed.size() >= waiting);
        return std::all_of(listed.begin(), listed.end(), [&](const delivery& each) {
            return (each.state == state || each.state == delivery_state::given_up) &&
                   each.next_attempt_at.has_value() == (each.state == delivery_state::waiting);
        });
    };
    const auto work_off = [&](const std::string& rows) {
        std::size_t leases = 0;
        auto terms = sample_terms(noon);
        while (count_of(schema, rows) != "0") {
            REQUIRE(++leases < 20);
            terms.deliveries_max = 1;
            const auto leased = lease_due(store, terms);
            for (const due_delivery& each : leased) {
                auto back = completed(each, delivery_outcome::not_attempted);
                back.retry_at = noon;
                value_of(store.complete({&back, 1}, noon));
            }
        }
        return leases;
    };
    make_backlog();
    auto one = sample_terms(noon);
    one.deliveries_max = 1;
    const auto leased = lease_due(store, one);
    REQUIRE(leased.size() == 1);
    expect_completed(store, completed(leased[0], delivery_outcome::gone), completion::hook_disabled);
    CHECK(all_are(delivery_state::held));
    CHECK(value_of(store.backlog(noon, 10)).due == 0);
    CHECK_FALSE(value_of(store.backlog(noon, 10)).due_since);
    CHECK(work_off("deliveries WHERE state = 0") >= 2);
    CHECK(all_are(delivery_state::held));
    expect_none_due(store, noon + seconds{86'400});

    CHECK(value_of(store.change_hook(account, hook, hook_enabling{noon})));
    CHECK(all_are(delivery_state::waiting));
    CHECK(work_off("hooks WHERE has_backlog") >= 2);
    CHECK(all_are(delivery_state::waiting));
    auto many = sample_terms(noon);
    many.deliveries_max = many.host_leases_max = 10;
    CHECK(lease_due(store, many).size() == 10);

    report(store, other);
    CHECK(value_of(store.delete_hook(account, hook)));
    CHECK(deliveries(store, account, hook).empty());
    CHECK(value_of(store.hooks_of(account)).empty());
    CHECK_FALSE(value_of(store.delete_hook(account, hook)));
    CHECK_FALSE(value_of(store.account_of_hook(account.service, hook)));
    CHECK(std::stoul(count_of(schema, "deliveries")) > 1000);
    std::optional<due_delivery> others;
    for (int leases = 0; !others && leases < 20; ++leases)
        for (const due_delivery& each : lease_due(store, sample_terms(noon))) {
            CHECK(each.hook == beside);
            others = each;
        }
    CHECK(others);
    while (value_of(store.sweep({.deliveries_ended_before = noon - seconds{1}, .rows_max = 1000})) != 0) {
    }
    CHECK(count_of(schema, "deliveries") == "1");
    CHECK(count_of(schema, "events") == "1");
    CHECK(count_of(schema, "hooks") == "1");
}

TEST_CASE("deliveries that were not held yet are due when their hook is enabled") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    postgres_store store{schema};
    const auto account = sample_account();
    const auto hook = listen(store, account);
    insert_deliveries(schema, 2500, noon + std::chrono::hours{1});
    server.run(schema, "UPDATE tollgate_deliveries SET attempts_made = 3");
    // Disabled by another node that held none of them yet.
    server.run(schema, "UPDATE tollgate_hooks SET disabled_at = 0, disable_reason = 'gone', has_backlog = true");
    CHECK_FALSE(value_of(store.change_hook(sample_account("sitesmaker", 43), hook, hook_enabling{noon})));
    CHECK(count_of(schema, "deliveries WHERE state = 3") == "0");

    CHECK(value_of(store.change_hook(account, hook, hook_enabling{noon})));
    for (int steps = 0; steps < 3; ++steps) CHECK_FALSE(value_of(store.due_hooks(noon, 10)).problem);
    CHECK(count_of(schema, "deliveries WHERE state = 0 AND attempts_made = 0 AND at = " +
                               std::to_string(to_unix_milliseconds(noon))) == "2500");
    CHECK(count_of(schema, "hooks WHERE has_backlog") == "0");
}

TEST_CASE("held deliveries are due in the order of their ids, wherever their rows are in the table") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    postgres_store store{schema};
    const auto account = sample_account();
    const auto hook = listen(store, account);
    insert_deliveries(schema, 2500, noon);
    server.run(schema, "UPDATE tollgate_hooks SET disabled_at = 0, disable_reason = 'gone'");
    // Changed rows are appended to the table.
    for (const char* some : {"id > 2000", "id BETWEEN 1001 AND 2000", "id <= 1000"})
        server.run(schema, std::string{"UPDATE tollgate_deliveries SET state = 3 WHERE "} + some);
    server.run(schema, "ANALYZE tollgate_deliveries");

    CHECK(value_of(store.change_hook(account, hook, hook_enabling{noon})));
    CHECK(count_of(schema, "deliveries WHERE state = 0 AND id <= 1000") == "1000");
    CHECK_FALSE(value_of(store.due_hooks(noon, 10)).problem);
    CHECK(count_of(schema, "deliveries WHERE state = 0 AND id <= 2000") == "2000");
}

TEST_CASE("a call without enough time to enable a hook in PostgreSQL leaves the rest to a later one") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    postgres_settings settings;
    settings.response_wait_max = seconds{2};
    postgres_store store{schema, settings};
    const auto account = sample_account();
    const auto hook = listen(store, account);
    insert_deliveries(schema, 4500, noon);
    server.run(schema, "UPDATE tollgate_hooks SET disabled_at = 0, disable_reason = 'gone', has_backlog = true");
    // Each pass changes deliveries in two statements.
    server.run(schema, "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.6); RETURN NULL; END'; "
                       "CREATE TRIGGER slow AFTER UPDATE ON tollgate_deliveries EXECUTE FUNCTION slow()");
    expect_error(store.change_hook(account, hook, hook_enabling{noon}), error_kind::unavailable);
    CHECK(listed_hook(store, account, hook).disabled);
    CHECK(count_of(schema, "deliveries WHERE state = 3") != "0");
    server.run(schema, "DROP TRIGGER slow ON tollgate_deliveries");
    CHECK(value_of(store.change_hook(account, hook, hook_enabling{noon})));
    CHECK_FALSE(listed_hook(store, account, hook).disabled);
}

TEST_CASE("unread notices of a deleted hook hide no other hook") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    postgres_store store{schema};
    const auto account = sample_account(), other = sample_account("sitesmaker", 43);
    const auto hook = listen(store, account), beside = listen(store, other);
    report(store, account);
    server.run(schema, "INSERT INTO tollgate_due_notices (hook_id, due_at) SELECT " + std::to_string(hook.value()) +
                           ", 0 FROM generate_series(1, 3500)");
    report(store, other);
    // So that the rest of the deleted hook stays for a while.
    own_connection own{schema};
    REQUIRE(own.run("BEGIN"));
    REQUIRE(own.run("SELECT FROM tollgate_events WHERE id = (SELECT min(id) FROM tollgate_events) FOR UPDATE"));
    CHECK(value_of(store.delete_hook(account, hook)));
    CHECK(due_hook_ids(store, noon) == std::vector{beside});
    CHECK(value_of(store.backlog(noon, 10)).due == 1);
    REQUIRE(own.run("COMMIT"));
}

TEST_CASE("deliveries are removed in transactions of a hundred at most") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    postgres_store store{schema};
    const auto account = sample_account();
    const auto hook = listen(store, account);
    // With their attempts, more of them might take longer than a statement may.
    own_connection own{schema};
    REQUIRE(own.run("CREATE FUNCTION count_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                    "IF (SELECT count(*) FROM gone) > 100 THEN RAISE 'too many'; END IF; RETURN NULL; END $$; "
                    "CREATE TRIGGER removed AFTER DELETE ON tollgate_deliveries REFERENCING OLD TABLE AS gone "
                    "FOR EACH STATEMENT EXECUTE FUNCTION count_removed()"));
    insert_deliveries(schema, 250, from_unix_milliseconds(0));
    server.run(schema, "UPDATE tollgate_deliveries SET state = 1");
    CHECK(value_of(store.sweep({.deliveries_ended_before = noon, .rows_max = 120})) == 120);
    CHECK(value_of(store.sweep({.deliveries_ended_before = noon, .rows_max = 1000})) == 130);
    CHECK(value_of(store.sweep({.deliveries_ended_before = noon, .rows_max = 1000})) == 0);
    insert_deliveries(schema, 250, from_unix_milliseconds(0));
    server.run(schema, "UPDATE tollgate_deliveries SET state = 1");
    auto database = *postgres_database::open(schema);
    CHECK(value_of(postgres::remove_ended_beyond(database, hook, 120, 256)) == 130);
    CHECK(value_of(postgres::remove_ended_beyond(database, hook, 120, 256)) == 0);
    insert_deliveries(schema, 130, from_unix_milliseconds(0));
    CHECK(value_of(store.delete_hook(account, hook)));
    for (const char* left : {"150", "50", "0"}) {
        CHECK(count_of(schema, "deliveries") == left);
        CHECK_FALSE(value_of(store.due_hooks(noon, 10)).problem);
    }
    CHECK(count_of(schema, "hooks") == "0");
}

TEST_CASE("what is left of a change of one hook delays no other hook") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    postgres_store store{schema};
    const auto changed = sample_account(), other = sample_account("sitesmaker", 43);
    const auto hook = listen_at(store, changed, "https://changed.example/"), beside = listen(store, other);
    report(store, other);
    postgres_server::run(schema, "UPDATE tollgate_hooks SET has_backlog = true WHERE id = " + std::to_string(hook.value()) + " RETURNING id");
    own_connection own{schema};
    REQUIRE(own.run("BEGIN"));
    REQUIRE(own.run("SELECT FROM tollgate_hooks WHERE id = " + std::to_string(hook.value()) + " FOR UPDATE"));
    const auto page = value_of(store.due_hooks(noon, 10));
    REQUIRE(page.hooks.size() == 1);
    CHECK(page.hooks[0].hook == beside);
    REQUIRE(page.problem);
    CHECK(page.problem->kind == error_kind::unavailable);
    CHECK_FALSE(value_of(store.due_hooks(noon, 10)).problem);  // it waits for a while before it tries again
    REQUIRE(own.run("COMMIT"));
    postgres_store other_node{schema};
    CHECK(due_hook_ids(other_node, noon) == std::vector{beside});
    CHECK(count_of(schema, "hooks WHERE has_backlog") == "0");
}

TEST_CASE("what is left of a change is not tried again at once while another transaction has locked its host") {
    const auto schema = postgres_server::shared().new_schema();
    postgres_store store{schema};
    listen(store, sample_account());
    const bool is_deleted = GENERATE(false, true);
    postgres_server::run(schema, std::string{"UPDATE tollgate_hooks SET has_backlog = true"} + (is_deleted ? ", account_id = 0" : "") + " RETURNING id");
    own_connection own{schema};
    REQUIRE(own.run("BEGIN"));
    REQUIRE(own.run("SELECT FROM tollgate_hosts FOR UPDATE"));
    const auto page = value_of(store.due_hooks(noon, 10));
    CHECK_FALSE(page.problem);
    CHECK_FALSE(page.next_at);
    REQUIRE(own.run("COMMIT"));
    value_of(store.due_hooks(noon, 10));
    CHECK(count_of(schema, "hooks WHERE has_backlog") == "0");
}

TEST_CASE("at most slightly more than the bound of a hook's ended deliveries are retained") {
    constexpr std::size_t retained = limits::ended_deliveries_per_hook_max;
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    postgres_settings settings;
    settings.connections_max = 1;  // trimming needs no second one
    postgres_store store{schema, settings};
    const auto account = sample_account();
    listen(store, account);
    postgres_server::run(schema, "WITH made AS (INSERT INTO tollgate_events (service, account_id, name, data, "
                                "happened_at, seed) SELECT 'sitesmaker', 42, 'site.published', '{}', 0, "
                                "decode(repeat('ab', 16), 'hex') FROM generate_series(1, " +
                                    std::to_string(retained) +
                                    ") RETURNING id) INSERT INTO tollgate_deliveries (event_id, hook_id, host_id, "
                                    "created_at, at, state) SELECT made.id, hooks.id, host_id, 0, 0, 1 FROM made, "
                                    "tollgate_hooks AS hooks RETURNING id");
    for (int round = 0; round < 3; ++round) {
        report(store, account, 100);
        std::vector<attempt_result> ended;
        for (const due_delivery& each : lease_due_at(store, noon))
            ended.push_back(completed(each, delivery_outcome::delivered));
        REQUIRE(ended.size() == 100);
        value_of(store.complete(ended, noon));
        CHECK(count_of(schema, "deliveries") == std::to_string(retained));
        CHECK(count_of(schema, "events") == std::to_string(retained));
    }
}

TEST_CASE("a database of version 3 is migrated, and its waiting deliveries are sent") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    const std::string at = std::to_string(to_unix_milliseconds(noon));
    {
        auto pool = *postgres_database::open(schema);
        REQUIRE(pool.migrate(postgres::store_component, std::span{postgres::store_steps}.first(3)));
    }
    postgres_server::run(schema, "INSERT INTO tollgate_hosts (name, ready_at) VALUES ('https://example.com', " + at + ")");
    for (int i = 0; i < 2; ++i)
        postgres_server::run(schema, "INSERT INTO tollgate_hooks (service, account_id, event, source, type, target_url, host_id, "
                                    "secret, created_at) SELECT 'sitesmaker', 42, 'site.published', 'api', 'webhook', "
                                    "'https://example.com/', id, 'whsec_x', 1 FROM tollgate_hosts");
    postgres_server::run(schema, "INSERT INTO tollgate_events (service, account_id, name, data, happened_at, seed) VALUES "
                                "('sitesmaker', 42, 'site.published', 'null', 1, decode(repeat('ab', 16), 'hex'))");
    postgres_server::run(schema, "INSERT INTO tollgate_deliveries (event_id, hook_id, host_id, created_at, at, is_leased, "
                                "lease_is_open) SELECT events.id, hooks.id, host_id, 1, " + at +
                                    " + 5000 * hooks.id, hooks.id = 2, hooks.id = 2 FROM tollgate_events AS events, "
                                    "tollgate_hooks AS hooks");
    postgres_store store{schema};
    CHECK(value_of(store.due_hooks(noon, 10)).next_at == noon + seconds{5});
    CHECK(lease_due_at(store, noon + seconds{5}).size() == 1);
    CHECK(lease_due_at(store, noon + seconds{10}).size() == 1);  // another worker's lease has ended
    report(store, sample_account(), 1, noon + seconds{11});
    CHECK(lease_due_at(store, noon + seconds{11}).size() == 2);
}

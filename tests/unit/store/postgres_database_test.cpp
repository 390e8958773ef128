#include <tollgate/store/postgres_database.hpp>

#include <tollgate/base/detail/system/boot_clock.hpp>
#include <tollgate/store/detail/postgres/connection.hpp>
#include <tollgate/store/detail/postgres/server_list.hpp>
#include <tollgate/store/detail/postgres/statement.hpp>

#include <support/child_process.hpp>
#include <support/eventually.hpp>
#include <support/postgres_server.hpp>
#include <support/tcp_proxy.hpp>

#include <catch2/catch.hpp>

#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <optional>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

using namespace tollgate;
using postgres::repeat;
using tollgate_test::eventually;
using tollgate_test::postgres_server;
using tollgate_test::tcp_proxy;

namespace {

using clock_type = std::chrono::steady_clock;

postgres_database open_pool(const std::string& to, postgres_database_settings settings = {}) {
    auto opened = postgres_database::open(to, settings);
    INFO((opened ? "" : opened.error().cause));
    REQUIRE(opened);
    return *std::move(opened);
}

result<std::int64_t> one(postgres_database& on) {
    auto found = on.query("SELECT 1::bigint");
    if (!found) return std::move(found).error();
    auto row = found->only<std::int64_t>();
    if (!row) return std::move(row).error();
    return std::get<0>(*row);
}

milliseconds time_of(const std::function<void()>& work) {
    const auto before = clock_type::now();
    work();
    return std::chrono::duration_cast<milliseconds>(clock_type::now() - before);
}

/// Lookups of `name` hang while one of these exists.
class name_that_hangs {
public:
    static constexpr std::string_view name = "hanging.test";
    name_that_hangs() : held_{released()} {}

    static void wait_if(const char* host) {
        if (host == nullptr || host != name) return;
        const std::shared_lock until_released{released()};
    }

private:
    static std::shared_mutex& released() {
        static std::shared_mutex mutex;
        return mutex;
    }
    const std::unique_lock<std::shared_mutex> held_;
};

}  // namespace

/// Replaces the system's, for this program and libpq.
extern "C" int getaddrinfo(const char* host, const char* port, const addrinfo* hints, addrinfo** found) {
    const bool is_number = hints != nullptr && (hints->ai_flags & AI_NUMERICHOST) != 0;
    if (!is_number) name_that_hangs::wait_if(host);
    static const auto original = reinterpret_cast<decltype(&::getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    return original(host, port, hints, found);
}

TEST_CASE("a pool is bounded in connections and in waiting time") {
    auto& server = postgres_server::shared();
    auto pool = open_pool(server.connection_string(), {.connections_max = 2, .connection_wait_max = milliseconds{200}});
    {
        const auto both = std::pair{pool.begin(), pool.begin()};
        REQUIRE((both.first && both.second));
        result<std::int64_t> outcome = std::int64_t{0};
        const auto elapsed = time_of([&] { outcome = one(pool); });
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().kind == error_kind::unavailable);
        CHECK_THAT(outcome.error().cause, Catch::Contains("no connection came free within 200 ms; there are 2"));
        CHECK(elapsed >= milliseconds{200});
    }
    CHECK(one(pool));
}

TEST_CASE("a child process leaves the connections of its parent alone") {
    auto& server = postgres_server::shared();
    std::optional<postgres_database> pool{open_pool(server.connection_string(), {.connections_max = 1})};
    const auto session = [&] {
        auto found = pool->query("SELECT pg_backend_pid()::bigint");
        REQUIRE(found);
        return std::get<0>(*found->only<std::int64_t>());
    };
    const auto before = session();
    std::thread waiting;  // at the fork: the child has no such thread
    {
        const auto only = pool->begin();
        REQUIRE(only);
        waiting = std::thread{[&] { CHECK(one(*pool)); }};
        std::this_thread::sleep_for(milliseconds{20});
        tollgate_test::child_process child{[&] {
            ::alarm(100);  // the test fails if it makes no progress
            pool.reset();
            return 0;
        }};
        CHECK(child.wait() == 0);
    }
    waiting.join();
    CHECK(session() == before);
}

TEST_CASE("a returned connection goes to a waiting caller") {
    auto& server = postgres_server::shared();
    auto pool = open_pool(server.connection_string(), {.connections_max = 1, .connection_wait_max = seconds{60}});
    std::atomic<int> done{0};
    std::vector<std::thread> all;
    for (int i = 0; i < 8; ++i)
        all.emplace_back([&] {
            for (int n = 0; n < 20; ++n)
                if (one(pool)) ++done;
        });
    for (auto& each : all) each.join();
    CHECK(done == 160);
}

TEST_CASE("a batch takes one round trip, even if its statements are new to the connection") {
    auto& server = postgres_server::shared();
    tcp_proxy proxy{server.socket_path()};
    CHECK(eventually([&] {  // a busy machine may delay a client within a batch, which then counts as two
        proxy.merge_client_writes(false);
        auto pool = open_pool(proxy.connection_string(), {.connections_max = 1});
        proxy.merge_client_writes(true);
        const auto before = proxy.round_trips();
        for (int i = 0; i < 3; ++i) {
            auto batch = pool.make_batch();
            batch.add("SELECT $1::bigint + 1", std::int64_t{1});
            batch.add("SELECT $1::text", std::string_view{"x"});
            batch.add("SELECT 3::bigint");
            batch.add_after_transaction("SELECT 4::bigint");
            auto results = pool.run(batch);
            REQUIRE(results);
            REQUIRE(results->size() == 3);
            CHECK(std::get<0>(*(*results)[0].only<std::int64_t>()) == 2);
            CHECK(std::get<0>(*(*results)[1].only<std::string>()) == "x");
        }
        return proxy.round_trips() - before == 3;
    }));
}

TEST_CASE("a batch is one transaction: all or nothing") {
    auto& server = postgres_server::shared();
    auto pool = open_pool(server.new_schema());
    REQUIRE(pool.execute("CREATE TABLE things (name text PRIMARY KEY)"));
    const auto count = [&] { return std::get<0>(*pool.query("SELECT count(*) FROM things")->only<std::int64_t>()); };
    auto batch = pool.make_batch();
    batch.add("INSERT INTO things VALUES ('a')");
    batch.add("INSERT INTO things VALUES ('b')");
    REQUIRE(pool.run(batch));
    CHECK(count() == 2);
    batch = pool.make_batch();
    batch.add("INSERT INTO things VALUES ('c')");
    batch.add("INSERT INTO things VALUES ('a')");
    batch.add("INSERT INTO things VALUES ('d')");
    batch.add_after_transaction("INSERT INTO things VALUES ('e')");
    const auto refused = pool.run(batch);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == error_kind::conflict);
    CHECK_THAT(refused.error().cause, Catch::Contains("23505") && !Catch::Contains("(a)"));
    CHECK(count() == 3);  // what follows the transaction does not depend on it

    // A failing statement after the transaction is ignored, and is not treated as prepared.
    for (int i = 0; i < 2; ++i) {
        batch = pool.make_batch();
        batch.add("INSERT INTO things SELECT 'f' || count(*) FROM things");
        batch.add_after_transaction("SELECT 1 FROM there_is_no_such_table");
        CHECK(pool.run(batch));
    }
    CHECK(count() == 5);
}

TEST_CASE("a transaction that fails at COMMIT is reported as failed") {
    auto& server = postgres_server::shared();
    auto pool = open_pool(server.new_schema(), {.connections_max = 1});
    auto setup = pool.make_batch();
    setup.add("CREATE TABLE of (id bigint PRIMARY KEY)");
    setup.add("CREATE TABLE things (id bigint REFERENCES of DEFERRABLE INITIALLY DEFERRED)");
    REQUIRE(pool.run(setup));
    for (int i = 0; i < 2; ++i) {
        const auto done = pool.execute("INSERT INTO things VALUES (1)");
        REQUIRE_FALSE(done);
        CHECK(done.error().kind == error_kind::not_found);
        CHECK_THAT(done.error().cause, Catch::Contains("23503"));
        CHECK(one(pool));
    }
    CHECK(std::get<0>(*pool.query("SELECT count(*) FROM things")->only<std::int64_t>()) == 0);
}

TEST_CASE("a transaction rolled back because of another one is repeated") {
    auto& server = postgres_server::shared();
    auto pool = open_pool(server.new_schema(), {.each = {seconds{3}, seconds{20}, seconds{10}}});
    auto setup = pool.make_batch();
    setup.add("CREATE TABLE things (id bigint PRIMARY KEY, count bigint NOT NULL)");
    setup.add("CREATE SEQUENCE started");
    REQUIRE(pool.run(setup));
    REQUIRE(pool.execute("INSERT INTO things VALUES (1, 0), (2, 0)"));
    std::atomic<int> done{0};
    std::vector<std::thread> both;
    for (const bool first : {true, false})
        both.emplace_back([&pool, &done, first] {
            auto batch = pool.make_batch();
            batch.add("UPDATE things SET count = count + 1 WHERE id = $1", std::int64_t{first ? 1 : 2});
            batch.add("SELECT nextval('started')");  // other transactions see it, and a rollback does not undo it
            batch.add("DO 'BEGIN WHILE (SELECT last_value FROM started) < 2 LOOP PERFORM pg_sleep(0.005); END LOOP; END'");
            batch.add("UPDATE things SET count = count + 1 WHERE id = $1", std::int64_t{first ? 2 : 1});
            if (pool.run(batch)) ++done;
        });
    for (auto& each : both) each.join();
    CHECK(done == 2);
    auto counts = pool.query("SELECT count FROM things");
    REQUIRE(counts);
    for (int i = 0; i < 2; ++i) CHECK(std::get<0>(**counts->next<std::int64_t>()) == 2);
    CHECK(std::get<0>(*pool.query("SELECT last_value FROM started")->only<std::int64_t>()) == 3);  // one was rolled back
}

TEST_CASE("a slow statement is cancelled, and its connection is kept") {
    auto& server = postgres_server::shared();
    tcp_proxy proxy{server.socket_path()};
    auto pool = open_pool(proxy.connection_string(), {.connections_max = 1, .each = {seconds{3}, milliseconds{400}}});
    CHECK(eventually([&] {  // on a busy machine the server's response may arrive too late, and the connection is closed
        const auto before = proxy.accepted();
        const auto slow = pool.query("SELECT pg_sleep(10)");
        REQUIRE_FALSE(slow);
        CHECK(slow.error().kind == error_kind::unavailable);
        const std::string& cause = slow.error().cause;
        if (cause.find("statement timeout") == std::string::npos || cause.find("pg_sleep") == std::string::npos) return false;
        return one(pool) && proxy.accepted() == before;
    }));
}

TEST_CASE("waiting for a lock is bounded by the time of a request") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    postgres_server::run(schema, "CREATE TABLE things (id bigint); CREATE TABLE others (id bigint)");
    auto holder = open_pool(schema);
    std::optional<result<postgres::transaction>> held{holder.begin()};
    REQUIRE(*held);
    auto locking = holder.make_batch();
    locking.add("BEGIN");
    locking.add("LOCK TABLE things IN ACCESS EXCLUSIVE MODE");
    REQUIRE((*held)->run(locking));

    postgres_database_settings settings;
    settings.each.lock_wait_max = milliseconds{50};
    auto pool = open_pool(schema, settings);
    const auto refused = pool.query("SELECT id FROM things");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == error_kind::unavailable);
    CHECK_THAT(refused.error().cause, Catch::Contains("lock timeout"));
    CHECK(pool.query("SELECT id FROM others"));
    // A batch with a longer time limit does not wait longer for locks.
    auto long_batch = pool.make_batch();
    long_batch.set_response_wait_max(seconds{20});
    long_batch.add("SELECT current_setting('lock_timeout'), current_setting('statement_timeout')");
    auto limits = pool.run(long_batch);
    REQUIRE(limits);
    CHECK(limits->back().only<std::string, std::string>() == std::tuple{"50ms", "15s"});
}

TEST_CASE("the server's time limit for a batch is never 0, which means none") {
    postgres::batch short_batch{milliseconds{0}};
    short_batch.set_response_wait_max(milliseconds{1});
    const auto& limit = short_batch.value_at(0);
    CHECK(std::string_view{short_batch.bytes_of(limit), limit.size} == "1");
}

TEST_CASE("calls that wait for one connection fail together with another connection that hangs") {
    auto& server = postgres_server::shared();
    tcp_proxy proxy{server.socket_path()};
    constexpr milliseconds wait_max{2000}, apart{1000};
    auto pool = open_pool(proxy.connection_string(), {.connections_max = 2, .each = {seconds{3}, wait_max}});
    {
        const auto both = std::pair{pool.begin(), pool.begin()};
        REQUIRE((both.first && both.second));
    }
    REQUIRE(proxy.accepted() == 2);
    CHECK(eventually([&] {  // a busy machine may delay one of the two
        proxy.set_mode(tcp_proxy::mode::forward);
        CHECK(eventually([&] { return pool.begin() && one(pool); }));
        proxy.set_mode(tcp_proxy::mode::hang);
        milliseconds first{}, second{};
        std::thread earlier{[&] { first = time_of([&] { (void)one(pool); }); }};
        std::this_thread::sleep_for(apart);
        second = time_of([&] { CHECK_FALSE(one(pool)); });
        earlier.join();
        return first >= wait_max && second < wait_max;
    }));
}

TEST_CASE("a lookup that waits for one that hangs does not open a connection to wait again") {
    auto& server = postgres_server::shared();
    tcp_proxy proxy{server.socket_path()};
    constexpr milliseconds wait_max{2000}, apart{300};
    auto pool = open_pool(proxy.connection_string(), {.each = {wait_max, wait_max}});
    postgres_lookup<std::int64_t, std::int64_t> numbers;
    const auto find = [&](std::int64_t number) {
        return numbers.find(pool, "SELECT unnest($1::bigint[])", number,
                            [](postgres::rows& found) -> result<std::optional<std::pair<std::int64_t, result<std::int64_t>>>> {
                                auto row = found.next<std::int64_t>();
                                if (!row) return std::move(row).error();
                                if (!*row) return std::optional<std::pair<std::int64_t, result<std::int64_t>>>{};
                                const auto value = std::get<0>(**row);
                                return std::optional{std::pair{value, result<std::int64_t>{value}}};
                            });
    };
    CHECK(eventually([&] {  // a busy machine may start the second when the first has ended
        proxy.set_mode(tcp_proxy::mode::forward);
        CHECK(eventually([&] { const auto found = find(1); return found && *found == 1; }));
        proxy.set_mode(tcp_proxy::mode::hang);
        const auto before = proxy.accepted();
        bool found = true;
        std::thread earlier{[&] { found = find(1).has_value(); }};
        std::this_thread::sleep_for(apart);
        CHECK_FALSE(find(2));
        earlier.join();
        CHECK_FALSE(found);
        return proxy.accepted() == before;
    }));
}

TEST_CASE("lookups that arrive during another one share a round trip, and each gets its own row") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    postgres_server::run(schema, "CREATE TABLE users (id bigint, name text); "
                                "INSERT INTO users SELECT n, 'user ' || n FROM generate_series(1, 20) AS n");
    tcp_proxy proxy{server.socket_path()};
    postgres_database_settings settings;
    settings.connections_max = 1;
    settings.each.response_wait_max = settings.each.connect_wait_max = seconds{20};
    auto pool = open_pool(proxy.connection_string(schema.substr(schema.find("options="))), settings);
    using found_row = std::pair<std::int64_t, result<std::string>>;
    postgres_lookup<std::int64_t, std::string> users;
    const auto find = [&](std::int64_t id) {
        return users.find(pool, "SELECT id, name FROM users WHERE id = ANY ($1)", id,
                          [](postgres::rows& found) -> result<std::optional<found_row>> {
                              auto row = found.next<std::int64_t, std::string>();
                              if (!row) return std::move(row).error();
                              if (!*row) return std::optional<found_row>{};
                              auto& [at, name] = **row;
                              if (at == 8) return internal_error("a row that cannot be read");
                              if (at == 7) return std::optional{found_row{at, internal_error("seven")}};
                              return std::optional{found_row{at, std::move(name)}};
                          });
    };
    const auto is_right = [&](std::int64_t id, const result<std::optional<std::string>>& found) {
        if (id == 7 || id == 8) return !found && found.error().kind == error_kind::internal;
        if (id > 20) return found ? !*found : found.error().cause == "a row that cannot be read";  // it may have been this one's
        return found && *found == "user " + std::to_string(id);
    };
    for (std::int64_t id = 1; id <= 21; ++id) CHECK(is_right(id, find(id)));  // single lookups: each is a round trip

    proxy.set_mode(tcp_proxy::mode::hang);
    const auto before = proxy.round_trips();
    std::atomic<int> correct = 0, started = 0;
    std::vector<std::thread> threads;
    constexpr int count = 40;  // some ids are looked up twice, and some do not exist
    for (int i = 0; i < count; ++i)
        threads.emplace_back([&, i] {
            ++started;
            const std::int64_t id = 1 + i % 25;
            correct += is_right(id, find(id));
        });
    CHECK(eventually([&] { return started == count; }));
    proxy.set_mode(tcp_proxy::mode::forward);
    for (auto& each : threads) each.join();
    CHECK(correct == count);
    CHECK(proxy.round_trips() - before < count / 2);

    // An error of the statement fails all of its callers.
    postgres_server::run(schema, "DROP TABLE users");
    CHECK_FALSE(find(1));
}

TEST_CASE("a hanging connection is closed in time, and so are the others") {
    auto& server = postgres_server::shared();
    tcp_proxy proxy{server.socket_path()};
    auto pool =
        open_pool(proxy.connection_string(), {.connections_max = 4, .each = {milliseconds{300}, milliseconds{400}}});
    REQUIRE(eventually([&] {
        const auto first = pool.begin(), second = pool.begin(), third = pool.begin(), fourth = pool.begin();
        return first && second && third && fourth;
    }));

    proxy.set_mode(tcp_proxy::mode::hang);
    result<std::int64_t> outcome = std::int64_t{0};
    const auto first = time_of([&] { outcome = one(pool); });
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().kind == error_kind::unavailable);
    CHECK_THAT(outcome.error().cause, Catch::Contains("no response within 400 ms"));
    CHECK(first >= milliseconds{400});
    outcome = one(pool);
    REQUIRE_FALSE(outcome);
    CHECK_THAT(outcome.error().cause, Catch::Contains("no connection within 300 ms"));
    CHECK(eventually([&] {  // fails at once until the next retry
        const auto attempts = proxy.accepted();
        outcome = one(pool);
        REQUIRE_FALSE(outcome);
        return outcome.error().cause.find("retrying shortly") != std::string::npos && proxy.accepted() == attempts;
    }));

    proxy.set_mode(tcp_proxy::mode::forward);
    CHECK(eventually([&] { return one(pool).has_value(); }));
}

TEST_CASE("a connection that is given up because another one hangs does not count as another timeout") {
    tcp_proxy proxy{postgres_server::shared().socket_path()};
    const auto servers = postgres::servers_of(proxy.connection_string());
    REQUIRE(servers);
    postgres::server_clock clock{&postgres::server_clock::node_now};
    std::atomic<unsigned> timeouts = 0;
    const auto open = [&](milliseconds response_wait_max) {
        auto opened = postgres::connection::open(servers->front(), {.response_wait_max = response_wait_max}, clock, &timeouts);
        REQUIRE(opened);
        return *std::move(opened);
    };
    const bool is_batch_long = GENERATE(false, true);
    auto hanging = open(milliseconds{2000}), beside = open(is_batch_long ? seconds{2} : seconds{60});
    proxy.set_mode(tcp_proxy::mode::hang);
    postgres::batch request{milliseconds{0}}, request_beside{milliseconds{0}};
    request.add("SELECT 1");
    if (is_batch_long) request_beside.set_response_wait_max(seconds{60});
    request_beside.add("SELECT 1");
    postgres::run_result given_up;
    std::thread other{[&] { given_up = beside.run(request_beside); }};
    const auto timed_out = hanging.run(request);
    other.join();
    REQUIRE(timed_out.failed);
    REQUIRE(given_up.failed);
    CHECK(timed_out.failed->hung);
    CHECK(given_up.failed->hung);
    CHECK(timeouts == 1);
    proxy.set_mode(tcp_proxy::mode::forward);
}

TEST_CASE("a connection that broke while idle is replaced before it is used") {
    auto& server = postgres_server::shared();
    tcp_proxy proxy{server.socket_path()};
    auto pool = open_pool(proxy.connection_string(), {.connections_max = 1});
    REQUIRE(pool.execute("CREATE TEMPORARY TABLE here (id bigint)"));
    REQUIRE(eventually([&] { return proxy.open() == 1; }));
    proxy.set_mode(tcp_proxy::mode::disconnect);
    REQUIRE(eventually([&] { return proxy.open() == 0; }));
    proxy.set_mode(tcp_proxy::mode::forward);
    CHECK(pool.execute("CREATE TEMPORARY TABLE here (id bigint)"));  // in another session
    CHECK(proxy.accepted() == 2);
}

TEST_CASE("when a connection breaks, reads are repeated and writes are not") {
    auto& server = postgres_server::shared();
    tcp_proxy proxy{server.socket_path()};
    const auto direct = server.new_schema();
    const auto schema = direct.substr(direct.find("options="));
    auto pool = open_pool(proxy.connection_string(schema), {.connections_max = 1});
    auto watching = open_pool(direct);
    REQUIRE(pool.execute("CREATE TABLE things (id bigint)"));
    REQUIRE(one(pool));

    proxy.set_mode(tcp_proxy::mode::drop_responses);
    auto setup = pool.make_batch();
    setup.add("INSERT INTO things VALUES (1)");
    const auto lost = pool.run(setup);
    REQUIRE_FALSE(lost);
    CHECK(lost.error().kind == error_kind::unavailable);
    CHECK_THAT(lost.error().cause, Catch::Contains("it is unknown whether the statement was executed"));
    proxy.set_mode(tcp_proxy::mode::forward);
    const auto count = [&] { return std::get<0>(*watching.query("SELECT count(*) FROM things")->only<std::int64_t>()); };
    CHECK(eventually([&] { return count() == 1; }));
    CHECK(eventually([&] { return one(pool).has_value(); }));
    CHECK(count() == 1);  // not done twice

    // The server ends the session while the first call sleeps, after it has counted; the repeated call returns at once.
    REQUIRE(watching.execute("CREATE SEQUENCE times"));
    std::atomic<bool> was_ended{false};
    std::thread ends{[&] {
        was_ended = eventually([&] {
            auto found = watching.query(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                "WHERE datname = current_database() AND query LIKE 'SELECT pg_sleep(%), 7%' AND wait_event = 'PgSleep'");
            return found && std::get<0>(*found->only<std::int64_t>()) > 0;
        });
    }};
    const auto before = proxy.accepted();
    auto batch = pool.make_batch();
    batch.set_response_wait_max(seconds{60});
    batch.add("SELECT pg_sleep(CASE nextval('times') WHEN 1 THEN 3600 ELSE 0 END), 7::bigint");
    const auto results = pool.run(batch, repeat::allowed);
    ends.join();
    CHECK(was_ended);
    CHECK(results);
    CHECK(proxy.accepted() == before + 1);
}

TEST_CASE("a connection to a server that has become read-only is replaced") {
    auto& server = postgres_server::shared();
    tcp_proxy proxy{server.socket_path()};
    auto pool = open_pool(proxy.connection_string(), {.connections_max = 1});
    const auto become_read_only = [&] { return pool.query("SELECT set_config('default_transaction_read_only', 'on', false)").has_value(); };
    const auto create = [&](repeat when_lost) {
        auto creating = pool.make_batch();
        creating.add("CREATE UNLOGGED TABLE replaced_here (id bigint)");
        creating.add("DROP TABLE replaced_here");
        return pool.run(creating, when_lost);
    };
    REQUIRE(become_read_only());
    CHECK(one(pool));
    CHECK(proxy.accepted() == 1);

    {
        auto transaction = pool.begin();
        REQUIRE(transaction);
        auto creating = pool.make_batch();
        creating.add("CREATE UNLOGGED TABLE replaced_here (id bigint)");
        const auto refused = transaction->run(creating);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == error_kind::unavailable);
        CHECK_THAT(refused.error().cause, Catch::Contains("read-only") && !Catch::Contains("unknown"));
        CHECK(transaction->may_be_tried_again());
    }
    CHECK(create(repeat::never));
    CHECK(proxy.accepted() == 2);

    // It had no effect, so that it is repeated even if it changes something.
    REQUIRE(become_read_only());
    CHECK(create(repeat::never));
    CHECK(proxy.accepted() == 3);
    REQUIRE(become_read_only());
    CHECK(create(repeat::allowed));
    CHECK(proxy.accepted() == 4);
}

TEST_CASE("a connection to a server that has become read-only is replaced by reads, too, when another server was found") {
    tcp_proxy proxy{postgres_server::shared().socket_path()};
    const std::string port = std::to_string(proxy.port());
    struct row {
        std::string connection_string;
        bool is_replaced;
    };
    for (const auto& [connection_string, is_replaced] :
         {row{"hostaddr=127.0.0.1,127.0.0.1 port=" + port, true},
          row{"hostaddr=127.0.0.1,127.0.0.1 target_session_attrs=any port=" + port, false},
          row{"hostaddr=127.0.0.1 port=" + port, false}}) {
        CAPTURE(connection_string);
        auto pool = open_pool(connection_string + " user=postgres", {.connections_max = 1});
        const auto opened = proxy.accepted();
        CHECK(one(pool));
        CHECK(proxy.accepted() == opened);
        REQUIRE(pool.query("SELECT set_config('default_transaction_read_only', 'on', false)"));
        for (int i = 0; i < 2; ++i) CHECK(one(pool));
        CHECK(proxy.accepted() == opened);  // there may be no server that accepts writes, and reads go on
        const auto other = open_pool(connection_string + " user=postgres");
        const auto with_other = proxy.accepted();
        for (int i = 0; i < 2; ++i) CHECK(one(pool));
        CHECK(proxy.accepted() == with_other + (is_replaced ? 1 : 0));
    }
}

TEST_CASE("a write replaces all connections to a server that has become read-only, if it must") {
    auto& server = postgres_server::shared();
    tcp_proxy proxy{server.socket_path()};
    constexpr std::size_t connections = 6;
    auto pool = open_pool(proxy.connection_string(), {.connections_max = connections});
    const auto become_read_only = [&] {
        std::vector<postgres::transaction> all;
        for (std::size_t i = 0; i < connections; ++i) {
            all.push_back(*pool.begin());
            auto changing = pool.make_batch();
            changing.add("SELECT set_config('default_transaction_read_only', 'on', false)");
            changing.add("COMMIT");
            REQUIRE(all.back().run(changing));
        }
    };
    auto writing = pool.make_batch();
    writing.add("CREATE UNLOGGED TABLE replaced_there (id bigint)");
    writing.add("DROP TABLE replaced_there");
    become_read_only();
    REQUIRE(proxy.accepted() == connections);
    CHECK(pool.run(writing, repeat::never));

    become_read_only();
    postgres::batch beginning{milliseconds{0}};
    beginning.add("BEGIN");
    CHECK(pool.transact([&](postgres::transaction& on) -> result<void> {
        if (auto begun = on.run(beginning); !begun) return std::move(begun).error();
        if (auto written = on.run(writing); !written) return std::move(written).error();
        return {};
    }));
}

TEST_CASE("a statement whose table changed is prepared again") {
    const auto schema = postgres_server::shared().new_schema();
    auto pool = open_pool(schema, {.connections_max = 1});
    REQUIRE(pool.execute("CREATE TABLE things AS SELECT 7::bigint AS id"));
    const auto read = [&] { return pool.query("SELECT * FROM things"); };
    REQUIRE(read());
    postgres_server::run(schema, "ALTER TABLE things ADD COLUMN name text");
    auto changed = read();
    REQUIRE(changed);
    CHECK((changed->only<std::int64_t, std::optional<std::string>>().has_value()));
    // As a proxy does, also before a batch of statements that were prepared.
    postgres::batch batch = pool.make_batch();
    batch.add("SELECT 1::bigint");
    batch.add("SELECT 2::bigint");
    batch.add("SELECT 3::bigint");
    batch.add("SELECT 4::bigint");
    REQUIRE(pool.run(batch));
    REQUIRE(pool.execute("DEALLOCATE ALL"));
    CHECK(pool.run(batch));
    CHECK(read());
}

TEST_CASE("a stopped server is reported at once, and used again after its restart") {
    postgres_server server;
    auto pool = open_pool(server.connection_string(), {.connections_max = 3});
    REQUIRE(one(pool));
    server.stop();
    for (int i = 0; i < 3; ++i) {
        result<std::int64_t> outcome = std::int64_t{0};
        CHECK(eventually([&] { return time_of([&] { outcome = one(pool); }) < milliseconds{500}; }));
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().kind == error_kind::unavailable);
    }
    server.start();
    CHECK(eventually([&] { return one(pool).has_value(); }));
    server.kill();
    CHECK(eventually([&] { return !one(pool).has_value(); }));
    server.start();
    CHECK(eventually([&] { return one(pool).has_value(); }));
}

TEST_CASE("a setting outside its bounds is refused") {
    const auto opens = [](const postgres_database_settings& settings) {
        const auto opened = postgres_database::open(postgres_server::shared().connection_string(), settings);
        CHECK((opened || opened.error().kind == error_kind::invalid));
        return opened.has_value();
    };
    CHECK_FALSE(opens({.connections_max = 0}));
    for (const auto limit : {&postgres::connection_settings::connect_wait_max, &postgres::connection_settings::response_wait_max,
                             &postgres::connection_settings::lock_wait_max}) {
        postgres_database_settings settings;
        for (const milliseconds bad : {milliseconds{0}, milliseconds{-1}, milliseconds{std::chrono::hours{1}} + milliseconds{1}}) {
            settings.each.*limit = bad;
            CHECK_FALSE(opens(settings));
        }
        settings.each.*limit = std::chrono::hours{1};
        CHECK(opens(settings));
    }
}

TEST_CASE("a pool that cannot be opened reports why, without the password") {
    auto& server = postgres_server::shared();
    tcp_proxy proxy{server.socket_path()};
    struct row {
        std::string connection_string;
        error_kind kind;
        std::string message;
    };
    const std::vector<row> rows{
        {"host=/nowhere/at/all user=postgres password=hunter2", error_kind::unavailable, "/nowhere/at/all"},
        {server.connection_string() + " dbname=there_is_none password=hunter2", error_kind::unavailable,
         "there_is_none"},
        {"host=" + server.connection_string().substr(server.connection_string().find('/'), server.connection_string().find(' ', 6) - 5) +
             " user=hunter2",
         error_kind::unavailable, "\"...\""},
        {"password=hunter2 'nonsense", error_kind::invalid, ""},
        // Parts of a password that libpq would take for something else.
        {"postgresql://u:p@hunter2@127.0.0.1:1/d", error_kind::invalid, "%40"},
        {"postgresql://u:1/hunter2@127.0.0.1:1/d", error_kind::invalid, "%2F"},
        {"postgresql://u:hunter2?x@127.0.0.1:1/d", error_kind::unavailable, "port 1"},
        {"host=x@hunter2 user=u", error_kind::invalid, "%40"},
        {"host=127.0.0.1 port=hunter2", error_kind::invalid, "from 1 to 65535"},
        {"host=127.0.0.1 port=1,65536 password=hunter2", error_kind::invalid, ""},
        {"host=127.0.0.1 port=1 sslmode=hunter2", error_kind::unavailable, "sslmode"},
        // The option that is wrong.
        {"host=127.0.0.1 sslmod=hunter2", error_kind::invalid, "Option 2 of the PostgreSQL connection string is not one that libpq knows; it resembles \"sslmode\"."},
        {"host = 127.0.0.1 password = 'a \\' b' hunter2 = x", error_kind::invalid, "Option 3 of the PostgreSQL connection string is not one that libpq knows."},
        {"password=a\\ b hunter2", error_kind::invalid, "Option 2 "},
        {"postgresql://u:hunter2@127.0.0.1:1/d?sslmode=disable&conect_timeout=1", error_kind::invalid, "Option 2 of the PostgreSQL connection string is not one that libpq knows; it resembles \"connect_timeout\"."},
        {"postgresql://u:hunter2@[::1", error_kind::invalid, ""},
        {"host=a,b hostaddr=127.0.0.1 password=hunter2", error_kind::invalid, ""},
        {std::string{"host=a\0b password=hunter2", 25}, error_kind::invalid, ""},
    };
    for (const row& each : rows) {
        CAPTURE(each.connection_string);
        const auto opened = postgres_database::open(each.connection_string);
        REQUIRE_FALSE(opened);
        CHECK(opened.error().kind == each.kind);
        CHECK_THAT(opened.error().cause + opened.error().message,
                   Catch::Contains(each.message) && !Catch::Contains("hunter2"));
    }
    proxy.set_mode(tcp_proxy::mode::hang);
    postgres_database_settings settings;
    settings.each.connect_wait_max = milliseconds{200};
    CHECK(eventually([&] {
        return time_of([&] { CHECK_FALSE(postgres_database::open(proxy.connection_string(), settings)); }) < milliseconds{700};
    }));
}

TEST_CASE("the one of several servers that accepts writes is found, and a hanging one uses only its share of the time") {
    auto& server = postgres_server::shared();
    tcp_proxy hanging{server.socket_path()};
    hanging.set_mode(tcp_proxy::mode::hang);
    tcp_proxy good{server.socket_path()};
    postgres_database_settings settings;
    settings.each.connect_wait_max = milliseconds{300};
    const auto all = "hostaddr=127.0.0.1,127.0.0.1,127.0.0.1 port=1," + std::to_string(hanging.port()) + "," +
                     std::to_string(good.port()) + " user=postgres dbname=postgres";
    REQUIRE(eventually([&] {  // on a busy machine the working server may use up its share, too
        auto pool = postgres_database::open(all, settings);
        if (!pool || !one(*pool)) return false;
        bool opens_another = false;
        const auto elapsed = time_of([&] { opens_another = pool->open_another().has_value(); });
        return opens_another && elapsed < milliseconds{250};  // it is tried first from now on
    }));
    // By other pools, too.
    CHECK(eventually([&] {
        const auto tried = hanging.accepted();
        return postgres_database::open(all, settings).has_value() && hanging.accepted() == tried;
    }));

    const auto read_only =
        postgres_database::open(server.connection_string() + " options=-cdefault_transaction_read_only=on");
    REQUIRE_FALSE(read_only);
    CHECK(read_only.error().kind == error_kind::unavailable);
    CHECK_THAT(read_only.error().cause, Catch::Contains("read-only"));
}

TEST_CASE("sessions wait for the disk, see committed data, and end with their node") {
    auto& server = postgres_server::shared();  // which has synchronous_commit=off
    auto pool = open_pool(server.connection_string());
    const auto setting = [&](std::string_view name) {
        return std::get<0>(*pool.query("SELECT current_setting($1)", name)->only<std::string>());
    };
    CHECK(setting("synchronous_commit") == "on");
    CHECK(setting("default_transaction_isolation") == "read committed");
    CHECK(setting("statement_timeout") == "2250ms");
    CHECK(setting("lock_timeout") == "1s");
    CHECK(setting("idle_in_transaction_session_timeout") == "3s");
    CHECK(setting("application_name") == "tollgate");
    auto named = open_pool(server.connection_string() + " application_name=shop");
    CHECK(std::get<0>(*named.query("SELECT current_setting('application_name')")->only<std::string>()) == "shop");

    const auto name = server.database() + "_latin";
    server.run("CREATE DATABASE " + name + " ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    const auto latin = postgres_database::open(server.connection_string() + " dbname=" + name);
    REQUIRE_FALSE(latin);
    CHECK_THAT(latin.error().cause, Catch::Contains("LATIN1"));
}

TEST_CASE("over TLS a connection is reused, and a server with another certificate is refused") {
    postgres_server server{tollgate_test::make_certificate("db.example", "IP:127.0.0.1")};
    const auto schema = "host=127.0.0.1 port=" + std::to_string(server.port()) +
                       " user=postgres dbname=postgres sslmode=verify-full sslrootcert=";
    auto pool = open_pool(schema + server.certificate_file());
    std::set<std::int64_t> sessions;
    for (int i = 0; i < 20; ++i) {
        const auto row = pool.query("SELECT pid::bigint, ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
                             ->only<std::int64_t, bool>();
        REQUIRE(row);
        CHECK(std::get<1>(*row));
        sessions.insert(std::get<0>(*row));
    }
    CHECK(sessions.size() == 1);

    tollgate_test::temporary_directory other;
    std::ofstream{other.file("other.pem")} << tollgate_test::make_certificate("db.example").certificate_pem;
    const auto refused = postgres_database::open(schema + other.file("other.pem"));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == error_kind::unavailable);
    CHECK_THAT(refused.error().cause, Catch::Contains("certificate"));
}

TEST_CASE("an uncommitted transaction is rolled back") {
    auto& server = postgres_server::shared();
    auto pool = open_pool(server.new_schema(), {.connections_max = 1});
    REQUIRE(pool.execute("CREATE TABLE things (id bigint)"));
    const auto count = [&] { return std::get<0>(*pool.query("SELECT count(*) FROM things")->only<std::int64_t>()); };
    const auto talk_once = [&](bool commits, bool fails) {
        auto transaction = pool.begin();
        REQUIRE(transaction);
        auto batch = pool.make_batch();
        batch.add("BEGIN");
        batch.add("INSERT INTO things VALUES (1)");
        REQUIRE(transaction->run(batch));
        CHECK(transaction->is_open());
        batch = pool.make_batch();
        if (fails) batch.add("SELECT 1 / 0");
        else batch.add("SELECT 1");
        const auto done = commits ? transaction->commit(std::move(batch)) : transaction->run(batch);
        CHECK(done.has_value() != fails);
        CHECK(transaction->is_open() == (fails || !commits));
    };
    talk_once(false, false);
    CHECK(count() == 0);
    talk_once(true, true);
    CHECK(count() == 0);
    talk_once(true, false);
    CHECK(count() == 1);
}

TEST_CASE("transact commits when its function returns a value") {
    auto pool = open_pool(postgres_server::shared().new_schema(), {.connections_max = 1});
    REQUIRE(pool.execute("CREATE TABLE things (id bigint)"));
    const auto count = [&] { return std::get<0>(*pool.query("SELECT count(*) FROM things")->only<std::int64_t>()); };
    enum class ending { value, own_commit, error, exception, value_after_failure, statement_after };
    const auto insert = [&](ending how) {
        return pool.transact([&](postgres::transaction& on) -> result<void> {
            auto batch = pool.make_batch();
            batch.add("BEGIN");
            batch.add("INSERT INTO things VALUES (1)");
            REQUIRE(on.run(batch));
            if (how == ending::own_commit) REQUIRE(on.commit(pool.make_batch()));
            if (how == ending::error) return not_found();
            if (how == ending::statement_after) {
                auto last = pool.make_batch();
                last.add("SELECT 1");
                last.add_after_transaction("SELECT 1");
                if (auto done = on.commit(std::move(last)); !done) return std::move(done).error();
            }
            if (how == ending::exception) throw std::runtime_error{"thrown by the function"};
            if (how == ending::value_after_failure) {
                auto failing = pool.make_batch();
                failing.add("SELECT 1 / 0");
                REQUIRE_FALSE(on.run(failing));
            }
            return {};
        });
    };
    CHECK(insert(ending::value));
    CHECK(count() == 1);
    CHECK(insert(ending::own_commit));
    CHECK(count() == 2);
    CHECK_FALSE(insert(ending::error));
    CHECK_THROWS(insert(ending::exception));
    CHECK(insert(ending::value_after_failure).error().kind == error_kind::internal);
    CHECK(insert(ending::statement_after).error().kind == error_kind::internal);
    CHECK(count() == 2);
    CHECK(pool.transact([](postgres::transaction&) -> result<void> { return {}; }));  // without a batch
}

TEST_CASE("a failed transaction is rolled back also when the server's clock is to be read") {
    const auto servers = postgres::servers_of(postgres_server::shared().new_schema());
    REQUIRE(servers);
    postgres::server_clock clock{nullptr};
    auto opened = postgres::connection::open(servers->front(), {}, clock);
    REQUIRE(opened);
    const auto run = [&](postgres::statement_text text) {
        postgres::batch batch{milliseconds{0}};
        batch.add(text);
        return !opened->run(batch).failed;
    };
    REQUIRE(run("BEGIN"));
    CHECK_FALSE(run("SELECT 1 / 0"));
    const auto long_ago = tollgate::detail::boot_now() - std::chrono::minutes{5};
    clock.observe({long_ago, long_ago, clock.now()});
    CHECK(run("ROLLBACK"));
    CHECK(clock.wants_observation());  // and not before
    CHECK(run("SELECT 1"));
}

TEST_CASE("a server with several addresses is tried at each of them") {
    using list = std::vector<std::string>;
    using servers = std::vector<postgres::server_parameters>;
    const postgres::server_parameters named{{"dbname", "x"}, {"host", "db.example"}};
    CHECK(postgres::server_at_each(named, {}, "") == servers{named});
    const auto at = [&](const char* address) {
        auto server = named;
        server.emplace_back("hostaddr", address);
        return server;
    };
    CHECK(postgres::server_at_each(named, {"192.0.2.1"}, "192.0.2.7") == servers{at("192.0.2.1")});
    CHECK(postgres::server_at_each(named, {"192.0.2.1", "192.0.2.2"}, "") == servers{at("192.0.2.1"), at("192.0.2.2")});
    CHECK(postgres::server_at_each(named, {"192.0.2.1", "192.0.2.2", "192.0.2.3"}, "192.0.2.2") ==
          servers{at("192.0.2.2"), at("192.0.2.1"), at("192.0.2.3")});  // the one that responded last

    const auto addresses_of = [](const postgres::server_parameters& server) {
        return postgres::addresses_of(server, milliseconds{10'000}).value_or(list{"an error"});
    };
    CHECK(addresses_of({{"host", "192.0.2.1"}}) == list{"192.0.2.1"});
    CHECK(addresses_of({{"host", "::1"}}) == list{"::1"});
    CHECK(addresses_of({{"host", "/run/postgresql"}}).empty());
    CHECK(addresses_of({{"host", "@abstract"}}).empty());
    CHECK(addresses_of({{"host", "localhost"}, {"hostaddr", "127.0.0.1"}}).empty());
    CHECK(addresses_of({{"dbname", "x"}}).empty());
    CHECK(addresses_of({{"host", "not a host name"}, {"service", "shop"}}).empty());
    const auto failed = postgres::addresses_of({{"host", "not a host name"}}, milliseconds{10'000});
    REQUIRE_FALSE(failed);
    CHECK(failed.error().cause.starts_with("PostgreSQL: not a host name: no address for the host name"));
}

TEST_CASE("hosts and ports in the environment are separated, too") {
    struct variable {
        variable(const char* name_, const char* value) : name{name_} { ::setenv(name, value, 1); }
        ~variable() { ::unsetenv(name); }
        const char* name;
    };
    const auto places_of = [](const char* text) {
        std::vector<std::string> places;
        const auto servers = postgres::servers_of(text);
        for (const auto& server : servers.value_or(std::vector<postgres::server_parameters>{})) {
            std::string place;
            for (const auto& [keyword, value] : server)
                if (keyword == "host" || keyword == "hostaddr" || keyword == "port") place += value + " ";
            places.push_back(place);
        }
        return places;
    };
    using list = std::vector<std::string>;
    const variable port{"PGPORT", "5433,5434"};
    {
        const variable host{"PGHOST", "a.test,b.test"};
        CHECK(places_of("dbname=x") == list{"a.test 5433 ", "b.test 5434 "});
        CHECK(places_of("host=c.test,d.test") == list{"c.test 5433 ", "d.test 5434 "});
        CHECK(places_of("host=c.test port=1") == list{"c.test 1 "});
        CHECK(places_of("host=c.test").empty());  // with two ports
        CHECK(places_of("hostaddr=192.0.2.7,192.0.2.8") == list{"a.test 192.0.2.7 5433 ", "b.test 192.0.2.8 5434 "});
        CHECK(places_of("service=shop") == list{""});
        const variable service{"PGSERVICE", "shop"};
        CHECK(places_of("dbname=x") == list{""});
    }
    const variable address{"PGHOSTADDR", "192.0.2.1,192.0.2.2"};
    CHECK(places_of("dbname=x") == list{"192.0.2.1 5433 ", "192.0.2.2 5434 "});
    CHECK(places_of("hostaddr=192.0.2.7,192.0.2.8") == list{"192.0.2.7 5433 ", "192.0.2.8 5434 "});
    CHECK(places_of("host=a.test,b.test") == list{"a.test 192.0.2.1 5433 ", "b.test 192.0.2.2 5434 "});  // the names are for TLS
    CHECK(places_of("host=a.test").empty());
}

TEST_CASE("a name server that does not respond delays a connection by no more than connect_wait_max") {
    const name_that_hangs hanging;
    postgres_database_settings settings;
    settings.each.connect_wait_max = milliseconds{50};
    const auto opened = postgres_database::open("host=" + std::string{name_that_hangs::name} + " dbname=x", settings);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().kind == error_kind::unavailable);
    CHECK(opened.error().cause == "PostgreSQL: " + std::string{name_that_hangs::name} + ": no address for the host name in time");
}

TEST_CASE("values are read as they were written") {
    auto& server = postgres_server::shared();
    auto pool = open_pool(server.connection_string());
    auto found = pool.query("SELECT $1::bigint, $2::bigint, $3::boolean, $4::text, $5::bytea, $6::bigint, $7::text",
                          INT64_MIN, INT64_MAX, true, std::string_view{"Zo\xc3\xab\n'\"\\"}, digest{},
                          std::optional<std::int64_t>{}, std::optional<std::string>{""});
    REQUIRE(found);
    const auto row = found->only<std::int64_t, std::int64_t, bool, std::string, digest, std::optional<std::int64_t>,
                                 std::optional<std::string>>();
    REQUIRE(row);
    CHECK(std::get<0>(*row) == INT64_MIN);
    CHECK(std::get<1>(*row) == INT64_MAX);
    CHECK(std::get<2>(*row));
    CHECK(std::get<3>(*row) == "Zo\xc3\xab\n'\"\\");
    CHECK(std::get<4>(*row) == digest{});
    CHECK_FALSE(std::get<5>(*row));
    CHECK(std::get<6>(*row) == "");

    found = pool.query("SELECT a, b, c FROM unnest($1, $2, $3) AS each (a, b, c)", std::vector<std::int64_t>{1, -2, 3},
                     std::vector<std::optional<std::string>>{"x", {}, ""}, std::vector<bool>{true, false, true});
    REQUIRE(found);
    REQUIRE(found->count() == 3);
    using third = std::tuple<std::int64_t, std::optional<std::string>, bool>;
    CHECK(**found->next<std::int64_t, std::optional<std::string>, bool>() == third{1, "x", true});
    CHECK(**found->next<std::int64_t, std::optional<std::string>, bool>() == third{-2, {}, false});
    CHECK(**found->next<std::int64_t, std::optional<std::string>, bool>() == third{3, "", true});
    CHECK(std::get<0>(*pool.query("SELECT coalesce(array_length($1, 1), 0)::bigint", std::vector<std::int64_t>{})
                           ->only<std::int64_t>()) == 0);
}

TEST_CASE("a column of another type is an error, and so is a missing row") {
    auto& server = postgres_server::shared();
    auto pool = open_pool(server.connection_string());
    const auto kind_of = [](const auto& outcome) {
        REQUIRE_FALSE(outcome);
        return outcome.error().kind;
    };
    CHECK(kind_of(pool.query("SELECT 1::integer")->only<std::int64_t>()) == error_kind::internal);
    CHECK(kind_of(pool.query("SELECT 'x'::text")->only<std::int64_t>()) == error_kind::internal);
    CHECK(kind_of(pool.query("SELECT NULL::bigint")->only<std::int64_t>()) == error_kind::internal);
    CHECK(kind_of(pool.query("SELECT 0::bigint")->only<user_id>()) == error_kind::internal);
    CHECK(kind_of(pool.query("SELECT 1::bigint")->only<std::int64_t, std::optional<std::int64_t>>()) ==
          error_kind::internal);
    CHECK(kind_of(pool.query("SELECT 1::bigint WHERE false")->only<std::int64_t>()) == error_kind::internal);
    CHECK(kind_of(pool.query("SELECT nonsense")) == error_kind::internal);
    CHECK(kind_of(pool.query("SELECT $1::text", std::string_view{"\xff"})) == error_kind::invalid);
    CHECK(kind_of(pool.query("SELECT $1::text", std::string_view{"a\0b", 3})) == error_kind::invalid);
}

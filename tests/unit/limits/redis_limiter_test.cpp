#include <tollgate/limits/redis_limiter.hpp>

#include <tollgate/limits/detail/redis/client.hpp>
#include <tollgate/limits/detail/redis/connection.hpp>
#include <tollgate/pipeline/detail/stages.hpp>
#include <tollgate/policy/default_policies.hpp>

#include <support/eventually.hpp>
#include <support/redis_server.hpp>
#include <support/server_socket.hpp>
#include <support/tcp_proxy.hpp>
#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace tollgate;
using std::chrono::hours;
using tollgate_test::eventually;
using tollgate_test::redis_server;
using tollgate_test::tcp_proxy;

namespace {

constexpr quota sixty_an_hour{60, hours{1}};
constexpr instant some_time = from_unix_seconds(1'700'000'000);

limit_key user(std::int64_t number) { return limit_key::of(user_id{number}); }

/// Settings with a unique prefix, and timeouts for slow machines.
redis_limiter_settings test_settings() {
    static std::atomic<int> count{0};
    redis_limiter_settings settings;
    settings.prefix = "test" + std::to_string(++count) + ":";
    settings.connect_wait_max = settings.response_wait_max = seconds{60};
    settings.counted_here = {64, 64};
    return settings;
}

redis_limiter open(const std::string& url, const redis_limiter_settings& settings) {
    auto opened = redis_limiter::open(url, settings);
    INFO((opened ? "" : opened.error().message));
    REQUIRE(opened);
    return *std::move(opened);
}

std::string proxied(const tcp_proxy& proxy) { return "redis://127.0.0.1:" + std::to_string(proxy.port()); }

instant real_now() { return std::chrono::floor<milliseconds>(std::chrono::system_clock::now()); }

milliseconds time_of(const std::function<void()>& work) {
    const auto before = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - before);
}

std::uint32_t admitted_of(redis_limiter& by, int takes, const limit_key& key, const quota& allowed) {
    std::uint32_t admitted = 0;
    for (int i = 0; i < takes; ++i) admitted += by.take(key, allowed, some_time).admitted ? 1U : 0U;
    return admitted;
}

struct notices {
    std::mutex mutex;
    std::vector<std::pair<bool, std::string>> all;

    auto hook() {
        return [this](bool up, std::string_view message) {
            const std::scoped_lock held{mutex};
            all.emplace_back(up, message);
        };
    }
    std::size_t count() {
        const std::scoped_lock held{mutex};
        return all.size();
    }
    std::pair<bool, std::string> at(std::size_t index) {
        const std::scoped_lock held{mutex};
        return all.at(index);
    }
};

}  // namespace

TEST_CASE("time limits out of bounds are refused") {
    for (const milliseconds wrong : {milliseconds{0}, milliseconds{-1}, milliseconds{hours{1}} + milliseconds{1}, (milliseconds::max)()}) {
        redis_limiter_settings connecting, responding;
        connecting.connect_wait_max = responding.response_wait_max = wrong;
        for (const auto& settings : {connecting, responding}) {
            const auto opened = redis_limiter::open("redis://127.0.0.1", settings);
            REQUIRE_FALSE(opened);
            CHECK(opened.error().kind == error_kind::invalid);
            CHECK(opened.error().message == std::string{"The Redis limiter setting "} +
                                                (settings.connect_wait_max == wrong ? "connect_wait_max" : "response_wait_max") +
                                                " must be from 1 to 3600000 ms.");
        }
    }
    redis_limiter_settings settings;
    settings.connect_wait_max = milliseconds{1};
    settings.response_wait_max = hours{1};
    CHECK(redis_limiter::open("redis://127.0.0.1", settings));
}

TEST_CASE("a window in Redis begins with the first request and admits exactly the quota, whatever the node's clock") {
    auto limiter = open(redis_server::shared().url(), test_settings());
    const auto before = real_now();
    instant resets_at{};
    for (std::uint32_t i = 1; i <= 60; ++i) {
        // The node's clock is five minutes off, in both directions.
        const auto reply = limiter.take(user(1), sixty_an_hour, real_now() + std::chrono::minutes{i % 2 == 0 ? 5 : -5});
        CAPTURE(i);
        REQUIRE(reply.admitted);
        REQUIRE(reply.limit == 60);
        REQUIRE(reply.remaining == 60 - i);
        if (i == 1) resets_at = reply.resets_at;
        REQUIRE(reply.resets_at == resets_at);
    }
    CHECK(resets_at >= before + hours{1} - milliseconds{2});
    CHECK(resets_at <= real_now() + hours{1} + milliseconds{2});
    for (const auto now : {some_time, some_time + hours{24 * 3650}}) {
        const auto refused = limiter.take(user(1), sixty_an_hour, now);
        CHECK_FALSE(refused.admitted);
        CHECK(refused.remaining == 0);
        CHECK(refused.resets_at == resets_at);
    }
    CHECK(limiter.take(user(2), sixty_an_hour, some_time).remaining == 59);
    CHECK(limiter.take(limit_key::of(ip_address::v4(0, 0, 0, 1)), sixty_an_hour, some_time).remaining == 59);
}

TEST_CASE("keys are short, contain the user or address, and expire one second after their window") {
    auto settings = test_settings();
    auto& server = redis_server::shared();
    auto limiter = open(server.url(), settings);
    (void)limiter.take(user(7), {5, seconds{100}}, some_time);
    (void)limiter.take(limit_key::of(ip_address::v4(192, 0, 2, 1)), {5, seconds{1000}}, some_time);
    const auto ttl = server.run({"PTTL", settings.prefix + "user:7"}).numbers[0];
    CHECK(ttl > 90'000);
    CHECK(ttl <= 101'000);
    const auto other = server.run({"PTTL", settings.prefix + "address:0000ffffc0000201"}).numbers[0];
    CHECK(other > 990'000);
    CHECK(other <= 1'001'000);

    (void)limiter.peek(user(8), sixty_an_hour, some_time);
    (void)limiter.take(user(8), {0, hours{1}}, some_time);
    CHECK(server.run({"EXISTS", settings.prefix + "user:8"}).numbers[0] == 0);
}

TEST_CASE("a changed quota also applies at once in Redis") {
    auto limiter = open(redis_server::shared().url(), test_settings());
    const auto take = [&](const quota& allowed) { return limiter.take(user(1), allowed, some_time); };
    CHECK(admitted_of(limiter, 3, user(1), {2, hours{1}}) == 2);
    const auto raised = take({10, hours{1}});
    CHECK(raised.admitted);
    CHECK(raised.remaining == 7);
    const auto lowered = take({1, hours{1}});
    CHECK_FALSE(lowered.admitted);
    CHECK(lowered.remaining == 0);
    CHECK_FALSE(take({3, hours{24}}).admitted);
    const auto longer = limiter.peek(user(1), {3, hours{24}}, some_time);
    CHECK(longer.resets_at > real_now() + hours{23});
    // A window of zero length never counts anything.
    for (int i = 0; i < 3; ++i) CHECK(take({1, seconds{0}}).admitted);
    CHECK(take({1, (seconds::max)()}).resets_at > real_now() + hours{24 * 365 * 99});
    CHECK_FALSE(take({1, (seconds::max)()}).admitted);
}

TEST_CASE("decisions equal the model's for random requests, by the server's clock") {
    struct window {
        std::int64_t began_at = 0;
        std::uint32_t requests = 0;
        std::int64_t length = 0;
    };
    auto settings = test_settings();
    const redis::window_script script{settings.prefix};
    auto address = redis::parse_url(redis_server::shared().url());
    REQUIRE(address);
    redis::client client{*address, nullptr, script, {}};
    std::map<std::int64_t, window> windows;
    std::mt19937 random{Catch::rngSeed()};
    const auto pick = [&random](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
    std::uint32_t begun_anew = 0;
    const auto end = redis::steady::now() + milliseconds{2500};
    for (int step = 0; redis::steady::now() < end || begun_anew <= 10; ++step) {
        const std::int64_t number = 1 + pick(1000);
        const quota allowed{pick(8), seconds{pick(30) == 0 ? 0 : 1 + pick(3)}};
        const bool counts = pick(4) != 0;
        const redis::window_request request{user(number), tollgate::detail::bounded_quota{allowed}, counts};
        auto& known = windows[number];
        const auto [outcome, reply] = client.send(request);
        REQUIRE((outcome == redis::outcome::replied));
        const std::int64_t length = allowed.window.count() * 1000, now = reply.now_milliseconds;
        CAPTURE(step, number, counts, allowed.requests, length, now, known.began_at, known.requests, known.length);
        window found{now, 0, length};
        const bool is_open = known.length != 0 && now < known.began_at + (std::min)(length, known.length);
        if (is_open) {
            found = known;
        } else if (known.began_at != 0) {
            ++begun_anew;
        }
        const bool counted = counts && found.requests < allowed.requests;
        if (counted) ++found.requests;
        if (counts && (is_open || counted)) {
            found.length = length;
            known = found;
        }
        REQUIRE(reply.counted == counted);
        REQUIRE(reply.began_at_milliseconds == found.began_at);
        REQUIRE(reply.remaining == (found.requests < allowed.requests ? allowed.requests - found.requests : 0));
    }
}

TEST_CASE("threads and nodes together are admitted exactly as often as the quota allows") {
    auto settings = test_settings();
    std::vector<redis_limiter> nodes;
    for (int i = 0; i < 3; ++i) nodes.push_back(open(redis_server::shared().url(), settings));
    const quota allowed{1000, hours{1}};
    std::atomic<std::uint32_t> admitted{0};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 6; ++t)
        threads.emplace_back([&, t] { admitted += admitted_of(nodes[t % 3], 600, user(1), allowed); });
    for (auto& each : threads) each.join();
    CHECK(admitted == 1000);
    for (auto& each : nodes) CHECK_FALSE(each.take(user(1), allowed, some_time).admitted);
}

TEST_CASE("a request takes one round trip") {
    tcp_proxy proxy{redis_server::shared().socket_path()};
    auto one = open(proxied(proxy), test_settings());
    (void)one.take(user(1), sixty_an_hour, some_time);  // connects, and may have to load the script
    const auto before = proxy.round_trips();
    for (int i = 0; i < 20; ++i) (void)one.take(user(1), sixty_an_hour, some_time);
    (void)one.peek(user(1), sixty_an_hour, some_time);
    CHECK(proxy.round_trips() == before + 21);
    CHECK(proxy.accepted() == 1);
    CHECK_FALSE(one.try_take(user(1), sixty_an_hour, some_time));
    CHECK_FALSE(one.try_peek(user(1), sixty_an_hour, some_time));
}

TEST_CASE("a refusal is repeated without a round trip, for its key and quota, and then Redis is asked again") {
    tcp_proxy proxy{redis_server::shared().socket_path()};
    auto limiter = open(proxied(proxy), test_settings());
    const quota two{2, hours{1}}, three{3, hours{1}};
    for (int i = 0; i < 2; ++i) REQUIRE(limiter.take(user(1), two, some_time).admitted);
    // A slow machine may need more than 100 ms for these calls.
    CHECK(eventually([&] {
        const auto refused = limiter.take(user(1), two, some_time);
        const auto before = proxy.round_trips();
        const std::optional<limit_decision> repeated[]{limiter.try_take(user(1), two, some_time), limiter.try_peek(user(1), two, some_time),
                                                       limiter.take(user(1), two, some_time), limiter.peek(user(1), two, some_time)};
        return proxy.round_trips() == before && std::all_of(std::begin(repeated), std::end(repeated), [&](const auto& each) {
                   return each && !each->admitted && each->limit == 2 && each->remaining == 0 && each->resets_at == refused.resets_at;
               });
    }));
    CHECK(eventually([&] {
        const auto before = proxy.round_trips();
        return !limiter.take(user(1), two, some_time).admitted && proxy.round_trips() == before + 1;
    }));
    CHECK_FALSE(limiter.try_take(user(1), three, some_time));
    CHECK_FALSE(limiter.try_take(user(2), two, some_time));
    CHECK(limiter.take(user(1), three, some_time).admitted);
}

TEST_CASE("after SCRIPT FLUSH the script is loaded again, and no count is lost") {
    auto& server = redis_server::shared();
    auto limiter = open(server.url(), test_settings());
    CHECK(limiter.take(user(1), sixty_an_hour, some_time).remaining == 59);
    (void)server.run({"SCRIPT", "FLUSH"});
    CHECK(limiter.take(user(1), sixty_an_hour, some_time).remaining == 58);
    CHECK(limiter.is_up());
}

namespace {

/// Requests of several threads, which share round trips; `meanwhile` runs at the same time. Each must be counted once, for its own key.
template <class Meanwhile>
void count_with_threads(redis_limiter& limiter, std::int64_t first_user, Meanwhile meanwhile) {
    const quota allowed{500, hours{1}};
    std::atomic<std::uint32_t> shared_by_all = 0;
    std::atomic<int> wrong = 0;
    constexpr int count = 8;
    std::atomic<int> running = count;
    std::vector<std::thread> threads;
    for (int t = 0; t < count; ++t)
        threads.emplace_back([&, t] {
            for (std::uint32_t i = 0; i < 100; ++i) {
                shared_by_all += limiter.take(user(first_user), allowed, some_time).admitted ? 1U : 0U;
                // No other request counts for this key, so the remaining count is known exactly.
                const auto own = limiter.take(user(first_user + 1 + t), allowed, some_time);
                if (!own.admitted || own.remaining != allowed.requests - i - 1) ++wrong;
            }
            --running;
        });
    while (running > 0) meanwhile();
    for (auto& each : threads) each.join();
    CHECK(shared_by_all == 500);
    CHECK(wrong == 0);
    CHECK(limiter.is_up());
}

/// How many commands that run scripts a server has received.
std::int64_t commands_of(const redis_server& server) {
    return server.run({"EVAL",
                       "local calls = 0; for each in string.gmatch(redis.call('INFO', 'commandstats'), 'cmdstat_evalsha:calls=(%d+)') do "
                       "calls = calls + each end return calls",
                       "0"})
        .numbers.at(0);
}

}  // namespace

TEST_CASE("requests that share a round trip are counted exactly, each for its own key, even if the script is lost") {
    auto& server = redis_server::shared();
    auto limiter = open(server.url(), test_settings());
    count_with_threads(limiter, 1, [&] {
        (void)server.run({"SCRIPT", "FLUSH"});
        std::this_thread::yield();
    });
}

TEST_CASE("requests that share a round trip share a command") {
    redis_server server;
    auto limiter = open(server.url(), test_settings());
    count_with_threads(limiter, 1, [] { std::this_thread::yield(); });
    CHECK(commands_of(server) < 1600);
}

TEST_CASE("only an error that is not of the server's state says that it takes no command with several keys") {
    for (const char* passing : {"BUSY Redis is busy running a script.", "LOADING Redis is loading the dataset in memory",
                                "MISCONF Redis is configured to save RDB snapshots", "NOREPLICAS Not enough good replicas to write.",
                                "ERR Error running script: @user_script: 7: -READONLY You can't write against a read only replica."})
        CHECK(redis::detail::find_known_error(passing));
    for (const char* lasting : {"CROSSSLOT Keys in request don't hash to the same slot", "ERR unsupported command", ""})
        CHECK_FALSE(redis::detail::find_known_error(lasting));
}

TEST_CASE("a server that refuses writes is unavailable, and a health check does not say otherwise") {
    redis_server server;
    std::vector<std::string> events;
    auto settings = test_settings();
    settings.on_state = [&events](bool up, std::string_view event) { events.push_back(up ? "up" : std::string{event}); };
    auto limiter = open(server.url(), settings);
    REQUIRE(limiter.try_now());
    (void)server.run({"CONFIG", "SET", "min-replicas-to-write", "1"});
    for (int i = 0; i < 3; ++i) CHECK_FALSE(limiter.try_now());
    CHECK_FALSE(limiter.is_up());
    REQUIRE(events.size() == 1);
    CHECK(events[0].find("too few of its replicas are connected") != std::string::npos);
    (void)server.run({"CONFIG", "SET", "min-replicas-to-write", "0"});
    CHECK(eventually([&] { return limiter.try_now(); }));
    CHECK(events.size() == 2);
}

TEST_CASE("a cluster gets a command for each key") {
    // By default the cluster bus port is 10000 above the other port, which may exceed 65535.
    const tollgate_test::reserved_port bus;
    redis_server server{{"--cluster-enabled", "yes", "--cluster-port", std::to_string(bus.port())}};
    (void)server.run({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
    auto limiter = open(server.url(), test_settings());
    REQUIRE(eventually([&] { return limiter.try_now(); }));
    count_with_threads(limiter, 1, [] { std::this_thread::yield(); });
    CHECK(commands_of(server) > 1200);  // all but those that were sent together before the first refusal
}

TEST_CASE("one key of another type does not affect the other keys of its command") {
    const redis::window_script script{"together:"};
    auto& server = redis_server::shared();
    (void)server.run({"LPUSH", "together:user:2", "x"});
    const auto reply = server.run({"EVAL", redis::window_script::text(), "3", "together:user:1", "together:user:2", "together:user:3",
                                   "10", "60000", "1", "10", "60000", "1", "10", "60000", "1"});
    const redis::window_request request{user(1), tollgate::detail::bounded_quota{{10, seconds{60}}}, true};
    CHECK((redis::window_script::read(request, reply, 0).outcome == redis::outcome::replied));
    CHECK((redis::window_script::read(request, reply, 1).outcome == redis::outcome::wrong_type));
    CHECK((redis::window_script::read(request, reply, 2).outcome == redis::outcome::replied));
    CHECK((redis::window_script::read(request, reply, 3).outcome == redis::outcome::unavailable));
    CHECK(redis::window_script::read(request, reply, 2).reply.remaining == 9);
}

TEST_CASE("only requests of a key with a value of another type are decided by when_down") {
    auto& server = redis_server::shared();
    auto settings = test_settings();
    notices state_changes;
    settings.on_state = state_changes.hook();
    auto limiter = open(server.url(), settings);
    (void)server.run({"LPUSH", settings.prefix + "user:1", "x"});
    CHECK(limiter.take(user(1), {2, hours{1}}, some_time).resets_at == some_time + hours{1});
    CHECK(limiter.take(user(1), {2, hours{1}}, some_time).admitted);
    CHECK_FALSE(limiter.take(user(1), {2, hours{1}}, some_time).admitted);
    CHECK(limiter.take(user(2), {2, hours{1}}, some_time).resets_at > some_time + hours{2});
    CHECK(state_changes.count() == 0);
    // Text that is not a window counts as no window.
    (void)server.run({"SET", settings.prefix + "user:3", "1 2"});
    CHECK(limiter.take(user(3), {2, hours{1}}, some_time).remaining == 1);
}

namespace {

/// Counts each request in two windows.
struct two_windows {
    static constexpr bool blocking = true;

    redis_limiter shared;

    limit_decision take(const limit_key& key, const quota& allowed, instant now) noexcept { return shared.take(key, allowed, now); }
    limit_decision peek(const limit_key& key, const quota& allowed, instant now) noexcept { return shared.peek(key, allowed, now); }
    limit_windows windows_of(const limited_request& request) const noexcept {
        return {{request.key, request.allowed}, {request.key.in("second"), {2, hours{1}}}};
    }
};

}  // namespace

TEST_CASE("without Redis each window that admits or refuses a request is a fallback, once") {
    redis_server server;
    auto settings = test_settings();
    struct row {
        without_redis when_down;
        std::vector<std::uint64_t> fallbacks;  // after each request
    };
    // `count_here` admits two requests; then only the second window refuses.
    const auto expected = GENERATE(row{without_redis::count_here, {2, 4, 5, 6}}, row{without_redis::admit, {2, 4, 6, 8}},
                                   row{without_redis::refuse, {2, 4, 6, 8}});
    settings.when_down = expected.when_down;
    two_windows limiter{open(server.url(), settings)};
    server.stop();
    const account_service_settings quotas{.anonymous_quota = sixty_an_hour, .user_quota = sixty_an_hour};
    for (const auto fallbacks : expected.fallbacks) {
        pipeline::request_state state;
        state.now = some_time;
        CHECK(pipeline::count_request(limiter, quotas, "/me", http::request{}, http::thread_kind::worker, state));
        CHECK(limiter.shared.statistics().fallbacks == fallbacks);
    }
}

TEST_CASE("without Redis each node decides by when_down and reports it once") {
    redis_server server;
    auto settings = test_settings();
    notices state_changes;
    settings.on_state = state_changes.hook();
    const auto when_down = GENERATE(without_redis::count_here, without_redis::admit, without_redis::refuse);
    settings.when_down = when_down;
    auto limiter = open(server.url(), settings);
    CHECK(limiter.take(user(1), {3, hours{1}}, some_time).remaining == 2);
    CHECK(limiter.statistics().fallbacks == 0);
    server.stop();
    const auto first = limiter.take(user(1), {3, hours{1}}, some_time);
    for (int i = 0; i < 1000; ++i) (void)limiter.take(user(2), {3, hours{1}}, some_time);
    const auto last = limiter.take(user(2), {3, hours{1}}, some_time);
    CHECK(state_changes.count() == 1);
    CHECK_FALSE(state_changes.at(0).first);
    CHECK(state_changes.at(0).second.find("Redis at 127.0.0.1:") == 0);
    CHECK_FALSE(limiter.is_up());
    // Of the calls of `peek`, only one that refuses is counted.
    CHECK(limiter.peek(user(1), {3, hours{1}}, some_time).admitted == (when_down != without_redis::refuse));
    CHECK(limiter.statistics().fallbacks == (when_down == without_redis::refuse ? 1003 : 1002));
    if (when_down == without_redis::count_here) {
        CHECK(first.remaining == 2);  // counted in Redis, not on this node
        CHECK(first.resets_at == some_time + hours{1});
        CHECK_FALSE(last.admitted);
    } else if (when_down == without_redis::admit) {
        CHECK(first.admitted);
        CHECK(last.admitted);
        CHECK(last.limit == 3);
        CHECK_FALSE(limiter.take(user(2), {0, hours{1}}, some_time).admitted);
    } else {
        CHECK_FALSE(first.admitted);
        CHECK(first.limit == 3);
        CHECK(first.remaining == 0);
        CHECK(first.resets_at == some_time + seconds{1});
        CHECK_FALSE(limiter.peek(user(1), {3, hours{1}}, some_time).admitted);
    }
    server.start();
    CHECK(eventually([&] { return limiter.take(user(3), {1000, hours{1}}, some_time).resets_at > some_time + hours{2}; }));
    CHECK(state_changes.count() == 2);
    CHECK(state_changes.at(1).first);
    CHECK(limiter.is_up());
}

TEST_CASE("opening the limiter succeeds while Redis is down") {
    redis_server server;
    server.stop();
    auto settings = test_settings();
    notices state_changes;
    settings.on_state = state_changes.hook();
    auto limiter = open(server.url(), settings);
    CHECK(limiter.is_up());
    CHECK_FALSE(limiter.try_now());
    CHECK(state_changes.count() == 1);
    CHECK(limiter.take(user(1), sixty_an_hour, some_time).remaining == 59);
    server.start();
    CHECK(eventually([&] { return limiter.try_now(); }));
    CHECK(state_changes.count() == 2);
}

TEST_CASE("a Redis that hangs delays only the request that notices, within response_wait_max") {
    tcp_proxy proxy{redis_server::shared().socket_path()};
    auto settings = test_settings();
    settings.response_wait_max = milliseconds{300};
    notices state_changes;
    settings.on_state = state_changes.hook();
    auto limiter = open(proxied(proxy), settings);
    CHECK(eventually([&] { return limiter.try_now(); }));
    const auto changes_before = state_changes.count();
    proxy.set_mode(tcp_proxy::mode::hang);
    const auto take_together = [&] {
        std::vector<std::thread> threads;
        for (int t = 0; t < 6; ++t)
            threads.emplace_back([&] { (void)limiter.take(user(1), sixty_an_hour, some_time); });
        for (auto& each : threads) each.join();
    };
    take_together();
    CHECK(state_changes.count() == changes_before + 1);
    CHECK_FALSE(limiter.is_up());
    for (int i = 0; i < 10'000; ++i) (void)limiter.take(user(2), sixty_an_hour, some_time);  // if each waited: almost an hour
    // At the next retry time one request probes; more do only if a busy machine delays them until the next retry.
    CHECK(eventually([&] {
        const auto accepted = proxy.accepted();
        take_together();
        return proxy.accepted() == accepted + 1;
    }));
    proxy.set_mode(tcp_proxy::mode::forward);
    CHECK(eventually([&] { return limiter.try_now(); }));
    CHECK(state_changes.count() == changes_before + 2);
}

TEST_CASE("requests that fail together count as one failure, and the first retry comes soon") {
    tcp_proxy proxy{redis_server::shared().socket_path()};
    auto settings = test_settings();
    auto limiter = open(proxied(proxy), settings);
    const auto ask_together = [&] {
        std::vector<std::thread> threads;
        for (int t = 0; t < 8; ++t)
            threads.emplace_back([&, t] { (void)limiter.take(user(t + 1), sixty_an_hour, some_time); });
        for (auto& each : threads) each.join();
    };
    ask_together();
    REQUIRE(limiter.is_up());
    // 100 ms; after eight failures in a row it would be 2 s minus up to a quarter. A busy machine may take longer now and then.
    CHECK(eventually([&] {
        proxy.set_mode(tcp_proxy::mode::drop_responses);
        ask_together();
        CHECK_FALSE(limiter.is_up());
        proxy.set_mode(tcp_proxy::mode::forward);
        return time_of([&] { CHECK(eventually([&] { return limiter.try_now(); })); }) < milliseconds{1300};
    }));
}

TEST_CASE("a connection that the server closed is replaced without a failed request") {
    auto& server = redis_server::shared();
    auto settings = test_settings();
    notices state_changes;
    settings.on_state = state_changes.hook();
    auto limiter = open(server.url(), settings);
    CHECK(limiter.take(user(1), sixty_an_hour, some_time).remaining == 59);
    (void)server.run({"CLIENT", "KILL", "TYPE", "normal"});
    CHECK(eventually([&] { return server.run({"PING"}).error.empty(); }));
    CHECK(limiter.take(user(1), sixty_an_hour, some_time).remaining == 58);
    CHECK(state_changes.count() == 0);
}

TEST_CASE("a reply that the server cannot count means unavailable, with its cause") {
    redis_server server;
    auto settings = test_settings();
    notices state_changes;
    settings.on_state = state_changes.hook();
    SECTION("a replica after a failover") {
        auto limiter = open(server.url(), settings);
        REQUIRE(limiter.try_now());
        (void)server.run({"REPLICAOF", "127.0.0.1", "1"});
        CHECK(limiter.take(user(1), sixty_an_hour, some_time).remaining == 59);
        REQUIRE(state_changes.count() == 1);
        CAPTURE(state_changes.at(0).second);
        CHECK((state_changes.at(0).second.find("replica") != std::string::npos));
        (void)server.run({"REPLICAOF", "NO", "ONE"});
        CHECK(eventually([&] { return limiter.try_now(); }));
        CHECK(state_changes.count() == 2);
    }
    SECTION("out of memory") {
        auto limiter = open(server.url(), settings);
        REQUIRE(limiter.try_now());
        (void)server.run({"CONFIG", "SET", "maxmemory", "1"});
        (void)limiter.take(user(1), sixty_an_hour, some_time);
        REQUIRE(state_changes.count() == 1);
        CAPTURE(state_changes.at(0).second);
        CHECK(state_changes.at(0).second.find("out of memory") != std::string::npos);
    }
    SECTION("no password, a wrong password, and the right one") {
        (void)server.run({"CONFIG", "SET", "requirepass", "s@cret"});
        auto without = open(server.url(), settings);
        CHECK_FALSE(without.try_now());
        REQUIRE(state_changes.count() == 1);
        CAPTURE(state_changes.at(0).second);
        CHECK(state_changes.at(0).second.find("requires a password") != std::string::npos);
        const auto at = ":" + std::to_string(server.port());
        auto wrong = open("redis://:hunter2@127.0.0.1" + at, settings);
        CHECK_FALSE(wrong.try_now());
        REQUIRE(state_changes.count() == 2);
        CHECK(state_changes.at(1).second.find("AUTH") != std::string::npos);
        CHECK(state_changes.at(1).second.find("hunter2") == std::string::npos);
        CHECK(open("redis://:s%40cret@127.0.0.1" + at + "/3", settings).try_now());
        CHECK(open("redis://default:s%40cret@127.0.0.1" + at, settings).try_now());
        CHECK_FALSE(open("redis://:s%40cret@127.0.0.1" + at + "/16", settings).try_now());
        CHECK(state_changes.at(2).second.find("SELECT 16") != std::string::npos);
    }
}

TEST_CASE("only the code of an AUTH error is shown: the rest may quote the password") {
    const auto [options, code] = GENERATE(table<std::vector<std::string>, std::string>({
        {{"--rename-command", "AUTH", ""}, "AUTH: ERR"},
        {{"--requirepass", "s@cret"}, "AUTH: WRONGPASS"},
    }));
    redis_server server{options};
    auto settings = test_settings();
    notices state_changes;
    settings.on_state = state_changes.hook();
    for (const char* user : {"", "default"}) {
        auto limiter = open(std::string{"redis://"} + user + ":hunter2@127.0.0.1:" + std::to_string(server.port()), settings);
        const auto before = state_changes.count();
        CHECK_FALSE(limiter.try_now());
        REQUIRE(state_changes.count() == before + 1);
        CHECK(state_changes.at(before).second.ends_with(code));
    }
}

TEST_CASE("over TLS, the server's certificate must be trusted and match the host name") {
    const redis_server server{tollgate_test::make_certificate("localhost", "DNS:localhost,IP:127.0.0.1")};
    auto settings = test_settings();
    notices state_changes;
    settings.on_state = state_changes.hook();
    const auto at = ":" + std::to_string(server.port());

    CHECK_FALSE(open("rediss://127.0.0.1" + at, settings).try_now());
    REQUIRE(state_changes.count() == 1);
    CHECK(state_changes.at(0).second.find("TLS: self-signed certificate") != std::string::npos);

    settings.authorities_file = server.certificate_file();
    auto good = open("rediss://127.0.0.1" + at, settings);
    CHECK(admitted_of(good, 5, user(1), {3, hours{1}}) == 3);
    CHECK(open("rediss://localhost" + at, settings).try_now());
    CHECK_FALSE(open("redis://127.0.0.1" + at, settings).try_now());

    const redis_server other{tollgate_test::make_certificate("elsewhere", "DNS:elsewhere.example")};
    settings.authorities_file = other.certificate_file();
    CHECK_FALSE(open("rediss://127.0.0.1:" + std::to_string(other.port()), settings).try_now());
    CHECK(state_changes.at(state_changes.count() - 1).second.find("mismatch") != std::string::npos);
    CHECK_FALSE(open("rediss://localhost:" + std::to_string(other.port()), settings).try_now());

    const tollgate_test::temporary_directory directory;
    settings.authorities_file = directory.file("authorities.pem");
    std::filesystem::copy_file(other.certificate_file(), settings.authorities_file);
    auto later = open("rediss://127.0.0.1" + at, settings);
    CHECK_FALSE(later.try_now());
    std::filesystem::copy_file(server.certificate_file(), settings.authorities_file, std::filesystem::copy_options::overwrite_existing);
    CHECK(later.reload_authorities());
    CHECK(eventually([&] { return later.try_now(); }));
    std::filesystem::remove(settings.authorities_file);
    CHECK_FALSE(later.reload_authorities());
    CHECK(open("redis://127.0.0.1" + at, settings).reload_authorities());  // without TLS there are none

    settings.authorities_file = "/nowhere.pem";
    const auto refused = redis_limiter::open("rediss://localhost", settings);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("/nowhere.pem") != std::string::npos);
    CHECK(redis_limiter::open("redis://localhost", settings));
}

namespace {

void tell_the_operator(bool, std::string_view) {}

void in_the_docs(const std::string& url) {
    // [limits]
    auto limits = redis_limiter::open(url, {.on_state = tell_the_operator});
    // not a URL, or authorities that cannot be read
    if (!limits) return tell_the_operator(false, limits.error().message);
    auto policies = default_policies().with_limiter(std::ref(*limits));
    // [/limits]
    CHECK(policies.limiter().take(user(1), sixty_an_hour, some_time).limit == 60);
}

}  // namespace

TEST_CASE("it replaces the default limiter") { in_the_docs(redis_server::shared().url()); }

TEST_CASE("open refuses an invalid Redis URL") {
    const auto refused = redis_limiter::open("redis://h:x");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == error_kind::invalid);
}

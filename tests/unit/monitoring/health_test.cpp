#include <tollgate/monitoring/health.hpp>

#include <support/child_process.hpp>
#include <support/eventually.hpp>
#include <support/gate.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace tollgate;
using tollgate_test::eventually;
using tollgate_test::gate;

namespace {

std::atomic<std::int64_t> milliseconds_now = 1000;

std::chrono::steady_clock::time_point fake_now() noexcept {
    return std::chrono::steady_clock::time_point{std::chrono::milliseconds{milliseconds_now.load()}};
}

http::response fetch(const health& checks, std::string_view path, http::method method = http::method::get) {
    http::request request;
    request.method = method;
    request.target = http::target::from(path);
    http::response response;
    checks.handle(request, response);
    return response;
}

}  // namespace

TEST_CASE("a child process leaves the checks of its parent alone", "[pipeline][health]") {
    std::atomic<int> runs = 0;
    auto checks = std::make_unique<health>(health_settings{.interval = milliseconds{1}, .timeout = std::chrono::hours{1}});
    checks->add("store", [&]() -> result<void> {
        ++runs;
        return {};
    });
    REQUIRE(checks->start());
    tollgate_test::child_process child{[&] {
        ::alarm(100);  // the test fails if it makes no progress
        checks->stop();
        checks.reset();
        return 0;
    }};
    CHECK(child.wait() == 0);
    const int before = runs;
    CHECK(eventually([&] { return runs > before + 1; }));
}

TEST_CASE("a check may stop the checks, and end the process", "[pipeline][health]") {
    tollgate_test::child_process child{[] {
        ::alarm(100);
        static std::unique_ptr<health> checks = std::make_unique<health>(health_settings{.interval = milliseconds{1}});
        checks->add("store", []() -> result<void> {
            checks->stop();
            std::exit(7);
        });
        if (!checks->start()) return 1;
        for (;;) ::pause();
    }};
    CHECK(child.wait() == 7);
}

TEST_CASE("readiness follows the checks, and health does not", "[pipeline][health]") {
    std::atomic<bool> store_fails = true;
    health checks{{.interval = milliseconds{1}, .timeout = std::chrono::hours{1}}};
    checks.add("store", [&]() -> result<void> {
        if (store_fails) return unavailable("away");
        return {};
    });
    checks.add("limits", []() -> result<void> { return {}; });
    CHECK(checks.failing() == std::vector<std::string>{"store", "limits"});  // neither has run
    CHECK(fetch(checks, "/healthz").status() == http::status::ok);
    REQUIRE(checks.start());

    CHECK(eventually([&] { return checks.failing() == std::vector<std::string>{"store"}; }));
    const auto failing = fetch(checks, "/readyz");
    CHECK(failing.status() == http::status::service_unavailable);
    CHECK(failing.body() == R"({"ready":false,"failing":["store"]})");
    CHECK(failing.find("Content-Type") == "application/json");
    CHECK(fetch(checks, "/healthz").status() == http::status::ok);

    store_fails = false;
    CHECK(eventually([&] { return checks.failing().empty(); }));
    CHECK(fetch(checks, "/readyz").status() == http::status::ok);
    CHECK(fetch(checks, "/readyz").body() == R"({"ready":true})");
    CHECK(fetch(checks, "/readyz").find("X-Content-Type-Options") == "nosniff");
    CHECK(fetch(checks, "/readyz", http::method::post).status() == http::status::method_not_allowed);
    const auto options = fetch(checks, "/readyz", http::method::options);
    CHECK(options.status() == http::status::no_content);
    CHECK(options.find("Allow") == "GET, HEAD, OPTIONS");

    store_fails = true;
    CHECK(eventually([&] { return !checks.failing().empty(); }));
}

TEST_CASE("a process that stops is not ready, but healthy", "[pipeline][health]") {
    std::atomic<bool> fails = false;
    health checks{{.interval = milliseconds{1}, .timeout = std::chrono::hours{1}}};
    checks.add("store", [&]() -> result<void> {
        if (fails) return unavailable("away");
        return {};
    });
    REQUIRE(checks.start());
    CHECK(eventually([&] { return checks.failing().empty(); }));
    checks.begin_stop();
    CHECK(fetch(checks, "/readyz").status() == http::status::service_unavailable);
    CHECK(fetch(checks, "/readyz").body() == R"({"ready":false,"failing":["stopping"]})");
    CHECK(fetch(checks, "/healthz").status() == http::status::ok);
    fails = true;
    CHECK(eventually([&] { return checks.failing() == std::vector<std::string>{"stopping", "store"}; }));
}

TEST_CASE("a check that hangs counts as failing and delays nothing else", "[pipeline][health]") {
    std::atomic<bool> hangs = false, is_in = false, leave = false;
    health checks{{.interval = milliseconds{1}, .timeout = seconds{1}, .now = &fake_now}};
    checks.add("store", [&]() -> result<void> {
        if (!hangs) return {};
        is_in = true;
        is_in.notify_all();
        leave.wait(false);
        return {};
    });
    REQUIRE(checks.start());
    CHECK(eventually([&] { return checks.failing().empty(); }));
    hangs = true;
    is_in.wait(false);
    CHECK(checks.failing().empty());  // not yet
    milliseconds_now += 1001;
    CHECK(checks.failing() == std::vector<std::string>{"store"});
    CHECK(fetch(checks, "/readyz").status() == http::status::service_unavailable);
    hangs = false;
    leave = true;
    leave.notify_all();
    CHECK(eventually([&] { return checks.failing().empty(); }));
}

TEST_CASE("changes are reported once, and an exception of a check is a failure", "[pipeline][health]") {
    std::mutex mutex;
    std::vector<std::string> reports;
    std::atomic<int> runs = 0;
    std::atomic<bool> fails = true;
    health checks{{.interval = milliseconds{1}, .timeout = std::chrono::hours{1}, .on_change = [&](std::string_view name, const result<void>& now) {
                       const std::lock_guard hold{mutex};
                       reports.push_back(std::string{name} + ": " + (now ? "ready" : now.error().cause));
                   }}};
    checks.add("store", [&]() -> result<void> {
        ++runs;
        if (fails) throw std::runtime_error{"no memory"};
        return {};
    });
    REQUIRE(checks.start());
    CHECK(eventually([&] { return runs > 5; }));
    fails = false;
    CHECK(eventually([&] { return checks.failing().empty(); }));
    checks.stop();
    checks.stop();  // harmless
    const std::lock_guard hold{mutex};
    CHECK(reports == std::vector<std::string>{"store: no memory", "store: ready"});
}

TEST_CASE("any exception of a check is a failure, and only that", "[pipeline][health]") {
    struct odd {};
    std::atomic<int> runs = 0;
    health checks{{.interval = milliseconds{1}, .timeout = std::chrono::hours{1}}};
    checks.add("odd", [&]() -> result<void> {
        ++runs;
        throw odd{};
    });
    checks.add("fine", []() -> result<void> { return {}; });
    REQUIRE(checks.start());
    CHECK(eventually([&] { return runs > 2 && checks.failing() == std::vector<std::string>{"odd"}; }));
}

TEST_CASE("checks do not start with a time outside its bounds", "[pipeline][health]") {
    for (const milliseconds bad : {milliseconds{0}, milliseconds{-1}, milliseconds{std::chrono::days{1}} + milliseconds{1}}) {
        CHECK(health{{.interval = bad}}.start().error().kind == error_kind::invalid);
        CHECK(health{{.timeout = bad}}.start().error().kind == error_kind::invalid);
    }
    CHECK(health{{.interval = milliseconds{1}, .timeout = std::chrono::days{1}}}.start());
}

TEST_CASE("checks start once, and not after they have been stopped", "[pipeline][health]") {
    std::atomic<int> runs = 0;
    health checks{{.interval = std::chrono::hours{1}, .timeout = std::chrono::hours{1}}};
    checks.add("store", [&]() -> result<void> {
        ++runs;
        return {};
    });
    const bool stopped_before = GENERATE(false, true);
    if (stopped_before) checks.stop();
    CHECK(checks.start().has_value() != stopped_before);
    if (!stopped_before) CHECK(eventually([&] { return runs == 1; }));
    const auto again = checks.start();
    REQUIRE_FALSE(again);
    CHECK(again.error().kind == error_kind::unavailable);
    checks.stop();
    CHECK_FALSE(checks.start());
    CHECK(runs == (stopped_before ? 0 : 1));
}

TEST_CASE("several threads may stop the checks at once", "[pipeline][health]") {
    for (int round = 0; round < 20; ++round) {
        gate in_check;
        health checks{{.interval = std::chrono::hours{1}, .timeout = std::chrono::hours{1}}};
        checks.add("store", [&]() -> result<void> {
            in_check.wait();
            return {};
        });
        REQUIRE(checks.start());
        in_check.wait_for_calls(1);
        std::atomic<int> stopping = 0;
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                ++stopping;
                checks.stop();
            });
        CHECK(eventually([&] { return stopping == 4; }));
        in_check.open();
        for (auto& each : threads) each.join();
    }
}

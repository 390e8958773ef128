#include <tollgate/pipeline/health.hpp>

#include <support/eventually.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

using namespace tollgate;
using tollgate_test::eventually;

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
    CHECK(fetch(checks, "/readyz", http::method::post).status() == http::status::method_not_allowed);

    store_fails = true;
    CHECK(eventually([&] { return !checks.failing().empty(); }));
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

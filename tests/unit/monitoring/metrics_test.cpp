#include <tollgate/monitoring/metrics.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace tollgate;
using namespace std::chrono_literals;

namespace {

void report_request(const metrics& to, std::string_view route, http::status status, std::chrono::nanoseconds duration,
                    http::method method = http::method::get) {
    http::request request;
    request.method = method;
    http::response response;
    response.set_status(status);
    request_context context;
    context.route = route;
    context.duration = duration;
    to.on_request({context, request, response});
}

bool holds(const std::string& report, std::string_view line) { return report.find("\n" + std::string{line} + "\n") != std::string::npos; }

}  // namespace

TEST_CASE("samples are written in the text format", "[pipeline][metrics]") {
    std::string text;
    metrics_writer writer{text};
    writer.gauge("shop_orders_open", "Orders that are not paid.");
    writer.sample(12);
    writer.sample(-1, {{"currency", "EUR"}, {"note", "a \"quote\", a \\ and\na line"}});
    writer.counter("shop_seconds_total", "Time.");
    writer.sample(0.25);
    writer.histogram("shop_size", "Sizes.");
    writer.sample(3, {{"le", "+Inf"}}, "_bucket");
    CHECK(text == "# HELP shop_orders_open Orders that are not paid.\n# TYPE shop_orders_open gauge\nshop_orders_open 12\n"
                  "shop_orders_open{currency=\"EUR\",note=\"a \\\"quote\\\", a \\\\ and\\na line\"} -1\n"
                  "# HELP shop_seconds_total Time.\n# TYPE shop_seconds_total counter\nshop_seconds_total 0.25\n"
                  "# HELP shop_size Sizes.\n# TYPE shop_size histogram\nshop_size_bucket{le=\"+Inf\"} 3\n");
}

TEST_CASE("requests are counted by route, method and status, with their durations", "[pipeline][metrics]") {
    metrics counts;
    report_request(counts, "/user/balance", http::status::ok, 400us);
    report_request(counts, "/user/balance", http::status::ok, 30ms);
    report_request(counts, "/user/balance", http::status::service_unavailable, 11s);
    report_request(counts, "/user/balance", http::status::created, 1ms, http::method::post);
    report_request(counts, "", http::status::not_found, 1us);
    const auto report = counts.report();
    CHECK(holds(report, R"(tollgate_requests_total{route="/user/balance",method="GET",status="200"} 2)"));
    CHECK(holds(report, R"(tollgate_requests_total{route="/user/balance",method="GET",status="503"} 1)"));
    CHECK(holds(report, R"(tollgate_requests_total{route="/user/balance",method="POST",status="201"} 1)"));
    CHECK(holds(report, R"(tollgate_requests_total{route="none",method="GET",status="404"} 1)"));
    // Cumulative, and complete.
    const auto bucket = [](std::string_view le, int count) {
        return R"(tollgate_request_duration_seconds_bucket{route="/user/balance",method="GET",le=")" + std::string{le} + "\"} " +
               std::to_string(count);
    };
    CHECK(holds(report, bucket("0.0005", 1)));
    CHECK(holds(report, bucket("0.025", 1)));
    CHECK(holds(report, bucket("0.05", 2)));
    CHECK(holds(report, bucket("10", 2)));
    CHECK(holds(report, bucket("+Inf", 3)));
    CHECK(holds(report, R"(tollgate_request_duration_seconds_count{route="/user/balance",method="GET"} 3)"));
    CHECK(holds(report, R"(tollgate_request_duration_seconds_sum{route="/user/balance",method="GET"} 11.0304)"));
    CHECK_FALSE(holds(report, R"(tollgate_requests_total{route="/user/balance",method="GET",status="404"} 0)"));  // only combinations that occurred
}

TEST_CASE("the callers who are affected most are named by user id or network", "[pipeline][metrics]") {
    metrics counts;
    const caller seven{.user = user_id{7}, .scopes = {}, .application = {}};
    http::request request;
    request.fields.add("User-Agent", "a \"quote\"\n, and a login");
    const auto report = [&](http::status status, std::chrono::nanoseconds duration, std::string_view address,
                            const caller* user = nullptr) {
        http::response response;
        response.set_status(status);
        request_context context;
        context.client = *ip_address::parse(address);
        context.duration = duration;
        counts.on_request({context, request, response, user});
        counts.on_refusal({context, http::refusal{status, "", context.client, false}});
    };
    const auto affected = [&] {
        std::string lines;
        const auto all = counts.report();
        for (std::size_t at = 0; (at = all.find("\ntollgate_affected_requests{", at)) != std::string::npos; ++at)
            lines += all.substr(at, all.find('\n', at + 1) - at);
        return lines;
    };
    report(http::status::ok, 250ms, "192.0.2.7", &seven);
    report(http::status::not_found, 1ms, "192.0.2.7");
    CHECK(affected().empty());
    report(http::status::ok, 251ms, "192.0.2.7", &seven);
    report(http::status::too_many_requests, 1ms, "192.0.2.7");
    report(http::status::too_many_requests, 1ms, "192.0.2.8");
    report(http::status::internal_server_error, 1s, "2001:db8:1:2::3", &seven);
    // The server does not know the user of a request that it refuses itself, and only a 5xx is a failure.
    CHECK(affected() == R"(
tollgate_affected_requests{kind="failed",user="7"} 1
tollgate_affected_requests{kind="failed",network="2001:db8:1::/48"} 1
tollgate_affected_requests{kind="limited",network="192.0.2.0/24"} 2
tollgate_affected_requests{kind="slow",user="7"} 1)");
    for (std::int64_t i = 1; i <= 100; ++i) {
        const caller other{.user = user_id{100 + i}, .scopes = {}, .application = {}};
        for (const auto status : {http::status::ok, http::status::too_many_requests, http::status::service_unavailable})
            report(status, 1s, "192.0.2.7", &other);
    }
    const auto lines = affected();
    CHECK(std::count(lines.begin(), lines.end(), '\n') <= 3 * 16);
}

TEST_CASE("one text at two addresses is one route", "[pipeline][metrics]") {
    metrics counts;
    const std::string first = "/user/balance", second = "/user/balance";
    report_request(counts, first, http::status::ok, 1ms);
    report_request(counts, second, http::status::ok, 1ms);
    CHECK(holds(counts.report(), R"(tollgate_requests_total{route="/user/balance",method="GET",status="200"} 2)"));
}

TEST_CASE("routes beyond the bound are counted together", "[pipeline][metrics]") {
    metrics counts;
    std::vector<std::string> routes;
    for (int i = 0; i < 400; ++i) routes.push_back("/route/number/" + std::to_string(i));
    for (const auto& each : routes) report_request(counts, each, http::status::ok, 1ms);
    const auto report = counts.report();
    CHECK(holds(report, R"(tollgate_requests_total{route="/route/number/95",method="GET",status="200"} 1)"));
    CHECK_FALSE(holds(report, R"(tollgate_requests_total{route="/route/number/96",method="GET",status="200"} 1)"));
    CHECK(holds(report, R"(tollgate_requests_total{route="other",method="other",status="200"} 304)"));
}

TEST_CASE("threads that count at the same time lose no counts", "[pipeline][metrics]") {
    metrics counts;
    constexpr int threads = 12, requests = 5000;
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i)
        running.emplace_back([&counts, i] {
            for (int each = 0; each < requests; ++each)
                report_request(counts, (each + i) % 2 == 0 ? "/even" : "/odd", http::status::ok, 1ms);
        });
    for (auto& each : running) each.join();
    const auto report = counts.report();
    CHECK(holds(report, R"(tollgate_requests_total{route="/even",method="GET",status="200"} 30000)"));
    CHECK(holds(report, R"(tollgate_requests_total{route="/odd",method="GET",status="200"} 30000)"));
}

TEST_CASE("refusals, problems and attempts are counted by kind", "[pipeline][metrics]") {
    metrics counts;
    const request_context context;
    for (const auto status : {http::status::bad_request, http::status::request_timeout, http::status::uri_too_long,
                              http::status::header_fields_too_large, http::status::service_unavailable,
                              http::status::misdirected_request, http::status::expectation_failed})
        counts.on_refusal({context, http::refusal{status, "", {}, false}});
    counts.on_problem(unavailable("away"));
    counts.on_problem(internal_error("broken"));
    const due_delivery delivery{.lease = {delivery_id{1}, 1}, .hook = hook_id{1}, .event = nullptr, .message_id = {}, .type = {}, .target_url = {}, .secret = {}};
    attempt_result ended{.lease = delivery.lease, .attempt = {}};
    ended.attempt.duration = 80ms;
    ended.outcome = delivery_outcome::retry;
    counts.on_attempt({delivery, ended, completion::done, {}});
    ended.outcome = delivery_outcome::not_attempted;  // has no duration
    counts.on_attempt({delivery, ended, completion::done, {}});

    const auto report = counts.report();
    for (const std::string_view line :
         {R"(tollgate_refusals_total{kind="malformed"} 1)", R"(tollgate_refusals_total{kind="too_slow"} 1)",
          R"(tollgate_refusals_total{kind="too_large"} 2)", R"(tollgate_refusals_total{kind="overload"} 1)",
          R"(tollgate_refusals_total{kind="other_host"} 1)", R"(tollgate_refusals_total{kind="other"} 1)",
          R"(tollgate_problems_total{kind="unavailable"} 1)", R"(tollgate_problems_total{kind="internal"} 1)",
          R"(tollgate_delivery_attempts_total{outcome="retry"} 1)", R"(tollgate_delivery_attempts_total{outcome="delivered"} 0)",
          R"(tollgate_delivery_attempts_total{outcome="not_attempted"} 1)",
          R"(tollgate_delivery_attempt_duration_seconds_bucket{le="0.1"} 1)", R"(tollgate_delivery_attempt_duration_seconds_count 1)"})
        CHECK(holds(report, line));
}

TEST_CASE("servers, backends, the process and the integrator's own families are reported", "[pipeline][metrics]") {
    struct some_server {
        struct numbers {
            std::size_t connections = 3;
            std::uint64_t connections_accepted = 20, connections_refused = 1;
            std::size_t queued = 2;
            std::uint64_t taken_up = 15;
            std::chrono::nanoseconds waited = 1500ms;
            std::uint64_t dropped = 4;
            std::size_t unsent_bytes = 8;
            std::uint64_t unsent_closed = 5;
        };
        [[nodiscard]] numbers statistics() const { return {}; }
    };
    struct some_store {
        [[nodiscard]] backend_statistics statistics() const {
            return {.calls = 9, .errors = 2, .fallbacks = 6, .busy = 250ms, .waited = 125ms, .cache_hits = 70, .cache_misses = 5,
                    .is_up = false};
        }
    };
    const some_server server;
    const some_store store;
    metrics counts;
    counts.watch_server(server);
    counts.watch_backend("store", store);
    counts.watch_process();
    counts.add([](metrics_writer& to) {
        to.gauge("shop_orders_open", "Orders.");
        to.sample(7);
    });
    const auto report = counts.report();
    for (const std::string_view line :
         {"tollgate_connections 3", "tollgate_connections_accepted_total 20", "tollgate_connections_refused_total 1",
          "tollgate_worker_queue_length 2", "tollgate_worker_requests_total 15", "tollgate_worker_wait_seconds_total 1.5",
          "tollgate_worker_dropped_total 4", "tollgate_unsent_bytes 8", "tollgate_unsent_closed_total 5", R"(tollgate_backend_up{backend="store"} 0)",
          R"(tollgate_backend_calls_total{backend="store"} 9)", R"(tollgate_backend_errors_total{backend="store"} 2)",
          R"(tollgate_backend_fallbacks_total{backend="store"} 6)", R"(tollgate_backend_call_seconds_total{backend="store"} 0.25)",
          R"(tollgate_backend_wait_seconds_total{backend="store"} 0.125)", R"(tollgate_cache_hits_total{backend="store"} 70)",
          R"(tollgate_cache_misses_total{backend="store"} 5)", "shop_orders_open 7"})
        CHECK(holds(report, line));
#if defined(__linux__)
    for (const std::string_view name : {"process_cpu_seconds_total ", "process_resident_memory_bytes ", "process_open_fds "})
        CHECK(report.find("\n" + std::string{name}) != std::string::npos);
#endif
}

TEST_CASE("the report is served to GET and HEAD only", "[pipeline][metrics]") {
    const metrics counts;
    http::request request;
    http::response response;
    counts.handle(request, response);
    CHECK(response.status() == http::status::ok);
    CHECK(response.find("Content-Type") == "text/plain; version=0.0.4; charset=utf-8");
    CHECK(response.body() == counts.report());
    response.clear();
    request.method = http::method::post;
    counts.handle(request, response);
    CHECK(response.status() == http::status::method_not_allowed);
    CHECK(response.body().empty());
}

TEST_CASE("OAuth errors are counted by route and code, and revocations after reuse", "[pipeline][metrics]") {
    metrics counts;
    const auto report = [&](std::string_view route, oauth_outcome outcome) {
        http::request request;
        http::response response;
        request_context context;
        context.route = route;
        counts.on_request({context, request, response, nullptr, outcome});
    };
    report("/user/oauth_token/", {"tgi_a", ""});
    CHECK(counts.report().find("tollgate_oauth_errors_total{") == std::string::npos);
    report("/user/oauth_token/", {"tgi_a", "invalid_grant"});
    report("/user/oauth_token/", {"tgi_b", "invalid_grant"});
    report("/user/oauth_token/", {"", "invalid_client"});
    report("", {"", "invalid_request"});
    const activity revoked{activity_kind::access_revoked_after_reuse, user_id{1}, "App", std::nullopt, {}};
    counts.on_activity(revoked);
    counts.on_activity({activity_kind::access_revoked, user_id{1}, "App", std::nullopt, {}});
    const auto text = counts.report();
    CHECK(holds(text, R"(tollgate_oauth_errors_total{route="/user/oauth_token/",error="invalid_grant"} 2)"));
    CHECK(holds(text, R"(tollgate_oauth_errors_total{route="/user/oauth_token/",error="invalid_client"} 1)"));
    CHECK(holds(text, R"(tollgate_oauth_errors_total{route="none",error="invalid_request"} 1)"));
    CHECK(holds(text, "tollgate_revocations_after_reuse_total 1"));
    CHECK(text.find("tgi_a") == std::string::npos);

    static const std::vector<std::string> routes = [] {
        std::vector<std::string> all;
        for (int i = 0; i < 1000; ++i) all.push_back("/" + std::to_string(i));
        return all;
    }();
    for (const auto& each : routes) report(each, {"", "invalid_request"});
    const auto bounded = counts.report();
    std::size_t samples = 0;
    for (std::size_t at = 0; (at = bounded.find("\ntollgate_oauth_errors_total{", at)) != std::string::npos; ++at) ++samples;
    CHECK(samples <= 256);
}

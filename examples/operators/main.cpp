// Health and metrics of a program that embeds the API, on a listener of their own.
//
// The program sends itself requests and returns 0 if the responses are right.
#include <tollgate/tollgate.hpp>

#include <functional>
#include <iostream>
#include <string_view>
#include <thread>

using namespace tollgate;

struct shop_directory {
    result<balance> balance_of(user_id user) { return balance{user, "12.50", *currency_code::from("EUR")}; }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return std::vector<account>{}; }
    result<std::optional<quota>> quota_of(user_id) { return std::optional<quota>{}; }
};

/// Whether a GET of `path` is answered with 200 and a body that contains `expected`.
bool answers(http::handler auto& handler, std::string_view path, std::string_view expected) {
    http::request asked;
    asked.target = http::target::from(path);
    asked.fields.add("User-Agent", "operators");
    http::response answer;
    handler.handle(asked, answer);
    std::cout << path << ": " << http::to_number(answer.status()) << '\n' << answer.body() << '\n';
    return answer.status() == http::status::ok && answer.body().find(expected) != std::string::npos;
}

int main() {
    shop_directory users;
    memory_store store;
    // [operators]
    metrics counts;  // an observer, and the handler of /metrics
    account_service service{{.base_url = "https://api.example.com/v1", .services = {{"shop", {"order.paid"}}}}, users, store,
                            default_policies().with_observer(std::ref(counts))};
    server api_server{service, {.port = 0}};
    counts.watch_server(api_server);
    counts.watch_process();

    health checks;  // the handler of /healthz and /readyz
    checks.add("store", [&]() -> result<void> {
        if (const auto due = store.backlog(system_clock{}.now(), 1); !due) return due.error();
        return {};
    });
    if (const auto started = checks.start(); !started) return report(started.error());

    http::site operators{http::mounted("/metrics", counts), http::mounted("/healthz", checks), http::mounted("/readyz", checks)};
    server operator_server{operators, {.address = "127.0.0.1", .port = 0, .threads = 1}};
    // [/operators]
    if (!api_server.start() || !operator_server.start()) return 1;

    while (!checks.failing().empty()) std::this_thread::yield();  // until the first check has ended
    const bool right = answers(service, "/v1/testservice/get", "hello") && answers(operators, "/healthz", "healthy") &&
                       answers(operators, "/readyz", R"({"ready":true})") &&
                       answers(operators, "/metrics", R"(tollgate_requests_total{route="/testservice/get",method="GET",status="200"} 1)");
    return right ? 0 : 1;
}

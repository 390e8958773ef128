// Health and metrics of a program that embeds the API, on a listener of their own.
//
// The program sends itself requests and returns 0 if the responses are right.
#include <tollgate/tollgate.hpp>

#include <atomic>
#include <functional>
#include <iostream>
#include <string_view>
#include <thread>

using namespace tollgate;

struct shop_directory {
    static constexpr bool blocking = false;  // answers at once
    result<balance> balance_of(user_id user) { return balance{user, "12.50", "EUR"}; }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return {}; }
};

/// Whether a GET of `path` is answered with 200 and a body that contains `expected`.
bool answers(http::handler auto& handler, std::string_view path, std::string_view expected) {
    http::request request;
    request.target = http::target::from(path);
    request.fields.add("User-Agent", "operators");
    http::response response;
    handler.handle(request, response);
    std::cout << path << ": " << http::to_number(response.status()) << '\n' << response.body() << '\n';
    return response.status() == http::status::ok && response.body().find(expected) != std::string::npos;
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

    bool right = false;
    std::atomic<bool> stop_requested = false;
    const auto do_own_work = [&] {
        if (!checks.failing().empty()) return std::this_thread::yield();  // until the first check has ended
        right = answers(service, "/v1/testservice/get", "hello") && answers(operators, "/healthz", "healthy") &&
                answers(operators, "/readyz", R"({"ready":true})") &&
                answers(operators, "/metrics", R"(tollgate_requests_total{route="/testservice/get",method="GET",status="200"} 1)");
        stop_requested = true;
    };
    // [stop]
    for (server* each : {&api_server, &operator_server})
        if (const auto started = each->start(); !started) return report(started.error());

    while (!stop_requested) do_own_work();  // your loop; the servers have threads of their own

    checks.begin_stop();          // /readyz tells load balancers
    api_server.stop(seconds{5});  // after a grace of a second: the requests in progress are answered, or dropped after 5 more seconds
    operator_server.stop();       // last, so that it can be queried until then
    // [/stop]
    return right ? 0 : 1;
}

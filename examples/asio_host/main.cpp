// Tollgate on the executor of a program that has an io_context, signal handlers and other work: here, a timer.
//
// The API and its documentation share one listener. The program handles SIGTERM and SIGINT and stops the server; the
// server installs no signal handlers.
#include <tollgate/server/asio_server.hpp>
#include <tollgate/tollgate.hpp>

#include <asio.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>

using namespace tollgate;

struct shop_directory {
    static constexpr bool blocking = false;  // answers at once
    result<balance> balance_of(user_id user) { return balance{user, "12.50", "EUR"}; }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return {}; }
};

/// Other work of the program.
class ticker {
public:
    explicit ticker(asio::io_context& context) : timer_{context} { wait(); }
    void stop() { timer_.cancel(); }

private:
    void wait() {
        timer_.expires_after(std::chrono::seconds{1});
        timer_.async_wait([this](const asio::error_code& stopped) {
            if (stopped) return;
            std::cout << "tick" << std::endl;
            wait();
        });
    }

    asio::steady_timer timer_;
};

int main(int argc, char** argv) {
    shop_directory users;
    memory_store store;
    account_service service{{.base_url = "http://127.0.0.1:8080/v1", .services = {{"shop", {"order.paid"}}}}, users, store};

    // [asio_host]
    asio::io_context context;
    ticker ticker{context};

    const auto port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 8080);
    server api_server{context.get_executor(), service, {.port = port, .threads = 1}};
    if (const auto started = api_server.start(); !started) return report(started.error());

    asio::signal_set signals{context, SIGTERM, SIGINT};
    signals.async_wait([&](const asio::error_code&, int) {
        ticker.stop();
        api_server.stop();  // returns at once here; context.run() returns when all requests are answered
    });
    // [/asio_host]

    const auto scopes = *scope_set::parse("user:balance");
    const auto token = issue_personal_token(store, {user_id{1}, "asio_host", scopes}, system_clock{}.now());
    if (!token) return report(token.error());
    std::cout << "curl -u " << token->username.view() << ':' << token->secret.view()
              << " http://127.0.0.1:" << api_server.port() << "/v1/user/balance" << std::endl;
    context.run();
}

#include <tollgate/server/asio_server.hpp>
#include <tollgate/server/tls.hpp>

#include <asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <support/certificate.hpp>
#include <support/child_process.hpp>
#include <support/echo_handler.hpp>
#include <support/socket_client.hpp>
#include <support/temporary_directory.hpp>

#include <csignal>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// Windows has no `fork`.

using namespace std::chrono_literals;
using tollgate::server;
using tollgate::server_settings;
using tollgate_test::child_process;
using tollgate_test::number_pipe;
using tollgate_test::socket_client;
using tollgate_test::tls_client;

namespace {

const std::string get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

server_settings two_threads() {
    server_settings settings;
    settings.port = 0;
    settings.threads = 2;
    settings.stop_grace = 0ms;
    settings.queue_wait_max = 1h;
    return settings;
}

const tollgate_test::certificate& own_certificate() {
    static const tollgate_test::certificate own = tollgate_test::make_certificate("localhost");
    return own;
}

/// A child process that makes no progress is ended by a signal, and the test fails.
void limit_time() { ::alarm(100); }

// Static objects, as a program has them. They are constructed before OpenSSL is used, and so are destroyed after OpenSSL's end. The
// context is never destroyed, because a thread may still run it.
asio::io_context* static_context;
std::unique_ptr<server> static_server;

/// Ends the process on the thread that calls it, if the path is `/exit`.
template <bool Blocking>
struct exiting_handler {
    static constexpr bool blocking = Blocking;

    void handle(const tollgate::http::request& request, tollgate::http::response& response) noexcept {
        if (request.target.path == "/exit") std::exit(7);
        response.body() = "served";
    }
    void handle(const tollgate::http::refusal& refused, tollgate::http::response& response) noexcept {
        response.set_status(refused.status);
    }
};
exiting_handler<false> plain_handler;
exiting_handler<true> blocking_handler;

struct exit_row {
    const char* name;
    bool blocking, tls, on_executor;
};
const exit_row exits[] = {
    {"plain", false, false, false},         {"workers", true, false, false},   {"TLS", false, true, false},
    {"TLS and workers", true, true, false}, {"executor", false, false, true},  {"executor, TLS and workers", true, true, true},
};

void start_static_server(const exit_row& row) {
    server_settings settings = two_threads();
    if (row.tls)
        settings.tls = tollgate::tls_from({.certificate_pem = own_certificate().certificate_pem, .key_pem = own_certificate().key_pem});
    if (row.on_executor) {
        static_context = new asio::io_context;
        static_server = row.blocking ? std::make_unique<server>(static_context->get_executor(), blocking_handler, settings)
                                     : std::make_unique<server>(static_context->get_executor(), plain_handler, settings);
    } else {
        static_server = row.blocking ? std::make_unique<server>(blocking_handler, settings) : std::make_unique<server>(plain_handler, settings);
    }
    static_server->start().value();
}

/// Threads that send requests until the server is gone. Each opens new connections, because handshakes use most of OpenSSL.
class traffic {
public:
    traffic(std::uint16_t port, bool tls) {
        for (int i = 0; i < 4; ++i)
            clients_.emplace_back([this, port, tls] {
                try {
                    for (;;) {
                        std::unique_ptr<socket_client> client;
                        if (tls) client = std::make_unique<tls_client>(port);
                        else client = std::make_unique<socket_client>(port);
                        for (int j = 0; j < 3; ++j) {
                            client->write(get);
                            if (client->read_response().status != 200) return;
                            ++served;
                        }
                    }
                } catch (const std::exception&) {  // it does not listen any more
                }
            });
    }
    ~traffic() {
        for (std::thread& each : clients_) each.join();
    }

    std::atomic<int> served = 0;

private:
    std::vector<std::thread> clients_;
};

/// What a process has that forks while its server serves a client.
struct forking_program {
    explicit forking_program(bool on_executor, const std::string& path = {}) {
        server_settings settings = two_threads();
        if (!path.empty()) settings.more_addresses = {{"unix:" + path, 0}};
        if (on_executor) {
            context = std::make_unique<asio::io_context>();
            running = std::make_unique<server>(context->get_executor(), handler, settings);
        } else {
            running = std::make_unique<server>(handler, settings);
        }
    }
    /// Handles what has arrived: a program without threads forks between two polls.
    void poll_until(const std::function<bool()>& done) {
        while (!done())
            if (context) context->poll();
            else std::this_thread::yield();
    }

    tollgate_test::echo_handler handler;
    std::unique_ptr<asio::io_context> context;
    std::unique_ptr<server> running;
};

}  // namespace

TEST_CASE("a child process leaves the server of its parent alone", "[server][process]") {
    const bool on_executor = GENERATE(false, true);
    CAPTURE(on_executor);
    const tollgate_test::temporary_directory directory;
    const auto path = directory.file("server.sock");
    forking_program program{on_executor, path};
    REQUIRE(program.running->start());
    socket_client idle{program.running->port()}, busy{program.running->port()};
    idle.write(get);
    busy.write(get + "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe");
    program.poll_until([&] { return program.handler.requests == 2; });
    CHECK(idle.read_response().status == 200);
    CHECK(busy.read_response().status == 200);

    const std::pair<const char*, void (*)(forking_program&)> ends[] = {
        {"destroys it", [](forking_program& copy) { copy.running.reset(); }},
        {"stops it", [](forking_program& copy) { copy.running->stop(); }},
        {"waits for it", [](forking_program& copy) { copy.running->wait(); }},
        {"runs it", [](forking_program& copy) { ::_exit(copy.running->run() == 1 ? 0 : 1); }},
        {"destroys all", [](forking_program& copy) {
             copy.running.reset();
             copy.context.reset();
         }},
    };
    for (const auto& [name, end] : ends) {
        CAPTURE(name);
        child_process child{[&program, run_end = end] {
            limit_time();
            ::close(2);  // `run` reports why it does not start
            run_end(program);
            return 0;
        }};
        CHECK(child.wait() == 0);
    }

    const int before = program.handler.requests;
    idle.write(get);
    busy.write("llo");
    socket_client next{program.running->port()};
    next.write(get);
    program.poll_until([&] { return program.handler.requests == before + 3; });
    CHECK(idle.read_response().body == "GET /a ");
    CHECK(busy.read_response().body == "POST /b hello");
    CHECK(next.read_response().status == 200);
    CHECK(::access(path.c_str(), F_OK) == 0);
    program.running->stop();
    program.poll_until([&] { return program.running->statistics().connections == 0; });
    program.running.reset();
    CHECK(::access(path.c_str(), F_OK) != 0);
    CHECK(idle.ends_silently());
}

TEST_CASE("a child process starts the servers that its parent has only made", "[server][process]") {
    tollgate_test::echo_handler handler;
    server made{handler, two_threads()};
    number_pipe port;
    child_process child{[&] {
        limit_time();
        if (!made.start() || !port.put(made.port())) return 1;
        made.wait();
        return 0;
    }};
    const auto found = port.take();
    REQUIRE(found);
    socket_client client{static_cast<std::uint16_t>(*found)};
    client.write(get);
    CHECK(client.read_response().status == 200);
}

TEST_CASE("a program with a static server", "[.]") {
    limit_time();
    int number = 0, port = -1, end = -1;
    REQUIRE(std::sscanf(std::getenv("TOLLGATE_TEST_STATIC_SERVER"), "%d %d %d", &number, &port, &end) == 3);
    const exit_row& row = exits[number];
    start_static_server(row);
    const std::int64_t found = static_server->port();
    REQUIRE(::write(port, &found, sizeof found) == sizeof found);
    if (end >= 0) {
        const auto wait_for_end = [end] {
            char none;
            (void)!::read(end, &none, 1);
        };
        if (!row.on_executor) wait_for_end(), std::exit(3);
        std::thread{[=] { wait_for_end(), static_context->stop(); }}.detach();
        static_context->run();
        std::exit(3);
    }
    if (!row.on_executor) static_server->wait();
    else static_context->run();
    for (;;) ::pause();  // the thread that ends the process may have destroyed the server
}

namespace {

/// The exit code of a process that runs the program above. `use` sends requests to its port.
int run_program(const exit_row& row, number_pipe* end, const std::function<void(std::uint16_t)>& use) {
    number_pipe port;
    child_process child{[&] {
        if (end != nullptr) end->close_writing();
        const auto argument = std::to_string(&row - exits) + ' ' + std::to_string(port.writing()) + ' ' +
                              std::to_string(end != nullptr ? end->reading() : -1);
        ::setenv("TOLLGATE_TEST_STATIC_SERVER", argument.c_str(), 1);
        ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // what remains at such an end is not all in memory that the detector searches
        // A new program: this one may have threads, such as those of asio::system_executor.
        ::execl("/proc/self/exe", "unit_server", "a program with a static server", nullptr);
        return 1;
    }};
    port.close_writing();
    const auto found = port.take();
    REQUIRE(found);
    use(static_cast<std::uint16_t>(*found));
    return child.wait();
}

}  // namespace

TEST_CASE("a program with a static server that only listens", "[.]") {
    limit_time();
    server_settings settings = two_threads();
    settings.tls = tollgate::tls_from({.certificate_pem = own_certificate().certificate_pem, .key_pem = own_certificate().key_pem});
    static_server = std::make_unique<server>(tollgate::http::handler_ref{}, settings);
    static_server->listen().value();
    std::exit(3);
}

TEST_CASE("a process ends while its static server only listens", "[server][process]") {
    child_process child{[] {
        ::execl("/proc/self/exe", "unit_server", "a program with a static server that only listens", nullptr);
        return 1;
    }};
    CHECK(child.wait() == 3);
}

TEST_CASE("a process ends while its static server has connections", "[server][process]") {
    for (const exit_row& row : exits) {
        for (int i = 0; i < (row.tls ? 8 : 2); ++i) {
            CAPTURE(row.name, i);
            number_pipe end;
            std::optional<traffic> clients;
            CHECK(run_program(row, &end, [&](std::uint16_t port) {
                      clients.emplace(port, row.tls);
                      while (clients->served < 20) std::this_thread::sleep_for(1ms);
                      end.close_writing();
                  }) == 3);
        }
    }
}

TEST_CASE("a handler may end the process", "[server][process]") {
    for (const exit_row& row : exits) {
        for (int i = 0; i < 4; ++i) {
            CAPTURE(row.name, i);
            std::optional<traffic> clients;
            std::unique_ptr<socket_client> last;
            CHECK(run_program(row, nullptr, [&](std::uint16_t port) {
                      clients.emplace(port, row.tls);
                      while (clients->served < 20) std::this_thread::sleep_for(1ms);
                      if (row.tls) last = std::make_unique<tls_client>(port);
                      else last = std::make_unique<socket_client>(port);
                      last->write("GET /exit HTTP/1.1\r\nHost: x\r\n\r\n");
                  }) == 7);
        }
    }
}

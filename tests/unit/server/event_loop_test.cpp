#include <tollgate/server/detail/event_loop.hpp>

#include <tollgate/server/detail/connection.hpp>

#include <catch2/catch.hpp>
#include <support/echo_handler.hpp>
#include <support/eventually.hpp>
#include <support/gate.hpp>
#include <support/server_socket.hpp>
#include <support/socket_client.hpp>
#include <support/temporary_directory.hpp>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace tollgate::server_detail;
using tollgate::socket_handle;
using tollgate::milliseconds;
using tollgate::server_settings;

namespace {

/// A loop without sockets. The test handles its ticks.
class idle_loop final : public event_loop {
public:
    explicit idle_loop(const std::shared_ptr<server_context>& context,
                       const std::shared_ptr<drain_count>& drained = std::make_shared<drain_count>(1))
        : event_loop{context, drained} {}

    using event_loop::collect;
    using event_loop::next_tick;
    using event_loop::tick;
    using event_loop::tick_length;

    /// Returns when the loop is late by that many ticks.
    void stand_still(int ticks) const {
        while (clock::now() < next_tick() + ticks * tick_length()) {
        }
    }

    bool is_ticking = false;
    int ignored_new_clients = 0;

private:
    bool wake() noexcept override { return true; }
    [[nodiscard]] bool start_ticking() noexcept override { return is_ticking = true; }
    void stop_ticking() noexcept override {}
    [[nodiscard]] connection* make_connection(socket_handle, const tollgate::ip_address&, admission) noexcept override { return nullptr; }
    void ignore_new_clients() noexcept override { ++ignored_new_clients; }
    void close_listeners(last_connections) noexcept override {}
};

/// A connection to a client that sends nothing.
class silent_connection final : public connection {
public:
    explicit silent_connection(event_loop& loop) noexcept : connection{loop, socket_handle{}, {}, admission::accepted} {}
    int cancelled = 0;

private:
    [[nodiscard]] bool wait_readable() noexcept override { return true; }
    [[nodiscard]] bool wait_writable() noexcept override { return true; }
    void cancel() noexcept override { ++cancelled; }
};

/// A connection on a socket of its own. The test says when the socket is ready.
class scripted_connection final : public connection {
public:
    scripted_connection(event_loop& loop, socket_handle socket) noexcept
        : connection{loop, socket, {}, admission::accepted}, socket_{socket} {}
    ~scripted_connection() override { close_socket(socket_); }
    bool waits_for_output = false;
    bool cancelled = false;

private:
    [[nodiscard]] bool wait_readable() noexcept override {
        waits_for_output = false;
        return true;
    }
    [[nodiscard]] bool wait_writable() noexcept override { return waits_for_output = true; }
    void cancel() noexcept override { cancelled = true; }

    const socket_handle socket_;
};

/// Its responses are larger than the buffers of a socket; to `/slow` it responds on a worker, when the gate is open.
struct large_handler : tollgate_test::advancing_handler {
    static constexpr bool blocking = true;
    static constexpr std::size_t bytes = 4 * 1024 * 1024;
    tollgate_test::gate slow;
    std::atomic<int> responses = 0;

    tollgate::http::handle_step advance(const tollgate::http::request& request, tollgate::http::response& response,
                                        tollgate::http::handler_state&, tollgate::http::thread_kind thread) noexcept {
        if (request.target.path == "/slow") {
            if (thread == tollgate::http::thread_kind::io) return tollgate::http::handle_step::needs_worker;
            slow.wait();
        }
        response.body().assign(bytes, 'x');
        ++responses;
        return tollgate::http::handle_step::done;
    }
};

/// A listener on a socket of its own. The test says when a connection has arrived.
class scripted_listener final : public listener {
public:
    using listener::listener;
    using listener::accept_all;
    int waits = 0, pauses = 0;

private:
    [[nodiscard]] bool wait_readable() noexcept override { return ++waits != 0; }
    void pause() noexcept override { ++pauses; }
};

struct counting_entry final : deadline_wheel::entry {
    int fired = 0;
    void on_deadline() noexcept override { ++fired; }
};

}  // namespace

TEST_CASE("a deadline counts from the time it is set, even if the loop handles its ticks late", "[event_loop]") {
    tollgate_test::echo_handler handler;
    server_settings settings;
    settings.idle_timeout = settings.linger_timeout = 40ms;  // the shortest ticks, 5 ms, and a deadline of nine of them
    const auto context = std::make_shared<server_context>(handler, server_settings{settings});
    idle_loop loop{context};
    auto client = std::make_unique<silent_connection>(loop);
    client->begin();
    counting_entry entry;
    struct variant {
        const char* name;
        std::function<void()> set;
        std::function<bool()> has_passed;
    };
    const variant variants[] = {
        {"of a kind", [&] { loop.arm(entry, deadline::idle); }, [&] { return entry.fired == 1; }},
        {"a time", [&] { loop.arm(entry, 40ms); }, [&] { return entry.fired == 1; }},
        {"of a stop",
         [&] {
             loop.request_drain({.deadline = 40ms});
             loop.collect();
             loop.collect();  // no loop listens any more
             client->cancelled = 0;
         },
         [&] { return client->cancelled == 1; }},
    };
    for (const variant& each : variants) {
        CAPTURE(each.name);
        entry.fired = 0;
        (void)loop.tick(event_loop::clock::now());
        loop.stand_still(20);
        const auto before = event_loop::clock::now();
        each.set();
        const auto after = event_loop::clock::now();
        (void)loop.tick(before + 40ms);
        CHECK_FALSE(each.has_passed());
        constexpr auto clock_error_max = 10ms;  // of the kernel's coarse clock, which deadlines of a kind are counted by
        (void)loop.tick(after + 40ms + clock_error_max + 2 * loop.tick_length());
        CHECK(each.has_passed());
    }
    client.reset();
}

TEST_CASE("a client has the whole write timeout for each batch of responses", "[event_loop]") {
    const std::string get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n", get_slow = "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n";
    struct variant {
        const char* name;
        std::string requests;
        bool has_worker;
        bool passes_deadline_in_call;  // of the batch before
    };
    const variant variants[] = {
        {"made on the I/O thread", get + get + get, false, false},
        {"made on a worker", get + get_slow + get, true, false},
        {"made on a worker in a long time", get + get_slow + get, true, true},
    };
    for (const variant& each : variants) {
        CAPTURE(each.name);
        large_handler handler;
        const auto context = std::make_shared<server_context>(handler, server_settings{});
        const milliseconds timeout = context->settings.write_timeout;
        context->workers.start(1);
        idle_loop loop{context};
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
        const int client = ends[0];
        auto* const served = new scripted_connection{loop, ends[1]};  // deletes itself at its end
        served->begin();
        REQUIRE(::send(client, each.requests.data(), each.requests.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(each.requests.size()));
        served->on_ready();
        auto now = event_loop::clock::now();
        const auto pass = [&](milliseconds time) { (void)loop.tick(now += time); };
        std::vector<char> taken(64 * 1024);
        for (int batch = 1;; ++batch) {
            CAPTURE(batch);
            REQUIRE(served->waits_for_output);
            REQUIRE(handler.responses == batch);
            pass(timeout * 3 / 4);
            REQUIRE_FALSE(served->cancelled);
            if (batch == 3) break;
            while (served->waits_for_output && handler.responses == batch) {  // the client takes the batch
                while (::recv(client, taken.data(), taken.size(), 0) > 0) {
                }
                served->waits_for_output = false;
                served->on_ready();
            }
            if (batch != 1 || !each.has_worker) continue;
            handler.slow.wait_for_calls(1);
            if (each.passes_deadline_in_call) pass(timeout * 2);
            handler.slow.open();
            REQUIRE(tollgate_test::eventually([&] {
                loop.collect();
                return served->waits_for_output;
            }));
        }
        pass(timeout / 2);
        CHECK(served->cancelled);
        served->on_ready();
        CHECK(context->counters.connections == 0);
        ::close(client);
    }
}

TEST_CASE("a connection accepted just before the listeners close has time for its request", "[event_loop][stop]") {
    const std::string get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    const bool sends_request = GENERATE(true, false);
    CAPTURE(sends_request);
    tollgate_test::echo_handler handler;
    const auto context = std::make_shared<server_context>(handler, server_settings{});
    idle_loop loop{context};
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    const int client = ends[0];
    auto* const accepted = new scripted_connection{loop, ends[1]};  // deletes itself at its end
    accepted->begin();
    context->stopping = true;
    loop.request_drain({.deadline = 1h});
    loop.collect();
    loop.collect();  // no loop listens any more
    REQUIRE(accepted->cancelled);
    accepted->cancelled = false;
    accepted->on_ready();
    (void)loop.tick(event_loop::clock::now() + 499ms);
    REQUIRE_FALSE(accepted->cancelled);
    if (sends_request) {
        REQUIRE(::send(client, get.data(), get.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(get.size()));
        accepted->on_ready();
        std::string response(4096, '\0');
        response.resize(static_cast<std::size_t>((std::max)(::recv(client, response.data(), response.size(), 0), ssize_t{0})));
        CHECK(response.starts_with("HTTP/1.1 200 "));
        CHECK(response.find("Connection: close") != std::string::npos);
        ::shutdown(client, SHUT_WR);
        accepted->on_ready();
    } else {
        (void)loop.tick(event_loop::clock::now() + 510ms + 2 * loop.tick_length());
        CHECK(accepted->cancelled);
        accepted->on_ready();
    }
    char byte = 0;
    CHECK(::recv(client, &byte, 1, 0) == 0);
    CHECK(context->counters.connections == 0);
    ::close(client);
}

TEST_CASE("a loop drains when no loop of its ring listens any more", "[event_loop][stop]") {
    tollgate_test::echo_handler handler;
    const auto context = std::make_shared<server_context>(handler, server_settings{});
    const auto drained = std::make_shared<drain_count>(2);
    idle_loop first{context, drained}, second{context, drained};
    first.set_next(second);
    second.set_next(first);
    first.request_drain({.deadline = 1h});
    second.request_drain({.grace = 1s, .deadline = 1h});
    first.collect();
    first.collect();
    second.collect();
    CHECK_FALSE(first.draining());  // the second may still hand it a connection
    (void)second.tick(event_loop::clock::now() + 1s + 2 * second.tick_length());
    first.collect();
    second.collect();
    CHECK(first.draining());
    CHECK(second.draining());
    drained->wait();
}

TEST_CASE("in the last quarter of the grace, at most 250 ms of it, new clients are ignored", "[event_loop][stop]") {
    tollgate_test::echo_handler handler;
    const auto [grace, served] = GENERATE(std::pair{4000ms, 3750ms}, std::pair{400ms, 300ms});
    CAPTURE(grace.count());
    const auto context = std::make_shared<server_context>(handler, server_settings{});
    idle_loop loop{context};
    loop.request_drain({.grace = grace, .deadline = 1h});
    loop.collect();
    const auto began = event_loop::clock::now();
    (void)loop.tick(began + served - 1ms);
    CHECK(loop.ignored_new_clients == 0);
    (void)loop.tick(began + served + 2 * loop.tick_length());
    CHECK(loop.ignored_new_clients == 1);
    CHECK(loop.draining() == false);
    (void)loop.tick(began + grace + 2 * loop.tick_length());
    loop.collect();
    CHECK(loop.ignored_new_clients == 1);
    CHECK(loop.draining());
}

TEST_CASE("a listener that ignores new clients accepts those that have connected", "[event_loop][stop][linux]") {
    for (const bool is_shared : {false, true}) {
        CAPTURE(is_shared);
        const tollgate_test::server_socket socket;
        const tollgate_test::socket_client before{socket.port()};
        tollgate_test::echo_handler handler;
        const auto context = std::make_shared<server_context>(handler, server_settings{});
        idle_loop loop{context};
        REQUIRE(::fcntl(socket.native(), F_SETFL, O_NONBLOCK) == 0);
        scripted_listener listener{loop, socket.native(), is_shared};
        listener.ignore_new();
        const int late = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(socket.port());
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        (void)::connect(late, reinterpret_cast<const sockaddr*>(&to), sizeof to);
        // On this interface, a handshake would have ended during the call.
        pollfd connected{late, POLLOUT, 0};
        CHECK((::poll(&connected, 1, 0) == 1) == is_shared);
        const auto first = accept_one(socket.native());
        CHECK(first.state == accept_state::accepted);
        close_socket(first.socket);
        ::close(late);
    }
}

TEST_CASE("a listener at a path refuses clients while it accepts the last ones", "[event_loop][stop]") {
    const tollgate_test::temporary_directory directory;
    const std::string path = directory.file("socket");
    socket_file file{path};
    auto opened = listen_at_path({"unix:" + path, 0}, file, 16, 0600);
    REQUIRE(opened);
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), to.sun_path);
    const auto connect = [&] {
        const int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        const bool connected = ::connect(client, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
        ::close(client);
        return connected;
    };
    tollgate_test::echo_handler handler;
    const auto context = std::make_shared<server_context>(handler, server_settings{});
    idle_loop loop{context}, other{context};
    loop.set_next(other);
    scripted_listener listener{loop, opened->socket, false};
    listener.ignore_new();
    CHECK(connect());
    listener.accept_last();
    CHECK_FALSE(connect());
    CHECK(accept_one(opened->socket).state == accept_state::none);
    close_socket(opened->socket);
}

TEST_CASE("a listener accepts what has been established before it is closed", "[event_loop][stop]") {
    for (const bool is_shared : {false, true}) {
        CAPTURE(is_shared);
        const tollgate_test::server_socket socket;
        const tollgate_test::socket_client first{socket.port()}, second{socket.port()};
        tollgate_test::echo_handler handler;
        const auto context = std::make_shared<server_context>(handler, server_settings{});
        idle_loop loop{context};
        idle_loop other{context};
        loop.set_next(other);
        REQUIRE(::fcntl(socket.native(), F_SETFL, O_NONBLOCK) == 0);
        scripted_listener listener{loop, socket.native(), is_shared};
        listener.accept_last();
        // Of a shared socket, other processes accept them.
        CHECK(accept_one(socket.native()).state == (is_shared ? accept_state::accepted : accept_state::none));
    }
}

TEST_CASE("a listener without a descriptor waits again after a pause, even if its loop has no connection", "[event_loop]") {
    const tollgate_test::server_socket socket;
    const tollgate_test::socket_client client{socket.port()};
    tollgate_test::echo_handler handler;
    const auto context = std::make_shared<server_context>(handler, server_settings{});
    idle_loop loop{context};
    scripted_listener listener{loop, socket.native(), false};
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    rlimit none = before;
    none.rlim_cur = 1;  // descriptor 0 is in use
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    const auto paused_at = event_loop::clock::now();
    listener.accept_all();
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(listener.pauses == 1);
    CHECK(listener.waits == 0);
    REQUIRE(loop.is_ticking);
    (void)loop.tick(paused_at + 99ms);
    CHECK(listener.waits == 0);
    (void)loop.tick(event_loop::clock::now() + 100ms + 2 * loop.tick_length());
    CHECK(listener.waits == 1);
    CHECK(listener.pauses == 1);
}

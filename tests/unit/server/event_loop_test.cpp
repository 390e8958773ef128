#include <tollgate/server/detail/event_loop.hpp>

#include <tollgate/server/detail/connection.hpp>

#include <catch2/catch.hpp>
#include <support/echo_handler.hpp>
#include <support/eventually.hpp>
#include <support/gate.hpp>
#include <support/idle_loop.hpp>
#include <support/server_socket.hpp>
#include <support/socket_client.hpp>

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
using tollgate_test::idle_loop;
using tollgate_test::scripted_listener;
using tollgate_test::server_socket;
using tollgate_test::socket_client;

namespace {

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
    static constexpr std::size_t bytes = 16 * 1024 * 1024;
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

/// The server's end of the connection that a client has made.
socket_handle accept_from(const server_socket& listening) {
    const auto accepted = accept_one(listening.native());
    REQUIRE(accepted.state == accept_state::accepted);
    return accepted.socket;
}

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
        const server_socket listening;
        socket_client client{listening.port()};
        auto* const served = new scripted_connection{loop, accept_from(listening)};  // deletes itself at its end
        served->begin();
        REQUIRE(client.write(each.requests));
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
                while (!client.silent_for(0ms)) REQUIRE(tollgate::detail::receive_some(client.native(), taken.data(), taken.size()) > 0);
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
    }
}

TEST_CASE("a connection accepted just before the listeners close has time for its request", "[event_loop][stop]") {
    const std::string get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    const bool sends_request = GENERATE(true, false);
    CAPTURE(sends_request);
    tollgate_test::echo_handler handler;
    const auto context = std::make_shared<server_context>(handler, server_settings{});
    idle_loop loop{context};
    const server_socket listening;
    socket_client client{listening.port()};
    auto* const accepted = new scripted_connection{loop, accept_from(listening)};  // deletes itself at its end
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
        REQUIRE(client.write(get));
        accepted->on_ready();
        const auto response = client.read_response();
        CHECK(response.status == 200);
        CHECK(response.has("Connection: close"));
        client.end_writing();
        accepted->on_ready();
    } else {
        (void)loop.tick(event_loop::clock::now() + 510ms + 2 * loop.tick_length());
        CHECK(accepted->cancelled);
        accepted->on_ready();
    }
    CHECK(client.ends_silently());
    CHECK(context->counters.connections == 0);
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

TEST_CASE("a listener accepts what has been established before it is closed", "[event_loop][stop]") {
    for (const bool is_shared : {false, true}) {
        CAPTURE(is_shared);
        const server_socket socket;
        const socket_client first{socket.port()}, second{socket.port()};
        tollgate_test::echo_handler handler;
        const auto context = std::make_shared<server_context>(handler, server_settings{});
        idle_loop loop{context};
        idle_loop other{context};
        loop.set_next(other);
        REQUIRE(tollgate::detail::make_non_blocking(socket.native()));
        scripted_listener listener{loop, socket.native(), is_shared};
        listener.accept_last();
        // Of a shared socket, other processes accept them.
        CHECK(accept_one(socket.native()).state == (is_shared ? accept_state::accepted : accept_state::none));
    }
}

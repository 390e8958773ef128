#include <tollgate/server/asio_server.hpp>

#include <catch2/catch.hpp>
#include <support/echo_handler.hpp>
#include <support/eventually.hpp>
#include <support/gate.hpp>
#include <support/socket_client.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using tollgate::server;
using tollgate::server_settings;
using tollgate_test::eventually;
using tollgate_test::gate;
using tollgate_test::socket_client;

namespace {

const std::string get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
const std::string get_slow = "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n";

/// A handler with one worker, which `/slow` blocks until the gate opens.
struct one_worker {
    gate waiting;
    std::atomic<int> calls = 0;
    tollgate_test::blocking_handler handler;
    server_settings settings;

    one_worker() {
        handler.respond = [this](const tollgate::http::request& request, tollgate::http::response& response) {
            ++calls;
            if (request.target.path == "/slow") waiting.wait();
            response.body() = request.target.path;
        };
        settings.port = 0;
        settings.threads = 1;
        settings.worker_threads = 1;
        settings.queue_wait_max = 1h;  // a busy machine may delay the worker
    }
};

/// A handler whose requests wait for one kind of work and then, until the gate opens, for another.
struct two_part_handler : tollgate_test::advancing_handler {
    static constexpr bool blocking = true;
    gate second_part;

    tollgate::http::handle_step advance(const tollgate::http::request&, tollgate::http::response& response,
                                        tollgate::http::handler_state& state, tollgate::http::thread_kind thread) noexcept {
        using enum tollgate::http::work_kind;
        const bool is_first = thread == tollgate::http::thread_kind::io;
        if (is_first || state.waits_for() == other) {
            state.set_waits_for(is_first ? other : store_writes);
            return tollgate::http::handle_step::needs_worker;
        }
        second_part.wait();
        response.body() = "done";
        return tollgate::http::handle_step::done;
    }
};

/// Responds to `/now` at once, and refuses `/refused` by its head. Others wait on a worker until the gate opens, and then for their body.
struct mixed_handler : tollgate_test::advancing_handler {
    static constexpr bool blocking = true;
    gate waiting;

    tollgate::http::handle_step advance(const tollgate::http::request& request, tollgate::http::response& response,
                                        tollgate::http::handler_state&, tollgate::http::thread_kind thread) noexcept {
        if (request.target.path != "/now" && request.target.path != "/refused") {
            if (thread == tollgate::http::thread_kind::io && request.body.empty()) return tollgate::http::handle_step::needs_worker;
            if (request.body.empty()) waiting.wait();
            if (request.body_state == tollgate::http::body_state::pending) return tollgate::http::handle_step::needs_body;
        }
        response.body() = request.target.path;
        return tollgate::http::handle_step::done;
    }
};

/// The server refuses this client's request because it is busy, and closes the connection.
void check_busy(socket_client& client) {
    const auto response = client.read_response();
    CHECK(response.status == 503);
    CHECK(response.has("Retry-After: 2"));
    CHECK(client.ends_silently());
}

}  // namespace

TEST_CASE("a request that waits too long for a worker gets 503 while the worker is still busy", "[server][workers]") {
    one_worker setup;
    setup.settings.queue_wait_max = 50ms;
    server running{setup.handler, setup.settings};
    REQUIRE(running.start());
    std::optional<socket_client> slow;
    REQUIRE(eventually([&] {
        if (setup.calls == 1) return true;
        if (slow && slow->silent_for(0ms)) return false;
        slow.emplace(running.port());  // on a busy machine the one before may have timed out
        slow->write(get_slow);
        return false;
    }));

    socket_client queued{running.port()};
    queued.write(get);
    check_busy(queued);
    setup.waiting.open();
    CHECK(slow->read_response().body == "/slow");
    CHECK(setup.calls == 1);
}

TEST_CASE("a response does not wait for the worker of the next request", "[server][workers]") {
    mixed_handler handler;
    server running{handler, {.port = 0, .threads = 1, .worker_threads = 1, .queue_wait_max = 1h}};
    REQUIRE(running.start());
    socket_client client{running.port()};
    client.write("GET /now HTTP/1.1\r\nHost: x\r\n\r\n" + get_slow);
    CHECK(client.read_response().body == "/now");
    handler.waiting.open();
    CHECK(client.read_response().body == "/slow");
}

TEST_CASE("a body that follows a skipped one has a deadline of its own", "[server][workers]") {
    mixed_handler handler;
    server running{handler, {.port = 0, .threads = 1, .worker_threads = 1, .queue_wait_max = 1h, .body_timeout = 2s}};
    REQUIRE(running.start());
    socket_client client{running.port()};
    client.write("POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nskip-");
    CHECK(client.read_response().body == "/refused");
    client.write("this!POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nb");
    handler.waiting.wait_for_calls(1);
    // The deadline of the skipped body passes while the worker has the connection: a later one of another connection passes, too.
    socket_client later{running.port()};
    later.write("POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nskip-");
    CHECK(later.read_response().body == "/refused");
    CHECK(later.ends_silently());
    handler.waiting.open();
    CHECK(client.read_response().status == 408);
}

TEST_CASE("a request may wait for a worker without a bound", "[server][workers]") {
    one_worker setup;
    setup.settings.queue_wait_max = tollgate::milliseconds::max();
    server running{setup.handler, setup.settings};
    REQUIRE(running.start());
    socket_client slow{running.port()}, queued{running.port()};
    slow.write(get_slow);
    REQUIRE(eventually([&] { return setup.calls == 1; }));
    queued.write(get);
    CHECK(queued.silent_for(600ms));  // more than two ticks
    setup.waiting.open();
    CHECK(slow.read_response().status == 200);
    CHECK(queued.read_response().status == 200);
}

TEST_CASE("a full queue of workers results in 503", "[server][workers]") {
    gate waiting;
    tollgate_test::blocking_handler handler;
    handler.respond = [&](const tollgate::http::request&, tollgate::http::response&) { waiting.wait(); };
    server_settings settings = one_worker{}.settings;
    settings.worker_queue_max = 1;
    server running{handler, settings};
    REQUIRE(running.start());

    socket_client working{running.port()};
    working.write(get);
    waiting.wait_for_calls(1);
    socket_client queued{running.port()};
    queued.write(get);
    CHECK(eventually([&] { return running.statistics().queued == 1; }));
    socket_client refused{running.port()};
    refused.write(get);
    check_busy(refused);
    waiting.open();
    CHECK(working.read_response().status == 200);
    CHECK(queued.read_response().status == 200);
}

TEST_CASE("a request that waits for a second kind of work is queued, counted and refused like a new one", "[server][workers]") {
    two_part_handler handler;
    server_settings settings = one_worker{}.settings;
    settings.worker_queue_max = 1;
    server running{handler, settings};
    REQUIRE(running.start());
    socket_client working{running.port()};
    working.write(get);
    handler.second_part.wait_for_calls(1);
    socket_client queued{running.port()};
    queued.write(get);
    // For its second part: a worker has done the first one.
    REQUIRE(eventually([&] { return running.statistics().taken_up == 2 && running.statistics().queued == 1; }));
    const auto waited_before = running.statistics().waited;
    const auto queued_at = std::chrono::steady_clock::now();

    socket_client refused{running.port()};
    refused.write(get);
    check_busy(refused);
    CHECK(running.statistics().dropped == 1);
    CHECK(running.statistics().queued == 1);

    const auto waited = std::chrono::steady_clock::now() - queued_at;
    handler.second_part.open();
    CHECK(working.read_response().body == "done");
    CHECK(queued.read_response().body == "done");
    CHECK(running.statistics().queued == 0);
    CHECK(running.statistics().waited - waited_before >= waited);
    CHECK(running.statistics().taken_up == 3);
}

TEST_CASE("requests whose clients have reset the connection are not run", "[server][workers]") {
    one_worker setup;
    server running{setup.handler, setup.settings};
    REQUIRE(running.start());
    socket_client slow{running.port()};
    slow.write(get_slow);
    setup.waiting.wait_for_calls(1);
    {
        std::vector<socket_client> closed;
        for (int i = 0; i < 20; ++i) {
            closed.emplace_back(running.port());
            closed.back().write(get);
        }
        CHECK(eventually([&] { return running.statistics().queued == 20; }));
        for (const auto& one : closed) one.reset_on_close();
    }
    socket_client last{running.port()};
    last.write(get);
    setup.waiting.open();
    CHECK(slow.read_response().body == "/slow");
    CHECK(last.read_response().body == "/a");
    CHECK(setup.calls == 2);
}

TEST_CASE("at the deadline of stop, requests waiting for a worker are dropped", "[server][workers][stop]") {
    one_worker setup;
    server running{setup.handler, setup.settings};
    REQUIRE(running.start());
    socket_client slow{running.port()};
    slow.write(get_slow);
    setup.waiting.wait_for_calls(1);
    std::vector<socket_client> queued;
    for (int i = 0; i < 20; ++i) {
        queued.emplace_back(running.port());
        queued.back().write(get);
    }
    CHECK(eventually([&] { return running.statistics().queued == 20; }));

    auto stopped = std::async(std::launch::async, [&] { running.stop(0ms); });
    for (auto& one : queued) CHECK(one.ends_silently());
    CHECK(stopped.wait_for(0ms) == std::future_status::timeout);  // the running call
    setup.waiting.open();
    stopped.get();
    CHECK(setup.calls == 1);
}

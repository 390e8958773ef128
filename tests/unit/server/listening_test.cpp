#include <tollgate/server/server.hpp>

#include <tollgate/server/asio_server.hpp>

#include <support/echo_handler.hpp>
#include <support/eventually.hpp>
#include <support/gate.hpp>
#include <support/server_socket.hpp>
#include <support/socket_client.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

using namespace tollgate;
using tollgate_test::echo_handler;
using tollgate_test::eventually;
using tollgate_test::socket_client;

namespace {

const std::string get = "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

}  // namespace

TEST_CASE("a socket that is passed to a server must listen", "[server][listening]") {
    const tollgate_test::reserved_port bound;
    echo_handler handler;
    server not_yet{handler, {.listening_sockets = {tollgate_test::copy_of(bound.native())}, .threads = 1}};
    const auto failed = not_yet.start();
    REQUIRE_FALSE(failed);
    CHECK(failed.error().message.find("not a listening socket") != std::string::npos);
}

TEST_CASE("a socket that was passed to a server stays open for others", "[server][listening]") {
    const tollgate_test::server_socket listening;
    const auto port = listening.port();
    echo_handler handler;
    socket_client waiting{port};
    waiting.write(get);
    server running{handler, {.listening_sockets = {listening.copy()}, .threads = 1}};
    REQUIRE(running.start());
    CHECK(running.port() == port);
    CHECK(waiting.read_response().status == 200);
    socket_client client{port};
    client.write(get);
    CHECK(client.read_response().status == 200);
    running.stop();
    const socket_client next{port};  // waits in the socket's queue
    CHECK(next.silent_for(std::chrono::milliseconds{20}));
}

// Not on Windows: only since 8.1, and not with Wine, a socket can leave the completion port that it was registered with.
TEST_CASE("a socket serves one server after another", "[server][listening][posix]") {
    const tollgate_test::server_socket listening;
    echo_handler handler;
    for (int i = 0; i < 3; ++i) {
        socket_client waiting{listening.port()};
        waiting.write(get);
        server running{handler, {.listening_sockets = {listening.copy()}, .threads = 1}};
        REQUIRE(running.start());
        CHECK(waiting.read_response().status == 200);
        running.stop();
    }
}

TEST_CASE("pipelined requests are counted one by one when workers take them up", "[server][listening]") {
    tollgate_test::blocking_handler handler{[](const http::request&, http::response& response) { response.body() = "done"; }};
    server running{handler, {.port = 0, .threads = 1, .worker_threads = 1, .queue_wait_max = seconds{3600}}};
    REQUIRE(running.start());
    socket_client client{running.port()};
    std::string requests;
    for (int i = 0; i < 5; ++i) requests += "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    client.write(requests);
    for (int i = 0; i < 5; ++i) CHECK(client.read_response().status == 200);
    CHECK(running.statistics().taken_up == 5);
}

TEST_CASE("a server counts connections, waits for workers, and dropped requests", "[server][listening]") {
    tollgate_test::gate work;
    tollgate_test::blocking_handler handler{[&](const http::request& request, http::response& response) {
        if (request.target.path == "/wait") work.wait();
        response.body() = "done";
    }};
    server running{handler, {.port = 0, .threads = 1, .worker_threads = 1, .worker_queue_max = 1, .queue_wait_max = seconds{3600}}};
    REQUIRE(running.start());
    CHECK(running.statistics().connections_accepted == 0);
    const auto send = [&](std::string path) {
        socket_client client{running.port()};
        client.write("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        return client;
    };
    {
        auto first = send("/wait");
        CHECK(eventually([&] { return running.statistics().taken_up == 1; }));
        auto second = send("/");
        CHECK(eventually([&] { return running.statistics().queued == 1; }));
        auto third = send("/");  // the queue is full
        CHECK(third.read_response().status == 503);
        CHECK(running.statistics().dropped == 1);
        CHECK(running.statistics().queued == 1);
        work.open();
        CHECK(first.read_response().status == 200);
        CHECK(second.read_response().status == 200);
    }
    CHECK(eventually([&] { return running.statistics().connections == 0; }));
    const auto counted = running.statistics();
    CHECK(counted.connections_accepted == 3);
    CHECK(counted.connections_refused == 0);
    CHECK(counted.queued == 0);
    CHECK(counted.taken_up == 2);
    CHECK(counted.waited.count() > 0);
    CHECK(counted.dropped == 1);
}

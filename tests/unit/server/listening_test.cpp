#include <tollgate/server/server.hpp>

#include <tollgate/server/asio_server.hpp>

#include <support/echo_handler.hpp>
#include <support/eventually.hpp>
#include <support/gate.hpp>
#include <support/socket_client.hpp>
#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

using namespace tollgate;
using tollgate_test::echo_handler;
using tollgate_test::eventually;
using tollgate_test::socket_client;

namespace {

const std::string get = "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

sockaddr_un name_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    return address;
}

/// The response over a Unix domain socket; empty if no process listens.
std::string fetch(const std::string& path) {
    const int client = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const auto to = name_of(path);
    std::string response;
    if (::connect(client, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
        ::send(client, get.data(), get.size(), MSG_NOSIGNAL);
        char bytes[1024];
        for (ssize_t count = 0; (count = ::recv(client, bytes, sizeof bytes, 0)) > 0;) response.append(bytes,
                                                                                                       static_cast<std::size_t>(count));
    }
    ::close(client);
    return response;
}

server_settings at(const std::string& path) { return {.address = "unix:" + path, .port = 0, .threads = 1, .stop_grace = tollgate::milliseconds{0}}; }

struct peer_handler {
    void handle(const http::request& request, http::response& response) noexcept { response.body() = request.peer.to_text(); }
    void handle(const http::refusal& refused, http::response& response) noexcept { response.set_status(refused.status); }
};

}  // namespace

TEST_CASE("a server listens on a Unix domain socket, and its peers have the address 127.0.0.1", "[server][listening]") {
    const tollgate_test::temporary_directory directory;
    const auto path = directory.file("server.sock");
    peer_handler handler;
    {
        server running{handler, at(path)};
        REQUIRE(running.start());
        REQUIRE(running.endpoints().size() == 1);
        CHECK(running.endpoints().front().address == "unix:" + path);
        CHECK(fetch(path).ends_with("\r\n\r\n127.0.0.1"));
        struct stat file{};
        REQUIRE(::stat(path.c_str(), &file) == 0);
        CHECK((file.st_mode & 0777) == 0660);
        running.stop();
        CHECK(::stat(path.c_str(), &file) != 0);
    }
    // Also without `stop`.
    server{handler, at(path)}.start().value();
    CHECK(::access(path.c_str(), F_OK) != 0);
}

TEST_CASE("a server that cannot start leaves no socket file", "[server][listening]") {
    const tollgate_test::temporary_directory directory;
    const auto path = directory.file("server.sock");
    peer_handler handler;
    server_settings settings = at(path);
    settings.more_addresses = {{"no address", 0}};
    server refused{handler, settings};
    CHECK_FALSE(refused.start());
    CHECK(::access(path.c_str(), F_OK) != 0);

    // A file that belongs to another server stays.
    server other{handler, at(path)};
    REQUIRE(other.start());
    server second{handler, settings};
    CHECK_FALSE(second.start());
    CHECK_FALSE(fetch(path).empty());
}

TEST_CASE("a socket file is replaced only if no process listens on it", "[server][listening]") {
    const tollgate_test::temporary_directory directory;
    const auto path = directory.file("server.sock");
    peer_handler handler;
    const auto left = name_of(path);
    const int stale = ::socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(::bind(stale, reinterpret_cast<const sockaddr*>(&left), sizeof left) == 0);
    ::close(stale);

    server first{handler, at(path)};
    REQUIRE(first.start());
    server second{handler, at(path)};
    const auto refused = second.start();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find(path) != std::string::npos);
    CHECK_FALSE(fetch(path).empty());

    const auto other = directory.file("data");
    std::ofstream{other} << "precious";
    server third{handler, at(other)};
    const auto occupied = third.start();
    REQUIRE_FALSE(occupied);
    CHECK(occupied.error().message == "Cannot listen at unix:" + other + ": File exists (bind).");
    CHECK(::access(other.c_str(), F_OK) == 0);

    // One that listens, but accepts nobody, and has no place left for a further connection.
    const auto full = directory.file("full.sock");
    const auto name = name_of(full);
    const auto connect = [&](int by) { return ::connect(by, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0; };
    std::vector<int> sockets{::socket(AF_UNIX, SOCK_STREAM, 0)};
    REQUIRE(::bind(sockets[0], reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
    REQUIRE(::listen(sockets[0], 0) == 0);
    do sockets.push_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
    while (connect(sockets.back()) && sockets.size() < 100);
    CHECK(errno == EAGAIN);
    server fourth{handler, at(full)};
    CHECK_FALSE(fourth.start());  // and does not wait
    CHECK(::access(full.c_str(), F_OK) == 0);
    for (const int each : sockets) ::close(each);

    for (const auto& wrong : {std::string{}, std::string(200, 'x')}) {
        server none{handler, at(wrong)};
        const auto failed = none.start();
        REQUIRE_FALSE(failed);
        CHECK(failed.error().kind == error_kind::invalid);
    }
}

TEST_CASE("a socket that was passed to a server stays open for others", "[server][listening]") {
    const int listening = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof to;
    REQUIRE(::bind(listening, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
    echo_handler handler;
    {
        server not_yet{handler, {.listening_sockets = {::dup(listening)}, .threads = 1}};
        const auto failed = not_yet.start();
        REQUIRE_FALSE(failed);  // it is bound and does not listen
        CHECK(failed.error().message.find("not a listening socket") != std::string::npos);
    }
    REQUIRE(::listen(listening, 16) == 0);
    REQUIRE(::getsockname(listening, reinterpret_cast<sockaddr*>(&to), &bytes) == 0);
    const auto port = ntohs(to.sin_port);
    for (int i = 0; i < 2; ++i) {
        server running{handler, {.listening_sockets = {::dup(listening)}, .threads = 1}};
        REQUIRE(running.start());
        CHECK(running.port() == port);
        socket_client client{port};
        client.write(get);
        CHECK(client.read_response().status == 200);
        running.stop();
        // Between two servers a connection waits in the socket's queue.
    }
    socket_client waiting{port};
    waiting.write(get);
    server again{handler, {.listening_sockets = {::dup(listening)}, .threads = 1}};
    REQUIRE(again.start());
    CHECK(waiting.read_response().status == 200);
    ::close(listening);
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

#include <tollgate/server/detail/event_loop.hpp>

#include <catch2/catch.hpp>
#include <support/echo_handler.hpp>
#include <support/idle_loop.hpp>
#include <support/server_socket.hpp>
#include <support/socket_client.hpp>
#include <support/temporary_directory.hpp>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

// Windows has no packet filter and no Unix domain sockets, and no limit on handles runs out.

using namespace std::chrono_literals;
using namespace tollgate::server_detail;
using tollgate::server_settings;
using tollgate_test::idle_loop;
using tollgate_test::scripted_listener;

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
        (void)tollgate_test::connect_to(late, socket.port());
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

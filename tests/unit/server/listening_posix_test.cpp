#include <tollgate/server/server.hpp>

#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

// On Windows the library has no Unix domain sockets.

using namespace tollgate;

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

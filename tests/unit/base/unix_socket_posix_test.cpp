#include <tollgate/base/detail/system/unix_socket.hpp>

#include <catch2/catch.hpp>
#include <support/temporary_directory.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

// On Windows the library has no Unix domain sockets.

namespace {

using locking_file = tollgate::detail::basic_socket_file<true>;
using plain_file = tollgate::detail::basic_socket_file<false>;

bool exists(const std::string& path) { return std::filesystem::exists(std::filesystem::symlink_status(path)); }

/// A socket file whose socket refuses connections: nobody listens, or, except on Linux, the backlog of one that listens is full.
void make_refusing(const std::string& path) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, path.data(), path.size());
    const int bound = ::socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(::bind(bound, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
    ::close(bound);
}

/// What `listen` returns; the socket is closed.
template <class File>
tollgate::detail::opened_path listen(File& file) {
    const auto opened = file.listen(16, 0600);
    if (opened.socket != tollgate::detail::no_socket) tollgate::detail::close_handle(opened.socket);
    return opened;
}

}  // namespace

TEST_CASE("the lock beside a socket file tells whether a server listens", "[system][socket]") {
    const tollgate_test::temporary_directory directory;
    const auto path = directory.file("server.sock"), lock = path + ".lock";

    locking_file first{path};
    REQUIRE(listen(first).failed == nullptr);
    first.identify();
    CHECK(exists(lock));
    // Its socket refuses connections, as it is closed already; the file is not stale while the lock is held.
    locking_file second{path};
    const auto refused = listen(second);
    REQUIRE(refused.failed != nullptr);
    CHECK(std::string{refused.failed} == "lock");
    CHECK(refused.error == EADDRINUSE);
    second.remove();
    CHECK(exists(path));
    CHECK(exists(lock));

    first.remove();
    CHECK_FALSE(exists(path));
    CHECK_FALSE(exists(lock));
    REQUIRE(listen(second).failed == nullptr);
    second.identify();
    first.remove();  // that of another server stays
    CHECK(exists(path));
    CHECK(exists(lock));
}

TEST_CASE("a socket file without its lock is replaced, as one that a crash has left", "[system][socket]") {
    const tollgate_test::temporary_directory directory;
    const auto path = directory.file("server.sock"), lock = path + ".lock";
    make_refusing(path);
    std::ofstream{lock} << "";  // the end of the process has released the lock, and left its file
    {
        locking_file again{path};
        REQUIRE(listen(again).failed == nullptr);
        again.identify();
        locking_file moved{std::move(again)};  // the lock moves, too
        locking_file other{path};
        CHECK(listen(other).failed != nullptr);
    }
    CHECK_FALSE(exists(lock));

    plain_file without{path};
    REQUIRE(listen(without).failed == nullptr);
    CHECK_FALSE(exists(lock));
}

TEST_CASE("no lock is made where it cannot be", "[system][socket]") {
    const tollgate_test::temporary_directory directory;
    locking_file lost{directory.file("no directory/server.sock")};
    const auto failed = listen(lost);
    REQUIRE(failed.failed != nullptr);
    CHECK(failed.error == ENOENT);

    const auto path = directory.file("server.sock");
    std::filesystem::create_symlink(directory.file("elsewhere"), path + ".lock");
    locking_file linked{path};
    CHECK(listen(linked).failed != nullptr);
    CHECK_FALSE(exists(directory.file("elsewhere")));
}

#include <tollgate/limits/detail/redis/connection.hpp>

#include <tollgate/limits/detail/redis/server_address.hpp>

#include <support/failing_new.hpp>
#include <support/scripted_peer.hpp>
#include <support/server_socket.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;
using tollgate_test::peer_connection;
using tollgate_test::scripted_peer;

namespace {

auto in_a_minute() { return std::chrono::steady_clock::now() + std::chrono::minutes{1}; }

result<std::unique_ptr<redis::connection>> connect_to(std::uint16_t port) {
    const auto server = redis::parse_url("redis://127.0.0.1:" + std::to_string(port));
    REQUIRE(server);
    return redis::connection::open(*server, nullptr, in_a_minute());
}

result<void> ping(redis::connection& server, redis::reply& received) {
    std::string command;
    redis::command_writer{command, 1}.word("PING");
    return server.exchange(command, {&received, 1}, in_a_minute());
}

}  // namespace

TEST_CASE("a large reply is read, and one that does not end is an error before the deadline", "[redis]") {
    const scripted_peer peer{[](peer_connection& on, int) {
        if (!on.write("$1000000\r\n" + std::string(1'000'000, 'x') + "\r\n$400000000\r\n")) return;
        const std::string more(64 * 1024, 'x');
        while (on.write(more)) {
        }
    }};
    const auto opened = connect_to(peer.port());
    REQUIRE(opened);
    redis::reply received;
    CHECK(ping(**opened, received));
    const auto endless = ping(**opened, received);
    REQUIRE_FALSE(endless);
    CHECK_THAT(endless.error().cause, Catch::EndsWith("a reply of more than 1 MiB"));
}

TEST_CASE("a connection with a reply that no command asked for is not used again", "[redis]") {
    for (const std::string_view replies : {":1\r\n", ":1\r\n:2\r\n", ":1\r\n:"}) {
        CAPTURE(replies);
        const scripted_peer peer{[replies](peer_connection& on, int) {
            on.write(replies);
            on.wait_for_the_end();
        }};
        const auto opened = connect_to(peer.port());
        REQUIRE(opened);
        redis::reply received;
        REQUIRE(ping(**opened, received));
        CHECK(received.numbers == std::vector<std::int64_t>{1});
        CHECK((*opened)->is_sound() == (replies == ":1\r\n"));
    }
}

#if !defined(TOLLGATE_TEST_NEW_IS_TAKEN)

TEST_CASE("lookups that ran out of memory do not prevent later ones", "[redis]") {
    const tollgate_test::reserved_port nobody_listens;
    const auto server = redis::parse_url("redis://localhost:" + std::to_string(nobody_listens.port()));
    REQUIRE(server);
    const auto open = [&] {
        return redis::connection::open(*server, nullptr, in_a_minute());
    };
    for (int round = 0; round < 5; ++round) {  // more than there are threads for lookups
        tollgate_test::fail_each_allocation([&](auto short_of_memory) {
            try {
                return short_of_memory([&] {
                    const auto opened = open();
                    return tollgate_test::allocations_left >= 0;
                });
            } catch (const std::bad_alloc&) {
                return false;
            }
        });
    }
    const auto opened = open();
    REQUIRE_FALSE(opened);
    CHECK_THAT(opened.error().cause, Catch::Contains("cannot connect"));
}

#endif

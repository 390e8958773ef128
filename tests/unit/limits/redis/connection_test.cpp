#include <tollgate/limits/detail/redis/connection.hpp>

#include <tollgate/limits/detail/redis/server_address.hpp>

#include <support/failing_new.hpp>
#include <support/server_socket.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <new>
#include <string>

#if !defined(TOLLGATE_TEST_NEW_IS_TAKEN)

using namespace tollgate;

TEST_CASE("lookups that ran out of memory do not prevent later ones", "[redis]") {
    const tollgate_test::reserved_port nobody_listens;
    const auto server = redis::parse_url("redis://localhost:" + std::to_string(nobody_listens.port()));
    REQUIRE(server);
    const auto open = [&] {
        return redis::connection::open(*server, nullptr, std::chrono::steady_clock::now() + std::chrono::minutes{1});
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

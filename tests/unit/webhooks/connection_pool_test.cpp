#include <tollgate/webhooks/detail/connection_pool.hpp>

#include <support/failing_new.hpp>

#include <catch2/catch.hpp>

#include <asio/io_context.hpp>
#include <asio/strand.hpp>

#include <memory>
#include <string>

#if !defined(TOLLGATE_TEST_NEW_IS_TAKEN)

using namespace tollgate;
using webhooks::connection_pool;
using webhooks::hook_connection;

TEST_CASE("a pool that runs out of memory while it adds a connection is unchanged") {
    asio::io_context context;
    const webhooks::client_executor executor{asio::any_io_executor{context.get_executor()}};
    const std::string origin = "https://a-name-that-is-not-stored-in-place.example:8443";
    connection_pool pool{{.connections_max = 4, .per_host_max = 4, .idle_timeout = seconds{30}, .age_max = seconds{300}}};
    const long failures = tollgate_test::fail_each_allocation([&](auto short_of_memory) {
        auto one = std::make_shared<hook_connection>(executor);
        one->made_at = connection_pool::clock::now();
        try {
            short_of_memory([&] { pool.put(origin, std::move(one)); });
            return true;
        } catch (const std::bad_alloc&) {
            CHECK_FALSE(pool.sweep());  // nothing was added
            CHECK(pool.take(origin) == nullptr);
            return false;
        }
    });
    CHECK(failures > 2);
    CHECK(pool.sweep());
    pool.close();
    CHECK_FALSE(pool.sweep());
}

#endif

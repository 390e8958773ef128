#include <tollgate/webhooks/detail/connection_pool.hpp>

#include <support/failing_new.hpp>

#include <catch2/catch.hpp>

#include <asio/io_context.hpp>
#include <asio/strand.hpp>

#include <memory>
#include <string>

#if !defined(TOLLGATE_TEST_NEW_IS_TAKEN)

using namespace tollgate;
using tollgate_test::allocations_left;
using webhooks::connection_pool;
using webhooks::hook_connection;

TEST_CASE("a pool that runs out of memory while it adds a connection is unchanged") {
    asio::io_context context;
    const webhooks::client_executor executor{asio::any_io_executor{context.get_executor()}};
    const std::string origin = "https://a-name-that-is-not-stored-in-place.example:8443";
    connection_pool pool{{.connections_max = 4, .per_host_max = 4, .idle_timeout = seconds{30}, .age_max = seconds{300}}};
    long failures = 0;
    for (bool added = false; !added; ++failures) {
        REQUIRE(failures < 100);
        auto one = std::make_shared<hook_connection>(executor);
        one->made_at = connection_pool::clock::now();
        allocations_left = failures;
        try {
            pool.put(origin, std::move(one));
            added = true;
        } catch (const std::bad_alloc&) {
        }
        allocations_left.reset();
        if (!added) CHECK_FALSE(pool.sweep());  // nothing was added
        if (!added) CHECK(pool.take(origin) == nullptr);
    }
    CHECK(failures > 3);
    CHECK(pool.sweep());
    pool.close();
    CHECK_FALSE(pool.sweep());
}

#endif

#include <tollgate/server/detail/connection_limiter.hpp>

#include <catch2/catch.hpp>

using namespace tollgate;
using server_detail::admission;
using server_detail::connection_limiter;

TEST_CASE("connections are counted in total", "[connection_limiter]") {
    connection_limiter limiter{2, 2};
    const auto one = ip_address::v4(192, 0, 2, 1);
    CHECK(limiter.admit(one) == admission::accepted);
    CHECK(limiter.admit(one) == admission::accepted);
    CHECK(limiter.admit(one) == admission::full);
    limiter.release(one, admission::full);
    CHECK(limiter.admit(one) == admission::full);
    limiter.release(one, admission::accepted);
    CHECK(limiter.admit(one) == admission::accepted);
}

TEST_CASE("connections are counted by address, an IPv6 one by its /64", "[connection_limiter]") {
    connection_limiter limiter{100, 1};
    CHECK(limiter.admit(*ip_address::parse("192.0.2.1")) == admission::accepted);
    CHECK(limiter.admit(*ip_address::parse("192.0.2.2")) == admission::accepted);
    CHECK(limiter.admit(*ip_address::parse("::ffff:192.0.2.1")) == admission::address_full);
    CHECK(limiter.admit(*ip_address::parse("2001:db8::1")) == admission::accepted);
    CHECK(limiter.admit(*ip_address::parse("2001:db8::2")) == admission::address_full);
    CHECK(limiter.admit(*ip_address::parse("2001:db8:0:1::1")) == admission::accepted);
    limiter.release(*ip_address::parse("2001:db8::1"), admission::accepted);
    CHECK(limiter.admit(*ip_address::parse("2001:db8::2")) == admission::accepted);
}

TEST_CASE("unsent bytes are counted in total and by address", "[connection_limiter]") {
    const auto one = ip_address::v4(192, 0, 2, 1), other = ip_address::v4(192, 0, 2, 2), proxy = ip_address::v4(10, 0, 0, 1);
    connection_limiter limiter{100, 50, {*ip_network::parse("10.0.0.0/8")}, 400};
    for (const auto& each : {one, one, other, proxy}) REQUIRE(limiter.admit(each) == admission::accepted);
    CHECK(limiter.hold_unsent(one, {0}, {60}));
    CHECK_FALSE(limiter.hold_unsent(one, {0}, {41}));  // of another connection: more than a quarter
    CHECK(limiter.hold_unsent(one, {0}, {40}));
    CHECK_FALSE(limiter.hold_unsent(one, {40}, {41}));
    CHECK(limiter.hold_unsent(one, {40}, {10}));
    CHECK(limiter.hold_unsent(one, {10}, {40}));
    CHECK(limiter.hold_unsent(other, {0}, {100}));
    CHECK(limiter.hold_unsent(proxy, {0}, {200}));
    CHECK_FALSE(limiter.hold_unsent(proxy, {200}, {201}));  // more than all
    CHECK(limiter.hold_unsent(other, {100}, {0}));
    limiter.release(other, admission::accepted);
    CHECK(limiter.hold_unsent(proxy, {200}, {300}));
}

TEST_CASE("unsent bytes are counted by user, from whatever address", "[connection_limiter]") {
    const auto proxy = ip_address::v4(10, 0, 0, 1);
    connection_limiter limiter{100, 50, {*ip_network::parse("10.0.0.0/8")}, 400};
    const user_id one{1}, other{2};
    CHECK(limiter.hold_unsent(proxy, {}, {60, one}));
    CHECK_FALSE(limiter.hold_unsent(proxy, {}, {41, one}));  // of another connection: more than a quarter
    CHECK(limiter.hold_unsent(proxy, {}, {40, one}));
    CHECK_FALSE(limiter.hold_unsent(proxy, {40, one}, {41, one}));
    CHECK(limiter.hold_unsent(proxy, {40, one}, {10, one}));
    CHECK(limiter.hold_unsent(proxy, {}, {100, other}));
    CHECK(limiter.hold_unsent(proxy, {}, {150}));  // for nobody
    CHECK_FALSE(limiter.hold_unsent(proxy, {100, other}, {101, one}));  // the next response on the connection
    CHECK(limiter.hold_unsent(proxy, {100, other}, {30, one}));
    CHECK_FALSE(limiter.hold_unsent(proxy, {30, one}, {31, one}));
    CHECK(limiter.hold_unsent(proxy, {30, one}, {100, other}));
    CHECK(limiter.hold_unsent(proxy, {60, one}, {}));
    CHECK(limiter.hold_unsent(proxy, {10, one}, {}));
    CHECK(limiter.hold_unsent(proxy, {}, {100, one}));
}

TEST_CASE("a full server counts a connection in place of another one, but not beyond its address's bound",
          "[connection_limiter]") {
    connection_limiter limiter{3, 2};
    const auto one = ip_address::v4(192, 0, 2, 1);
    const auto other = ip_address::v4(192, 0, 2, 2);
    CHECK(limiter.admit(one) == admission::accepted);
    CHECK(limiter.admit(other) == admission::accepted);
    CHECK(limiter.admit(other) == admission::accepted);
    CHECK(limiter.admit(other) == admission::address_full);
    CHECK(limiter.admit(one) == admission::full);
    CHECK(limiter.replace(one) == admission::accepted);
    limiter.release(other, admission::accepted);  // the connection that was closed
    CHECK(limiter.admit(other) == admission::full);
    CHECK(limiter.replace(other) == admission::accepted);
    limiter.release(one, admission::accepted);
    CHECK(limiter.admit(other) == admission::address_full);
    CHECK(limiter.replace(other) == admission::full);
}

TEST_CASE("a flood is dropped without a response", "[connection_limiter]") {
    connection_limiter limiter{1, 1};
    const auto one = ip_address::v4(192, 0, 2, 1);
    CHECK(limiter.admit(one) == admission::accepted);
    int refused = 0;
    while (limiter.admit(one) == admission::full) ++refused;
    CHECK(refused == 256);
    limiter.release(one, admission::full);
    CHECK(limiter.admit(one) == admission::full);
}

TEST_CASE("an address over its bound uses neither the refusals nor the replacements of others", "[connection_limiter]") {
    connection_limiter limiter{3, 1};
    const auto flooding = ip_address::v4(192, 0, 2, 1);
    for (unsigned char last = 1; last <= 3; ++last) CHECK(limiter.admit(ip_address::v4(192, 0, 2, last)) == admission::accepted);
    int refused = 0;
    while (limiter.admit(flooding) == admission::address_full) ++refused;
    CHECK(refused == 128);
    const auto other = ip_address::v4(192, 0, 2, 4);
    CHECK(limiter.admit(other) == admission::full);
    CHECK(limiter.replace(other) == admission::accepted);
    limiter.release(flooding, admission::address_full);
    CHECK(limiter.admit(flooding) == admission::address_full);
    CHECK(limiter.admit(flooding) == admission::dropped);
}

TEST_CASE("the bound of an address does not apply to a trusted proxy, but to all others", "[connection_limiter]") {
    connection_limiter limiter{4, 1, {*ip_network::parse("10.0.0.0/8")}};
    const auto proxy = ip_address::v4(10, 1, 2, 3), client = ip_address::v4(192, 0, 2, 1);
    CHECK(limiter.admit(proxy) == admission::accepted);
    CHECK(limiter.admit(proxy) == admission::accepted);
    CHECK(limiter.admit(client) == admission::accepted);
    CHECK(limiter.admit(client) == admission::address_full);
    CHECK(limiter.admit(proxy) == admission::accepted);
    CHECK(limiter.admit(proxy) == admission::full);
    limiter.release(proxy, admission::full);
    limiter.release(proxy, admission::accepted);
    limiter.release(client, admission::accepted);
    CHECK(limiter.admit(client) == admission::accepted);
}

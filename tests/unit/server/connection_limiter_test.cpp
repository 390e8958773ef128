#include <tollgate/server/detail/connection_limiter.hpp>

#include <catch2/catch.hpp>

using namespace tollgate;
using server_detail::connection_limiter;
using answer = server_detail::connection_limiter::decision;

TEST_CASE("connections are counted in all", "[connection_limiter]") {
    connection_limiter connections{2, 0};
    const auto one = ip_address::v4(192, 0, 2, 1);
    CHECK(connections.admit(one) == answer::accepted);
    CHECK(connections.admit(one) == answer::accepted);
    CHECK(connections.admit(one) == answer::refused);
    connections.release(one, answer::refused);
    CHECK(connections.admit(one) == answer::refused);
    connections.release(one, answer::accepted);
    CHECK(connections.admit(one) == answer::accepted);
}

TEST_CASE("connections are counted by address, an IPv6 one by its /64", "[connection_limiter]") {
    connection_limiter connections{100, 1};
    CHECK(connections.admit(*ip_address::parse("192.0.2.1")) == answer::accepted);
    CHECK(connections.admit(*ip_address::parse("192.0.2.2")) == answer::accepted);
    CHECK(connections.admit(*ip_address::parse("::ffff:192.0.2.1")) == answer::refused);
    CHECK(connections.admit(*ip_address::parse("2001:db8::1")) == answer::accepted);
    CHECK(connections.admit(*ip_address::parse("2001:db8::2")) == answer::refused);
    CHECK(connections.admit(*ip_address::parse("2001:db8:0:1::1")) == answer::accepted);
    connections.release(*ip_address::parse("2001:db8::1"), answer::accepted);
    CHECK(connections.admit(*ip_address::parse("2001:db8::2")) == answer::accepted);
}

TEST_CASE("a flood is not told, but dropped", "[connection_limiter]") {
    connection_limiter connections{1, 0};
    const auto one = ip_address::v4(192, 0, 2, 1);
    CHECK(connections.admit(one) == answer::accepted);
    int told = 0;
    while (connections.admit(one) == answer::refused) ++told;
    CHECK(told == 256);
    connections.release(one, answer::refused);
    CHECK(connections.admit(one) == answer::refused);
}

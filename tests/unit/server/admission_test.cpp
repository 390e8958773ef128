#include <tollgate/server/detail/admission.hpp>

#include <catch2/catch.hpp>

using namespace tollgate;
using server_detail::admission;
using answer = server_detail::admission::verdict;

TEST_CASE("connections are counted in all", "[admission]") {
    admission doors{2, 0};
    const auto one = ip_address::v4(192, 0, 2, 1);
    CHECK(doors.enter(one) == answer::welcome);
    CHECK(doors.enter(one) == answer::welcome);
    CHECK(doors.enter(one) == answer::refused);
    doors.leave(one, answer::refused);
    CHECK(doors.enter(one) == answer::refused);
    doors.leave(one, answer::welcome);
    CHECK(doors.enter(one) == answer::welcome);
}

TEST_CASE("connections are counted by address, an IPv6 one by its /64", "[admission]") {
    admission doors{100, 1};
    CHECK(doors.enter(*ip_address::parse("192.0.2.1")) == answer::welcome);
    CHECK(doors.enter(*ip_address::parse("192.0.2.2")) == answer::welcome);
    CHECK(doors.enter(*ip_address::parse("::ffff:192.0.2.1")) == answer::refused);
    CHECK(doors.enter(*ip_address::parse("2001:db8::1")) == answer::welcome);
    CHECK(doors.enter(*ip_address::parse("2001:db8::2")) == answer::refused);
    CHECK(doors.enter(*ip_address::parse("2001:db8:0:1::1")) == answer::welcome);
    doors.leave(*ip_address::parse("2001:db8::1"), answer::welcome);
    CHECK(doors.enter(*ip_address::parse("2001:db8::2")) == answer::welcome);
}

TEST_CASE("a flood is not told, but dropped", "[admission]") {
    admission doors{1, 0};
    const auto one = ip_address::v4(192, 0, 2, 1);
    CHECK(doors.enter(one) == answer::welcome);
    int told = 0;
    while (doors.enter(one) == answer::refused) ++told;
    CHECK(told == 256);
    doors.leave(one, answer::refused);
    CHECK(doors.enter(one) == answer::refused);
}

#include <tollgate/base/ip_address.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

using tollgate::ip_address;
using tollgate::ip_network;

TEST_CASE("addresses are read and written in their canonical text") {
    const std::vector<std::pair<std::string, std::string>> cases = {
        // Input and canonical output.
        {"0.0.0.0", "0.0.0.0"},
        {"127.0.0.1", "127.0.0.1"},
        {"255.255.255.255", "255.255.255.255"},
        {"::", "::"},
        {"::1", "::1"},
        {"1::", "1::"},
        {"2001:db8::1", "2001:db8::1"},
        {"2001:0DB8:0000:0000:0000:0000:0000:0001", "2001:db8::1"},
        {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},      // one zero group is not shortened
        {"2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
        {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},              // the longest run
        {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},        // the first of equal runs
        {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
        {"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
        {"1:0:0:0:0:0:0:0", "1::"},
        {"fe80::ABCD:00ef", "fe80::abcd:ef"},
        {"::ffff:192.0.2.1", "192.0.2.1"},
        {"::FFFF:c000:0201", "192.0.2.1"},
        {"0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"},
        {"64:ff9b::192.0.2.33", "64:ff9b::c000:221"},
        {"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
        {"::1.2.3.4", "::102:304"},
    };
    for (const auto& [text, canonical] : cases) {
        CAPTURE(text);
        const auto address = ip_address::parse(text);
        REQUIRE(address);
        CHECK(address->to_text() == canonical);
        CHECK(ip_address::parse(canonical) == address);
    }
}

TEST_CASE("text that is not a strict address is refused") {
    const std::vector<std::string> cases = {
        "", " ", "1", "1.2.3", "1.2.3.4.5", "1.2.3.4.", ".1.2.3.4", "1..2.3", "01.2.3.4", "1.2.3.00", "256.1.1.1",
        "1.2.3.1000", "-1.2.3.4", "+1.2.3.4", "0x7f.0.0.1", "1.2.3.4 ", " 1.2.3.4", "1.2.3.4:80", "1.2.3.a", "a.b.c.d",
        ":", ":::", "1", "1:", ":1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:", "1:2:3:4:5:6:7:8:", "1:2:3:4:5:6:7:8:9",
        "1::2::3", "::1::", "12345::", "::g", "[::1]", "::1%eth0", "fe80::1%1", "::1 ", " ::1", "1:2:3:4:5:6:7:8::",
        "::1:2:3:4:5:6:7:8", "1:2:3:4::5:6:7:8", "1:2:3:4:5:6:7:1.2.3.4", "1.2.3.4::", "::1.2.3", "::1.2.3.4:5",
        "::01.2.3.4", "::1.2.3.256", "::ffff:1.2.3.4.5", "::0x1", "::-1", "1:2", "1:::2",
    };
    for (const auto& text : cases) {
        CAPTURE(text);
        CHECK_FALSE(ip_address::parse(text));
    }
    CHECK_FALSE(ip_address::parse(std::string_view{"1.2.3.4\0", 8}));
}

TEST_CASE("an IPv4 address and its mapped spelling are one address") {
    CHECK(ip_address::parse("::ffff:10.1.2.3") == ip_address::v4(10, 1, 2, 3));
    CHECK(ip_address::v4(10, 1, 2, 3).is_v4());
    CHECK_FALSE(ip_address::parse("::10.1.2.3")->is_v4());
    CHECK_FALSE(ip_address{}.is_v4());
    CHECK(ip_address{}.to_text() == "::");
}

TEST_CASE("a network contains its own addresses only") {
    struct row {
        const char* network;
        const char* inside;
        const char* outside;
    };
    const std::vector<row> cases = {
        {"10.0.0.0/8", "10.255.255.255", "11.0.0.0"},
        {"10.0.0.0/8", "::ffff:10.0.0.1", "9.255.255.255"},
        {"100.64.0.0/10", "100.127.255.255", "100.128.0.0"},
        {"192.0.2.1", "192.0.2.1", "192.0.2.2"},
        {"192.0.2.1/32", "192.0.2.1", "192.0.2.0"},
        {"192.0.2.2/31", "192.0.2.3", "192.0.2.4"},
        {"0.0.0.0/0", "255.255.255.255", "::1"},
        {"::ffff:10.0.0.0/104", "10.1.2.3", "11.1.2.3"},
        {"2001:db8::/32", "2001:db8:ffff::1", "2001:db9::"},
        {"fc00::/7", "fdff::1", "fe00::"},
        {"::1/128", "::1", "::2"},
        {"2001:db8::1", "2001:db8::1", "2001:db8::2"},
    };
    for (const auto& [text, inside, outside] : cases) {
        CAPTURE(text);
        const auto network = ip_network::parse(text);
        REQUIRE(network);
        CHECK(network->contains(*ip_address::parse(inside)));
        CHECK_FALSE(network->contains(*ip_address::parse(outside)));
    }
    CHECK(ip_network::parse("::/0")->contains(ip_address{}));
    for (const unsigned bits : {128U, 129U, 1000U}) {
        CHECK(ip_network::of(*ip_address::parse("::1"), bits).contains(*ip_address::parse("::1")));
        CHECK_FALSE(ip_network::of(*ip_address::parse("::1"), bits).contains(*ip_address::parse("::2")));
    }
    for (const unsigned bits : {32U, 33U, 128U, 1000U})
        CHECK_FALSE(ip_network::of(ip_address::v4(10, 0, 0, 0), bits).contains(ip_address::v4(10, 0, 0, 1)));
    const auto ten = ip_network::of(ip_address::v4(10, 1, 2, 3), 8);
    CHECK(ten.contains(ip_address::v4(10, 255, 255, 255)));
    CHECK_FALSE(ten.contains(ip_address::v4(11, 0, 0, 0)));
    CHECK_FALSE(ten.contains(*ip_address::parse("::1")));
    CHECK(ip_network::of(ip_address::v4(10, 0, 0, 0), 0).contains(ip_address::v4(192, 0, 2, 1)));
    CHECK_FALSE(ip_network::of(ip_address::v4(10, 0, 0, 0), 0).contains(*ip_address::parse("2001:db8::1")));
}

TEST_CASE("a network with host bits or an invalid prefix is refused") {
    for (const char* text : {"",
                             "/",
                             "/8",
                             "10.0.0.0/",
                             "10.0.0.1/8",
                             "10.0.0.0/33",
                             "10.0.0.0/08",
                             "10.0.0.0/+8",
                             "10.0.0.0/-1",
                             "10.0.0.0/8/8",
                             "10.0.0.0/ 8",
                             "10.0.0.0 /8",
                             "10/8",
                             "2001:db8::1/32",
                             "2001:db8::/129",
                             "::/0128",
                             "10.0.0.0/1000",
                             "128.0.0.0/0",
                             "2001:db8::/x",
                             "10.0.0.0/255.0.0.0"}) {
        CAPTURE(text);
        CHECK_FALSE(ip_network::parse(text));
    }
}

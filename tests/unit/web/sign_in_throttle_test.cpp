#include <tollgate/web/sign_in_throttle.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

using namespace tollgate;
using std::chrono::minutes;

namespace {

constexpr instant noon = from_unix_seconds(1'700'000'000);
const ip_address home = ip_address::v4(192, 0, 2, 1);
const ip_address other_address = ip_address::v4(198, 51, 100, 7);

sign_in_throttle make(const sign_in_bounds& bounds = {}, const sign_in_capacity& capacity = {}) {
    return sign_in_throttle{bounds, capacity, tollgate::detail::siphash_key{1, 2}};
}

/// How many of `count` attempts with one login at one address are admitted.
int admitted(sign_in_throttle& throttle, const sign_in_key& where, int count, instant now = noon) {
    int allowed = 0;
    for (int i = 0; i < count; ++i) allowed += throttle.begin(where, now) ? 0 : 1;
    return allowed;
}

ip_address nth_address(int n) {
    return ip_address::v4(10, static_cast<std::uint8_t>(n >> 16), static_cast<std::uint8_t>(n >> 8), static_cast<std::uint8_t>(n));
}

}  // namespace

TEST_CASE("ten failures of one login at one address block it there for 15 minutes", "[sign_in_throttle]") {
    auto throttle = make();
    CHECK(admitted(throttle, {"ann", home}, 12) == 10);
    CHECK(throttle.begin({"ann", home}, noon) == minutes{15});
    CHECK(throttle.begin({"ann", home}, noon + minutes{15} - milliseconds{1}) == seconds{1});
    CHECK(throttle.begin({"ann", home}, noon + minutes{15}) == std::nullopt);
}

TEST_CASE("failures at one address do not lock the user out elsewhere", "[sign_in_throttle]") {
    auto throttle = make();
    CHECK(admitted(throttle, {"ann", home}, 1000) == 10);
    CHECK_FALSE(throttle.begin({"ann", other_address}, noon));
    CHECK_FALSE(throttle.begin({"bob", home}, noon));
}

TEST_CASE("an address has at most 100 failures over all logins", "[sign_in_throttle]") {
    auto throttle = make();
    int allowed = 0;
    for (int i = 0; i < 150; ++i) allowed += admitted(throttle, {"user" + std::to_string(i), home}, 1);
    CHECK(allowed == 100);
    CHECK(throttle.begin({"ann", home}, noon));
    CHECK_FALSE(throttle.begin({"ann", other_address}, noon));
}

TEST_CASE("one login has at most 1,000 failures an hour over all addresses", "[sign_in_throttle]") {
    auto throttle = make();
    int allowed = 0;
    for (int i = 0; i < 1100; ++i) allowed += admitted(throttle, {"ann", nth_address(i)}, 1);
    CHECK(allowed == 1000);
    CHECK(throttle.begin({"ann", other_address}, noon) == minutes{60});
    CHECK_FALSE(throttle.begin({"bob", other_address}, noon));
    CHECK_FALSE(throttle.begin({"ann", other_address}, noon + minutes{60}));
}

TEST_CASE("an IPv6 network cannot lock out a login", "[sign_in_throttle]") {
    auto throttle = make();
    const auto address = [](int number) {
        return *ip_address::parse("2001:db8:0:" + std::string{"0123456789abcdef"[number >> 12 & 15], "0123456789abcdef"[number >> 8 & 15],
                                                              "0123456789abcdef"[number >> 4 & 15], "0123456789abcdef"[number & 15]} +
                                  "::1");
    };
    int site = 0;
    for (int i = 0; i < 256; ++i) site += admitted(throttle, {"ann", address(i)}, 20);
    CHECK(site == 20);  // one /56
    int network = site;
    for (int i = 256; i < 4096; ++i) network += admitted(throttle, {"ann", address(i)}, 20);
    CHECK(network == 50);  // one /48
    CHECK(throttle.begin({"ann", address(0xffff)}, noon));
    CHECK_FALSE(throttle.begin({"ann", *ip_address::parse("2001:db8:1::1")}, noon));
    CHECK_FALSE(throttle.begin({"ann", other_address}, noon));

    auto other = make();
    int allowed = 0;
    for (int i = 0; i < 256; ++i) allowed += admitted(other, {"user" + std::to_string(i), address(i)}, 1);
    CHECK(allowed == 200);
    for (int i = 256; i < 2048; ++i) allowed += admitted(other, {"user" + std::to_string(i), address(i)}, 1);
    CHECK(allowed == 500);
}

TEST_CASE("a known browser has its own counter", "[sign_in_throttle]") {
    auto throttle = make();
    for (int i = 0; i < 1100; ++i) (void)throttle.begin({"ann", nth_address(i)}, noon);
    CHECK(throttle.begin({"ann", home}, noon));
    CHECK(admitted(throttle, {"ann", home, 7}, 12) == 10);
    CHECK(admitted(throttle, {"ann", home, 8}, 12) == 10);
    CHECK_FALSE(throttle.begin({"bob", home, 7}, noon));
    throttle.succeed({"ann", home, 7}, noon);
    CHECK_FALSE(throttle.begin({"ann", home, 7}, noon));
    CHECK(throttle.begin({"ann", home}, noon));
}

TEST_CASE("all known browsers of a login have at most 100 failures an hour", "[sign_in_throttle]") {
    auto throttle = make();
    int allowed = 0;
    for (std::uint64_t browser = 1; browser <= 20; ++browser) allowed += admitted(throttle, {"ann", home, browser}, 10);
    CHECK(allowed == 100);
    CHECK(throttle.begin({"ann", home, 21}, noon) == seconds{3600});
    CHECK_FALSE(throttle.begin({"bob", home, 21}, noon));
    CHECK_FALSE(throttle.begin({"ann", home}, noon));  // any other browser
    CHECK_FALSE(throttle.begin({"ann", home, 21}, noon + seconds{3600}));
    // Successes are not counted.
    auto another = make();
    for (std::uint64_t browser = 1; browser <= 200; ++browser) {
        CHECK_FALSE(another.begin({"ann", home, browser}, noon));
        another.succeed({"ann", home, browser}, noon);
    }
}

TEST_CASE("logins are compared case-insensitively, addresses by network", "[sign_in_throttle]") {
    auto throttle = make();
    CHECK(admitted(throttle, {"ann@example.com", *ip_address::parse("2001:db8::1")}, 5) == 5);
    CHECK(admitted(throttle, {"Ann@EXAMPLE.com", *ip_address::parse("2001:db8::ffff:1")}, 6) == 5);
    CHECK_FALSE(throttle.begin({"ann@example.com", *ip_address::parse("2001:db8:0:1::1")}, noon));
    CHECK(admitted(throttle, {std::string(300, 'x'), home}, 11) == 10);
}

TEST_CASE("a success clears this login's failures at this address only", "[sign_in_throttle]") {
    auto throttle = make();
    CHECK(admitted(throttle, {"ann", home}, 9) == 9);
    CHECK(admitted(throttle, {"bob", home}, 10) == 10);
    CHECK_FALSE(throttle.begin({"ann", home}, noon));
    throttle.succeed({"ann", home}, noon);
    CHECK(admitted(throttle, {"ann", home}, 12) == 10);
    CHECK(throttle.begin({"bob", home}, noon));

    auto address_throttle = make({.login_at_address = {10, minutes{15}}, .address = {3, minutes{15}}, .login = {100, minutes{60}}});
    CHECK(admitted(address_throttle, {"ann", home}, 2) == 2);
    CHECK_FALSE(address_throttle.begin({"own", home}, noon));
    address_throttle.succeed({"own", home}, noon);
    CHECK(admitted(address_throttle, {"ann", home}, 2) == 1);
}

TEST_CASE("an attempt that could not be checked is not counted", "[sign_in_throttle]") {
    auto throttle = make();
    for (int i = 0; i < 5000; ++i) {
        REQUIRE_FALSE(throttle.begin({"ann", home}, noon));
        throttle.forgive({"ann", home}, noon);
    }
    throttle.forgive({"ann", home}, noon);
    throttle.succeed({"bob", home}, noon);
    CHECK(admitted(throttle, {"ann", home}, 12) == 10);
}

TEST_CASE("a clock that goes back delays attempts by at most one window", "[sign_in_throttle]") {
    auto throttle = make();
    CHECK(admitted(throttle, {"ann", home}, 10) == 10);
    CHECK(throttle.begin({"ann", home}, noon - minutes{600}) == minutes{15});
}

TEST_CASE("a bound of zero refuses every attempt", "[sign_in_throttle]") {
    auto throttle = make({.login_at_address = {0, minutes{1}}, .address = {1, minutes{1}}, .login = {1, minutes{1}}});
    CHECK(throttle.begin({"ann", home}, noon) == minutes{1});
}

TEST_CASE("memory is bounded, and keys with the most failures are kept longest", "[sign_in_throttle]") {
    auto throttle = make({.login_at_address = {3, minutes{15}}, .address = {100000, minutes{15}}, .login = {1000, minutes{60}}},
                         {.logins_at_addresses = 64, .addresses = 64, .logins = 64});
    const auto bytes = throttle.memory_bytes();
    CHECK(bytes == 3 * 64 * 24);
    CHECK(admitted(throttle, {"ann", home}, 3) == 3);
    for (int i = 0; i < 20000; ++i) (void)throttle.begin({"stranger" + std::to_string(i), nth_address(i)}, noon);
    CHECK(throttle.begin({"ann", home}, noon));
    CHECK(throttle.memory_bytes() == bytes);
}

TEST_CASE("parallel attempts do not exceed the bound", "[sign_in_throttle][threads]") {
    auto throttle = make();
    std::atomic<int> allowed = 0;
    std::vector<std::thread> guessers;
    for (int i = 0; i < 4; ++i) guessers.emplace_back([&] { allowed += admitted(throttle, {"ann", home}, 200); });
    for (auto& each : guessers) each.join();
    CHECK(allowed == 10);
}

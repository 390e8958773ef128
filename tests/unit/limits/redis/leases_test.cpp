#include <tollgate/limits/detail/redis/leases.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

using namespace tollgate;
using redis::leases;
using redis::window_reply;
using redis::window_request;

namespace {

constexpr siphash_key seed{0x0123456789abcdefU, 0xfedcba9876543210U};
constexpr std::int64_t start = 1'000'000;                   // steady clock
constexpr std::int64_t server_start = 1'700'000'000'000;  // server clock
const tollgate::detail::bounded_quota thousand{{1000, seconds{3600}}};

limit_key user(std::int64_t number) { return limit_key::of(user_id{number}); }

/// A server with its own clock, which advances with the test's clock.
struct fake_server {
    struct window {
        std::int64_t began_at;
        std::uint32_t counted;
    };
    std::map<std::uint64_t, window> windows;
    int requests = 0;

    window_reply handle(const window_request& request, std::int64_t now) {
        ++requests;
        const std::int64_t at = server_start + now - start;
        auto& found = windows.try_emplace(request.key.value(), window{at, 0}).first->second;
        if (at >= found.began_at + std::int64_t{request.allowed.window_seconds} * 1000) found = {at, 0};
        if (request.returned_of == found.began_at) found.counted -= request.returned;
        const std::uint32_t left = request.allowed.requests - (std::min)(found.counted, request.allowed.requests);
        const std::uint32_t granted =
            request.requested == 0 || left == 0 ? 0 : (std::min)(request.requested, (std::max)(1U, left / 8));
        found.counted += granted;
        return {granted, left - granted, found.began_at, at};
    }
};

struct node {
    leases held;
    fake_server& server;
    std::int64_t requested_units = 0;

    node(fake_server& at, std::uint32_t units_max, std::size_t keys_max = 64) : held{{units_max, keys_max}, seed}, server{at} {}

    limit_decision take(const limit_key& key, std::int64_t now, const tollgate::detail::bounded_quota& allowed = thousand) {
        leases::pending_request next{{key, allowed}};
        if (const auto decision = held.try_take(key, allowed, now)) return *decision;
        if (const auto decision = held.take(key, allowed, now, next)) return *decision;
        requested_units = next.request.requested;
        const auto reply = server.handle(next.request, now);
        if (next.is_for_lease) return held.complete(next, &reply, now);
        return {reply.granted > 0, allowed.requests, reply.remaining, {}};
    }
};

}  // namespace

TEST_CASE("a lease starts with one unit and grows while it is used up quickly") {
    fake_server server;
    node one{server, 50};
    std::uint32_t decision = 1000;
    const auto take = [&](int times, std::int64_t now) {
        for (int i = 0; i < times; ++i) {
            const auto reply = one.take(user(1), now);
            REQUIRE(reply.admitted);
            REQUIRE(reply.remaining == --decision);
            REQUIRE(reply.resets_at == from_unix_milliseconds(server_start + 3'600'000));
        }
    };
    take(1 + 4 + 16 + 50 + 50, start);
    CHECK(server.requests == 5);
    take(1, start + 2001);  // slowly: the same size again
    CHECK(one.requested_units == 50);
    take(49, start + 2001);
    take(1, start + 2001 + 8001);  // very slowly: smaller
    CHECK(one.requested_units == 12);
    CHECK(server.requests == 7);
}

TEST_CASE("a lease takes at most an eighth of what remains, so the last units are available to all nodes") {
    fake_server server;
    node a{server, 1000}, b{server, 1000};
    int admitted = 0;
    for (int i = 0; i < 985; ++i) admitted += a.take(user(1), start).admitted ? 1 : 0;
    const auto counted = server.windows.at(1).counted;
    CHECK(counted - static_cast<std::uint32_t>(admitted) <= 2);
    CHECK(b.take(user(1), start).admitted);
    for (int i = 0; i < 100; ++i) {
        admitted += a.take(user(1), start + 200 * i).admitted ? 1 : 0;
        admitted += b.take(user(1), start + 200 * i).admitted ? 1 : 0;
    }
    CHECK(admitted == 999);
    CHECK(server.windows.at(1).counted == 1000);
}

TEST_CASE("a refusal is repeated for 100 ms, or until the quota changes") {
    fake_server server;
    node one{server, 8};
    const tollgate::detail::bounded_quota two{{2, seconds{60}}};
    for (int i = 0; i < 2; ++i) CHECK(one.take(user(1), start, two).admitted);
    const auto first = one.take(user(1), start, two);
    CHECK_FALSE(first.admitted);
    CHECK(first.remaining == 0);
    CHECK(first.resets_at == from_unix_milliseconds(server_start + 60'000));
    const int before = server.requests;
    const auto shown = one.held.peek(user(1), two, start + 99);
    REQUIRE(shown);
    CHECK_FALSE(shown->admitted);
    CHECK(shown->remaining == 0);
    CHECK_FALSE(one.held.peek(user(1), two, start + 100));
    CHECK_FALSE(one.take(user(1), start + 99, two).admitted);
    CHECK(server.requests == before);
    CHECK_FALSE(one.take(user(1), start + 100, two).admitted);
    CHECK(server.requests == before + 1);
    CHECK(one.take(user(1), start + 100, tollgate::detail::bounded_quota{{3, seconds{60}}}).admitted);
    CHECK(server.requests == before + 2);
}

TEST_CASE("a lease ends with its window") {
    fake_server server;
    node one{server, 8};
    const tollgate::detail::bounded_quota minute{{1000, seconds{60}}};
    for (int i = 0; i < 6; ++i) CHECK(one.take(user(1), start, minute).admitted);  // 1, 4, and the first of 8
    CHECK(one.held.peek(user(1), minute, start + 59'999)->remaining == 994);
    CHECK_FALSE(one.held.peek(user(1), minute, start + 60'000));
    const int before = server.requests;
    const auto anew = one.take(user(1), start + 60'000, minute);
    CHECK(server.requests == before + 1);
    CHECK(anew.remaining + 1 <= 1000);
    CHECK(anew.resets_at == from_unix_milliseconds(server_start + 120'000));
}

TEST_CASE("an unused lease is returned once and not used afterwards") {
    fake_server server;
    node one{server, 16};
    for (int i = 0; i < 6; ++i) CHECK(one.take(user(1), start).admitted);  // 15 units are left
    CHECK(server.windows.at(1).counted == 21);
    CHECK_FALSE(one.held.reclaim(start + 7999));
    const auto back = one.held.reclaim(start + 8000);
    REQUIRE(back);
    CHECK(back->key == user(1));
    CHECK(back->requested == 0);
    CHECK(back->returned == 15);
    CHECK(back->allowed.requests == 1000);
    CHECK(back->allowed.window_seconds == 3600);
    (void)server.handle(*back, start + 8000);
    CHECK(server.windows.at(1).counted == 6);
    CHECK_FALSE(one.held.reclaim(start + 9000));
    const int before = server.requests;
    const auto next = one.take(user(1), start + 8000);
    CHECK(next.admitted);
    CHECK(server.requests == before + 1);
    CHECK(next.remaining == 993);
}

TEST_CASE("units returned by other nodes do not raise the remaining count") {
    fake_server server;
    node one{server, 16}, other{server, 16};
    for (int i = 0; i < 6; ++i) (void)other.take(user(1), start);
    auto decision = one.take(user(1), start).remaining;
    CHECK(decision == 1000 - 21 - 1);
    (void)server.handle(*other.held.reclaim(start + 8000), start + 8000);
    for (int i = 0; i < 30; ++i) {
        const auto reply = one.take(user(1), start + 8000);
        REQUIRE(reply.admitted);
        REQUIRE(reply.remaining == --decision);
    }
}

TEST_CASE("a changed quota returns the units leased under the old one") {
    fake_server server;
    node one{server, 16};
    for (int i = 0; i < 6; ++i) CHECK(one.take(user(1), start).admitted);
    const auto raised = one.take(user(1), start, tollgate::detail::bounded_quota{{2000, seconds{3600}}});
    CHECK(raised.admitted);
    const auto held_now = one.held.peek(user(1), tollgate::detail::bounded_quota{{2000, seconds{3600}}}, start);
    REQUIRE(held_now);
    CHECK(raised.remaining == 2000 - 7);
}

TEST_CASE("while one thread requests a lease, others request a unit each, and a failed request frees the slot") {
    leases held{{100, 64}, seed};
    leases::pending_request first{{user(1), thousand}}, second{{user(1), thousand}};
    CHECK_FALSE(held.take(user(1), thousand, start, first));
    CHECK_FALSE(held.take(user(1), thousand, start, second));
    CHECK(first.is_for_lease);
    CHECK_FALSE(second.is_for_lease);
    CHECK(second.request.requested == 1);
    (void)held.complete(first, nullptr, start);
    leases::pending_request third{{user(1), thousand}};
    CHECK_FALSE(held.take(user(1), thousand, start, third));
    CHECK(third.is_for_lease);
}

TEST_CASE("one thread renews a large lease early, and the key never holds more than units_max") {
    fake_server server;
    node one{server, 64};
    const tollgate::detail::bounded_quota much{{1'000'000, seconds{3600}}};
    for (int i = 0; i < 1 + 4 + 16 + 1; ++i) REQUIRE(one.take(user(1), start, much).admitted);  // 63 units are left

    const auto ask_early = [&] {
        for (int left = 63; left > 16; --left) REQUIRE(one.held.try_take(user(1), much, start));
        leases::pending_request next{{user(1), much}};
        REQUIRE_FALSE(one.held.try_take(user(1), much, start));
        REQUIRE_FALSE(one.held.take(user(1), much, start, next));
        REQUIRE(next.is_for_lease);
        CHECK(next.request.requested == 64 - 16);
        CHECK(next.request.returned == 0);
        return next;
    };
    const auto use_up = [&](std::int64_t now) {
        int units = 0;
        while (one.held.try_take(user(1), much, now)) ++units;
        CHECK_FALSE(one.held.peek(user(1), much, now));
        return units;
    };

    SECTION("other threads use the units that are left") {
        const auto next = ask_early();
        CHECK(use_up(start) == 16);
        const auto reply = server.handle(next.request, start);
        const auto decision = one.held.complete(next, &reply, start);
        CHECK(decision.admitted);
        CHECK(decision.remaining == 1'000'000 - (1 + 4 + 16 + 64 + 1));
        CHECK(one.held.peek(user(1), much, start)->remaining == decision.remaining);
    }
    SECTION("they remain when the reply arrives") {
        const auto next = ask_early();
        const auto reply = server.handle(next.request, start);
        CHECK(one.held.complete(next, &reply, start).remaining == 1'000'000 - (1 + 4 + 16 + 48 + 1));
        for (int left = 63; left > 16; --left) REQUIRE(one.held.try_take(user(1), much, start));
    }
    SECTION("without a reply the requesting thread uses one of them") {
        CHECK(one.held.complete(ask_early(), nullptr, start).admitted);
        for (int left = 15; left > 0; --left) REQUIRE(one.held.complete(([&] {
            leases::pending_request next{{user(1), much}};
            REQUIRE_FALSE(one.held.take(user(1), much, start, next));
            return next;
        })(), nullptr, start).admitted);
        leases::pending_request last{{user(1), much}};
        CHECK_FALSE(one.held.take(user(1), much, start, last));
        CHECK_FALSE(one.held.complete(last, nullptr, start).admitted);
    }
    SECTION("and also when the reply grants none") {
        const auto next = ask_early();
        const window_reply none{0, 0, server.windows.at(1).began_at, server_start};
        CHECK(one.held.complete(next, &none, start).admitted);
        for (int left = 15; left > 0; --left) REQUIRE(one.held.try_take(user(1), much, start)->admitted);
        CHECK_FALSE(one.held.try_take(user(1), much, start)->admitted);
    }
    SECTION("they expire when a new window begins") {
        const auto next = ask_early();
        const window_reply anew{48, 1'000'000 - 48, server.windows.at(1).began_at + 3'600'000, server_start + 3'600'000};
        CHECK(one.held.complete(next, &anew, start).remaining == 1'000'000 - 1);
        CHECK(one.held.peek(user(1), much, start)->remaining == 1'000'000 - 1);
    }
    SECTION("used slowly, it is renewed only when it is used up") { CHECK(use_up(start + 2001) == 63); }
}

TEST_CASE("a set that is full of used leases requests further keys unit by unit") {
    fake_server server;
    node one{server, 16, 8};  // one set
    CHECK(one.held.memory_bytes() < 2048);
    for (std::int64_t number = 1; number <= 8; ++number)
        for (int i = 0; i < 6; ++i) CHECK(one.take(user(number), start).admitted);
    for (int i = 0; i < 3; ++i) {
        const int before = server.requests;
        CHECK(one.take(user(9), start).admitted);
        CHECK(server.requests == before + 1);
    }
    CHECK(server.windows.at(9).counted == 3);
    for (std::int64_t number = 1; number <= 8; ++number) CHECK(one.held.peek(user(number), thousand, start));
    // A used-up lease frees its slot. An address with the same number is a different key.
    for (int i = 0; i < 15; ++i) CHECK(one.take(user(8), start).admitted);
    CHECK(one.take(user(9), start).admitted);
    CHECK(one.take(user(9), start).admitted);
    CHECK(one.held.peek(user(9), thousand, start));
    CHECK_FALSE(one.held.peek(limit_key::of(ip_address::v4(0, 0, 0, 9)), thousand, start));
}

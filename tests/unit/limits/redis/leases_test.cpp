#include <tollgate/limits/detail/redis/leases.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

using namespace tollgate;
using redis::leases;
using redis::window_answer;
using redis::window_question;

namespace {

constexpr siphash_key seed{0x0123456789abcdefU, 0xfedcba9876543210U};
constexpr std::int64_t start = 1'000'000;                   // by the steady clock
constexpr std::int64_t server_start = 1'700'000'000'000;  // by the server's
const tollgate::detail::bounded_quota thousand{{1000, seconds{3600}}};

limit_key user(std::int64_t number) { return limit_key::of(user_id{number}); }

/// What the server would answer, with a clock of its own that goes on with the test's.
struct fake_server {
    struct window {
        std::int64_t began_at;
        std::uint32_t counted;
    };
    std::map<std::uint64_t, window> windows;
    int questions = 0;

    window_answer ask(const window_question& asked, std::int64_t now) {
        ++questions;
        const std::int64_t at = server_start + now - start;
        auto& found = windows.try_emplace(asked.key.value(), window{at, 0}).first->second;
        if (at >= found.began_at + std::int64_t{asked.allowed.window_seconds} * 1000) found = {at, 0};
        if (asked.handed_back_of == found.began_at) found.counted -= asked.handed_back;
        const std::uint32_t left = asked.allowed.requests - (std::min)(found.counted, asked.allowed.requests);
        const std::uint32_t granted =
            asked.wanted == 0 || left == 0 ? 0 : (std::min)(asked.wanted, (std::max)(1U, left / 8));
        found.counted += granted;
        return {granted, left - granted, found.began_at, at};
    }
};

struct node {
    leases held;
    fake_server& server;
    std::int64_t asked_for = 0;

    node(fake_server& at, std::uint32_t units_max, std::size_t keys_max = 64) : held{{units_max, keys_max}, seed}, server{at} {}

    verdict take(const limit_key& key, std::int64_t now, const tollgate::detail::bounded_quota& allowed = thousand) {
        leases::asking next{{key, allowed}};
        if (const auto told = held.take_at_hand(key, allowed, now)) return *told;
        if (const auto told = held.take(key, allowed, now, next)) return *told;
        asked_for = next.question.wanted;
        const auto said = server.ask(next.question, now);
        if (next.is_for_lease) return held.settle(next, &said, now);
        return {said.granted > 0, allowed.requests, said.remaining, {}};
    }
};

}  // namespace

TEST_CASE("a lease begins with one unit and grows while it is used up quickly") {
    fake_server server;
    node one{server, 50};
    std::uint32_t told = 1000;
    const auto take = [&](int times, std::int64_t now) {
        for (int i = 0; i < times; ++i) {
            const auto said = one.take(user(1), now);
            REQUIRE(said.admitted);
            REQUIRE(said.remaining == --told);
            REQUIRE(said.resets_at == from_unix_milliseconds(server_start + 3'600'000));
        }
    };
    take(1 + 4 + 16 + 50 + 50, start);
    CHECK(server.questions == 5);
    take(1, start + 2001);  // slowly: no more than before
    CHECK(one.asked_for == 50);
    take(49, start + 2001);
    take(1, start + 2001 + 8001);  // very slowly: less
    CHECK(one.asked_for == 12);
    CHECK(server.questions == 7);
}

TEST_CASE("of what remains, a lease takes an eighth at most, and the last units are for all nodes") {
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

TEST_CASE("a refusal holds for a moment, or until there is another quota") {
    fake_server server;
    node one{server, 8};
    const tollgate::detail::bounded_quota two{{2, seconds{60}}};
    for (int i = 0; i < 2; ++i) CHECK(one.take(user(1), start, two).admitted);
    const auto first = one.take(user(1), start, two);
    CHECK_FALSE(first.admitted);
    CHECK(first.remaining == 0);
    CHECK(first.resets_at == from_unix_milliseconds(server_start + 60'000));
    const int before = server.questions;
    CHECK_FALSE(one.take(user(1), start + 99, two).admitted);
    CHECK(server.questions == before);
    CHECK_FALSE(one.take(user(1), start + 100, two).admitted);
    CHECK(server.questions == before + 1);
    CHECK(one.take(user(1), start + 100, tollgate::detail::bounded_quota{{3, seconds{60}}}).admitted);
    CHECK(server.questions == before + 2);
}

TEST_CASE("a lease ends with its window") {
    fake_server server;
    node one{server, 8};
    const tollgate::detail::bounded_quota minute{{1000, seconds{60}}};
    for (int i = 0; i < 6; ++i) CHECK(one.take(user(1), start, minute).admitted);  // 1, 4, and the first of 8
    CHECK(one.held.peek(user(1), minute, start + 59'999)->remaining == 994);
    CHECK_FALSE(one.held.peek(user(1), minute, start + 60'000));
    const int before = server.questions;
    const auto anew = one.take(user(1), start + 60'000, minute);
    CHECK(server.questions == before + 1);
    CHECK(anew.remaining + 1 <= 1000);
    CHECK(anew.resets_at == from_unix_milliseconds(server_start + 120'000));
}

TEST_CASE("what is not used for long goes back, once, and is not used after that") {
    fake_server server;
    node one{server, 16};
    for (int i = 0; i < 6; ++i) CHECK(one.take(user(1), start).admitted);  // 15 units are left
    CHECK(server.windows.at(1).counted == 21);
    CHECK_FALSE(one.held.take_back(start + 7999));
    const auto back = one.held.take_back(start + 8000);
    REQUIRE(back);
    CHECK(back->key == user(1));
    CHECK(back->wanted == 0);
    CHECK(back->handed_back == 15);
    CHECK(back->allowed.requests == 1000);
    CHECK(back->allowed.window_seconds == 3600);
    (void)server.ask(*back, start + 8000);
    CHECK(server.windows.at(1).counted == 6);
    CHECK_FALSE(one.held.take_back(start + 9000));
    const int before = server.questions;
    const auto next = one.take(user(1), start + 8000);
    CHECK(next.admitted);
    CHECK(server.questions == before + 1);
    CHECK(next.remaining == 993);
}

TEST_CASE("what other nodes hand back is not added to what was told") {
    fake_server server;
    node one{server, 16}, other{server, 16};
    for (int i = 0; i < 6; ++i) (void)other.take(user(1), start);
    auto told = one.take(user(1), start).remaining;
    CHECK(told == 1000 - 21 - 1);
    (void)server.ask(*other.held.take_back(start + 8000), start + 8000);
    for (int i = 0; i < 30; ++i) {
        const auto said = one.take(user(1), start + 8000);
        REQUIRE(said.admitted);
        REQUIRE(said.remaining == --told);
    }
}

TEST_CASE("another quota takes what was leased back with it") {
    fake_server server;
    node one{server, 16};
    for (int i = 0; i < 6; ++i) CHECK(one.take(user(1), start).admitted);
    const auto raised = one.take(user(1), start, tollgate::detail::bounded_quota{{2000, seconds{3600}}});
    CHECK(raised.admitted);
    const auto held_now = one.held.peek(user(1), tollgate::detail::bounded_quota{{2000, seconds{3600}}}, start);
    REQUIRE(held_now);
    CHECK(raised.remaining == 2000 - 7);
}

TEST_CASE("while one asks for a lease, others ask for a unit each, and a question that fails frees the place") {
    leases held{{100, 64}, seed};
    leases::asking first{{user(1), thousand}}, second{{user(1), thousand}};
    CHECK_FALSE(held.take(user(1), thousand, start, first));
    CHECK_FALSE(held.take(user(1), thousand, start, second));
    CHECK(first.is_for_lease);
    CHECK_FALSE(second.is_for_lease);
    CHECK(second.question.wanted == 1);
    (void)held.settle(first, nullptr, start);
    leases::asking third{{user(1), thousand}};
    CHECK_FALSE(held.take(user(1), thousand, start, third));
    CHECK(third.is_for_lease);
}

TEST_CASE("of a large lease that goes quickly the next is asked for early, by one, and never too much is held") {
    fake_server server;
    node one{server, 64};
    const tollgate::detail::bounded_quota much{{1'000'000, seconds{3600}}};
    for (int i = 0; i < 1 + 4 + 16 + 1; ++i) REQUIRE(one.take(user(1), start, much).admitted);  // 63 units are left

    const auto ask_early = [&] {
        for (int left = 63; left > 16; --left) REQUIRE(one.held.take_at_hand(user(1), much, start));
        leases::asking next{{user(1), much}};
        REQUIRE_FALSE(one.held.take_at_hand(user(1), much, start));
        REQUIRE_FALSE(one.held.take(user(1), much, start, next));
        REQUIRE(next.is_for_lease);
        CHECK(next.question.wanted == 64 - 16);
        CHECK(next.question.handed_back == 0);
        return next;
    };
    const auto use_up = [&](std::int64_t now) {
        int units = 0;
        while (one.held.take_at_hand(user(1), much, now)) ++units;
        CHECK_FALSE(one.held.peek(user(1), much, now));
        return units;
    };

    SECTION("the units that are left are the others' meanwhile") {
        const auto next = ask_early();
        CHECK(use_up(start) == 16);
        const auto said = server.ask(next.question, start);
        const auto told = one.held.settle(next, &said, start);
        CHECK(told.admitted);
        CHECK(told.remaining == 1'000'000 - (1 + 4 + 16 + 64 + 1));
        CHECK(one.held.peek(user(1), much, start)->remaining == told.remaining);
    }
    SECTION("they are there when it comes") {
        const auto next = ask_early();
        const auto said = server.ask(next.question, start);
        CHECK(one.held.settle(next, &said, start).remaining == 1'000'000 - (1 + 4 + 16 + 48 + 1));
        for (int left = 63; left > 16; --left) REQUIRE(one.held.take_at_hand(user(1), much, start));
    }
    SECTION("whoever asks has one of them where there is no answer") {
        CHECK(one.held.settle(ask_early(), nullptr, start).admitted);
        for (int left = 15; left > 0; --left) REQUIRE(one.held.settle(([&] {
            leases::asking next{{user(1), much}};
            REQUIRE_FALSE(one.held.take(user(1), much, start, next));
            return next;
        })(), nullptr, start).admitted);
        leases::asking last{{user(1), much}};
        CHECK_FALSE(one.held.take(user(1), much, start, last));
        CHECK_FALSE(one.held.settle(last, nullptr, start).admitted);
    }
    SECTION("and where the answer is that there are no more") {
        const auto next = ask_early();
        const window_answer none{0, 0, server.windows.at(1).began_at, server_start};
        CHECK(one.held.settle(next, &none, start).admitted);
        for (int left = 15; left > 0; --left) REQUIRE(one.held.take_at_hand(user(1), much, start)->admitted);
        CHECK_FALSE(one.held.take_at_hand(user(1), much, start)->admitted);
    }
    SECTION("they are not, once there is another window") {
        const auto next = ask_early();
        const window_answer anew{48, 1'000'000 - 48, server.windows.at(1).began_at + 3'600'000, server_start + 3'600'000};
        CHECK(one.held.settle(next, &anew, start).remaining == 1'000'000 - 1);
        CHECK(one.held.peek(user(1), much, start)->remaining == 1'000'000 - 1);
    }
    SECTION("slowly, it is asked for when it is needed") { CHECK(use_up(start + 2001) == 63); }
}

TEST_CASE("a set that is full of leases in use leases no more, and takes unit by unit") {
    fake_server server;
    node one{server, 16, 8};  // one set
    CHECK(one.held.memory_bytes() < 2048);
    for (std::int64_t number = 1; number <= 8; ++number)
        for (int i = 0; i < 6; ++i) CHECK(one.take(user(number), start).admitted);
    for (int i = 0; i < 3; ++i) {
        const int before = server.questions;
        CHECK(one.take(user(9), start).admitted);
        CHECK(server.questions == before + 1);
    }
    CHECK(server.windows.at(9).counted == 3);
    for (std::int64_t number = 1; number <= 8; ++number) CHECK(one.held.peek(user(number), thousand, start));
    // One that is used up makes room; an address of the same number is another key.
    for (int i = 0; i < 15; ++i) CHECK(one.take(user(8), start).admitted);
    CHECK(one.take(user(9), start).admitted);
    CHECK(one.take(user(9), start).admitted);
    CHECK(one.held.peek(user(9), thousand, start));
    CHECK_FALSE(one.held.peek(limit_key::of(ip_address::v4(0, 0, 0, 9)), thousand, start));
}

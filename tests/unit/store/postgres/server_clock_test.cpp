#include <tollgate/store/detail/postgres/server_clock.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using namespace tollgate;
using postgres::server_clock;
using std::chrono::minutes;

namespace {

/// The difference between this machine's clock and the server's, which a test sets.
std::atomic<std::int64_t> off_by{0};

instant node_that_is_off() noexcept { return server_clock::node_now() + milliseconds{off_by.load()}; }

/// As if the server, whose clock is correct, had responded.
void observe(server_clock& by, milliseconds round_trip = milliseconds{1}) {
    const auto now = server_clock::steady::now();
    by.observe({now - round_trip, now, server_clock::node_now() - round_trip / 2});
}

bool is_about(milliseconds actual, milliseconds expected) {
    return actual > expected - seconds{1} && actual < expected + seconds{1};
}

}  // namespace

TEST_CASE("before the first observation, and without a difference, nothing is shifted") {
    off_by = 300'000;
    server_clock by{&node_that_is_off};
    CHECK(by.shift() == milliseconds{0});
    off_by = 0;
    observe(by);
    CHECK(by.shift() == milliseconds{0});
    CHECK(is_about(by.now() - server_clock::node_now(), milliseconds{0}));
}

TEST_CASE("the shift equals the difference, in either direction") {
    for (const auto off : {minutes{5}, minutes{-5}, minutes{60 * 24 * 365}}) {
        server_clock by{&node_that_is_off};
        off_by = milliseconds{off}.count();
        observe(by);
        CHECK(is_about(by.shift(), -milliseconds{off}));
        CHECK(is_about(by.now() - server_clock::node_now(), milliseconds{0}));
    }
}

TEST_CASE("small differences are ignored, and a shift is kept while it is approximately correct") {
    server_clock by{&node_that_is_off};
    observe(by);
    for (const int small : {0, 1, -1, 1900, -1900}) {
        off_by = small;
        CHECK(by.shift() == milliseconds{0});
    }
    off_by = 10'000;
    const auto applied = by.shift();
    CHECK(is_about(applied, milliseconds{-10'000}));
    for (const int drift : {10'001, 9'000, 11'500}) {
        off_by = drift;
        CHECK(by.shift() == applied);
    }
    off_by = 13'000;
    CHECK(is_about(by.shift(), milliseconds{-13'000}));
    off_by = 100;  // NTP has corrected it
    CHECK(by.shift() == milliseconds{0});
}

TEST_CASE("a slow response is not used") {
    server_clock by{&node_that_is_off};
    off_by = 0;
    observe(by);
    const auto now = server_clock::steady::now();
    by.observe({now - seconds{30}, now, server_clock::node_now() + minutes{1}});
    CHECK(by.shift() == milliseconds{0});
    server_clock first{&node_that_is_off};  // better than none
    first.observe({now - seconds{2}, now, server_clock::node_now() + minutes{1}});
    CHECK(first.shift() > seconds{55});
}

TEST_CASE("callers that use the server's clock are not shifted") {
    server_clock by{nullptr};
    const auto now = server_clock::steady::now();
    by.observe({now, now, server_clock::node_now() + minutes{5}});
    CHECK(by.shift() == milliseconds{0});
    CHECK(is_about(by.now() - server_clock::node_now(), minutes{5}));
}

TEST_CASE("an observation is requested once, by one caller, and again later") {
    server_clock by{&node_that_is_off};
    std::atomic<int> observations{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            if (by.wants_observation()) ++observations;
        });
    for (auto& each : threads) each.join();
    CHECK(observations == 1);
    observe(by);
    CHECK_FALSE(by.wants_observation());
}

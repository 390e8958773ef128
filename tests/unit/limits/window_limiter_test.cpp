#include <tollgate/limits/window_limiter.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <thread>
#include <utility>
#include <vector>

using namespace tollgate;
using std::chrono::hours;

namespace {

constexpr tollgate::detail::siphash_key seed{0x0123456789abcdefU, 0xfedcba9876543210U};
constexpr quota sixty_an_hour{60, hours{1}};
constexpr instant start = from_unix_seconds(1'700'000'000);

limit_key user(std::int64_t number) { return limit_key::of(user_id{number}); }

limit_key address(std::uint32_t number) {
    return limit_key::of(ip_address::v4(static_cast<std::uint8_t>(number >> 24),
                                        static_cast<std::uint8_t>(number >> 16), static_cast<std::uint8_t>(number >> 8),
                                        static_cast<std::uint8_t>(number)));
}

/// The reference model: any number of keys, no memory bound.
class model_limiter {
public:
    limit_decision take(std::uint64_t key, const quota& allowed, instant now) {
        auto known = open_window(key, allowed, now);
        const bool admitted = known.requests < allowed.requests;
        if (admitted) ++known.requests;
        if (known.requests > 0) windows_[key] = known;
        return judge(admitted, known, allowed);
    }
    limit_decision peek(std::uint64_t key, const quota& allowed, instant now) const {
        const auto known = open_window(key, allowed, now);
        return judge(known.requests < allowed.requests, known, allowed);
    }

private:
    struct window {
        instant began_at;
        std::uint32_t requests = 0;
    };

    window open_window(std::uint64_t key, const quota& allowed, instant now) const {
        const auto found = windows_.find(key);
        if (found == windows_.end()) return {now, 0};
        const auto began_at = (std::min)(found->second.began_at, now);
        return now < began_at + allowed.window ? window{began_at, found->second.requests} : window{now, 0};
    }
    static limit_decision judge(bool admitted, const window& known, const quota& allowed) {
        const auto counted = (std::min)(known.requests, allowed.requests);
        return {admitted, allowed.requests, allowed.requests - counted, known.began_at + allowed.window};
    }

    std::map<std::uint64_t, window> windows_;
};

bool same(const limit_decision& a, const limit_decision& b) {
    return a.admitted == b.admitted && a.limit == b.limit && a.remaining == b.remaining && a.resets_at == b.resets_at;
}

}  // namespace

TEST_CASE("a window begins with the first request, admits exactly the quota, and ends after its length") {
    window_limiter limiter{{}, seed};
    for (std::uint32_t i = 1; i <= 60; ++i) {
        const auto reply = limiter.take(user(1), sixty_an_hour, start + seconds{i - 1});
        CAPTURE(i);
        REQUIRE(reply.admitted);
        REQUIRE(reply.limit == 60);
        REQUIRE(reply.remaining == 60 - i);
        REQUIRE(reply.resets_at == start + hours{1});
    }
    const auto last_moment = start + hours{1} - milliseconds{1};
    for (const auto now : {start + seconds{60}, last_moment}) {
        const auto refused = limiter.take(user(1), sixty_an_hour, now);
        CHECK_FALSE(refused.admitted);
        CHECK(refused.remaining == 0);
        CHECK(refused.resets_at == start + hours{1});
    }
    const auto again = limiter.take(user(1), sixty_an_hour, start + hours{1});
    CHECK(again.admitted);
    CHECK(again.remaining == 59);
    CHECK(again.resets_at == start + hours{2});
}

TEST_CASE("keys are counted separately") {
    window_limiter limiter{{}, seed};
    const quota one{1, hours{1}};
    CHECK(limiter.take(user(1), one, start).admitted);
    CHECK(limiter.take(user(2), one, start).admitted);
    CHECK(limiter.take(address(1), one, start).admitted);
    CHECK(limiter.take(limit_key::of(ip_address{}), one, start).admitted);
    CHECK_FALSE(limiter.take(user(1), one, start).admitted);
    CHECK_FALSE(limiter.take(address(1), one, start).admitted);
    CHECK_FALSE(limiter.take(limit_key::of(ip_address{}), one, start).admitted);
}

TEST_CASE("peek counts nothing and returns what take would") {
    window_limiter limiter{{}, seed};
    const quota two{2, hours{1}};
    for (int i = 0; i < 5; ++i) {
        const auto reply = limiter.peek(user(1), two, start + seconds{i});
        CHECK(reply.admitted);
        CHECK(reply.remaining == 2);
        CHECK(reply.resets_at == start + seconds{i} + hours{1});
    }
    (void)limiter.take(user(1), two, start);
    CHECK(limiter.peek(user(1), two, start).remaining == 1);
    (void)limiter.take(user(1), two, start);
    CHECK_FALSE(limiter.peek(user(1), two, start).admitted);
    CHECK(limiter.peek(user(1), two, start).resets_at == start + hours{1});
    CHECK(limiter.peek(user(1), two, start + hours{1}).admitted);
}

TEST_CASE("a changed quota applies at once") {
    window_limiter limiter{{}, seed};
    for (int i = 0; i < 2; ++i) (void)limiter.take(user(1), {2, hours{1}}, start);
    CHECK_FALSE(limiter.take(user(1), {2, hours{1}}, start).admitted);

    const auto raised = limiter.take(user(1), {10, hours{1}}, start);
    CHECK(raised.admitted);
    CHECK(raised.remaining == 7);

    const auto lowered = limiter.take(user(1), {1, hours{1}}, start);
    CHECK_FALSE(lowered.admitted);
    CHECK(lowered.remaining == 0);

    CHECK_FALSE(limiter.take(user(1), {3, hours{24}}, start + hours{2}).admitted);  // a longer window: not over yet
    CHECK(limiter.peek(user(1), {3, hours{24}}, start).resets_at == start + hours{24});
    CHECK(limiter.take(user(1), {3, seconds{1}}, start + hours{2}).admitted);  // a shorter one: over long ago
}

TEST_CASE("when the clock goes backwards, no window grows longer and none is reset") {
    window_limiter limiter{{}, seed};
    const quota two{2, hours{1}};
    const auto future = start + hours{24 * 365};
    for (int i = 0; i < 2; ++i) (void)limiter.take(user(1), two, future);
    const auto refused = limiter.take(user(1), two, start);
    CHECK_FALSE(refused.admitted);
    CHECK(refused.resets_at == start + hours{1});
    CHECK_FALSE(limiter.take(user(1), two, start + hours{1} - milliseconds{1}).admitted);
    CHECK(limiter.take(user(1), two, start + hours{1}).admitted);
}

TEST_CASE("a quota of zero admits nothing, and a window of zero length admits everything") {
    window_limiter limiter{{}, seed};
    const auto none = limiter.take(user(1), {0, hours{1}}, start);
    CHECK_FALSE(none.admitted);
    CHECK(none.remaining == 0);
    CHECK(none.resets_at == start + hours{1});
    CHECK_FALSE(limiter.peek(user(1), {0, hours{1}}, start).admitted);
    CHECK(limiter.take(user(1), {1, hours{1}}, start).admitted);  // a refused request starts no window

    for (int i = 0; i < 3; ++i) CHECK(limiter.take(user(2), {1, seconds{0}}, start).admitted);
    for (int i = 0; i < 3; ++i) CHECK(limiter.take(user(3), {1, seconds{-5}}, start).admitted);
    CHECK(limiter.take(user(4), {1, (seconds::max)()}, start).resets_at > start + hours{24 * 365 * 99});
    CHECK_FALSE(limiter.take(user(4), {1, (seconds::max)()}, start).admitted);
}

TEST_CASE("decisions equal the model's for random requests") {
    for (const unsigned round : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U}) {
        std::mt19937 random{round};
        const auto pick = [&random](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
        window_limiter limiter{{.users = 4096, .addresses = 4096}, {round, ~round}};
        model_limiter model;
        instant now = start;
        for (int step = 0; step < 20000; ++step) {
            // Few keys, so that windows fill; short windows, so that they end. The clock sometimes goes backwards.
            const std::int64_t number = 1 + pick(40);
            const quota allowed{pick(8), seconds{pick(5)}};
            now += milliseconds{pick(10) == 0 ? -static_cast<std::int64_t>(pick(3000))
                                              : static_cast<std::int64_t>(pick(400))};
            const bool counts = pick(4) != 0;
            const auto key = user(number);
            const auto reply = counts ? limiter.take(key, allowed, now) : limiter.peek(key, allowed, now);
            const auto expected =
                counts ? model.take(key.value(), allowed, now) : model.peek(key.value(), allowed, now);
            CAPTURE(round, step, number, counts, allowed.requests, allowed.window.count(), reply.remaining,
                    expected.remaining);
            REQUIRE(same(reply, expected));
        }
    }
}

TEST_CASE("a full set evicts the key with the fewest requests") {
    window_limiter limiter{{.users = 8, .addresses = 8}, seed};  // one set
    const quota ten{10, hours{1}};
    for (std::int64_t number = 1; number <= 8; ++number)
        for (std::int64_t i = 0; i < number; ++i) (void)limiter.take(user(number), ten, start + seconds{number});

    (void)limiter.take(user(100), ten, start + seconds{20});
    CHECK(limiter.peek(user(1), ten, start + seconds{20}).remaining == 10);  // had one request
    for (std::int64_t number = 2; number <= 8; ++number)
        CHECK(limiter.peek(user(number), ten, start + seconds{20}).remaining == 10 - number);

    // User 100 has the fewest requests now.
    (void)limiter.take(user(101), ten, start + seconds{21});
    CHECK(limiter.peek(user(100), ten, start + seconds{21}).remaining == 10);
    CHECK(limiter.peek(user(101), ten, start + seconds{21}).remaining == 9);

    // A window that has ended is evicted first, whatever its count.
    for (std::int64_t number = 2; number <= 8; ++number)
        (void)limiter.take(user(number), {1000, hours{number == 8 ? 1 : 24}}, start + seconds{30});
    const auto later = start + hours{2};
    (void)limiter.take(user(102), ten, later);
    CHECK(limiter.peek(user(2), {1000, hours{24}}, later).remaining == 997);
    (void)limiter.take(user(103), ten, later);
    CHECK(limiter.peek(user(102), ten, later).remaining == 9);
    CHECK(limiter.peek(user(2), {1000, hours{24}}, later).remaining == 997);
    CHECK(limiter.peek(user(7), {1000, hours{24}}, later).remaining == 992);
}

TEST_CASE("millions of addresses cost bounded memory and touch neither users nor busy addresses") {
    window_limiter limiter{{.users = 1024, .addresses = 4096}, seed};
    const auto memory = limiter.memory_bytes();
    CHECK(memory < 200 * 1024);

    for (int i = 0; i < 30; ++i) (void)limiter.take(user(1), sixty_an_hour, start);
    for (int i = 0; i < 60; ++i) (void)limiter.take(address(1), sixty_an_hour, start);
    std::uint32_t refused = 0;
    for (std::uint32_t number = 2; number < 2'000'000; ++number)
        if (!limiter.take(address(number), sixty_an_hour, start + milliseconds{number}).admitted) ++refused;
    CHECK(refused == 0);
    CHECK(limiter.memory_bytes() == memory);

    const auto now = start + milliseconds{2'000'000};
    CHECK(limiter.peek(user(1), sixty_an_hour, now).remaining == 30);
    CHECK_FALSE(limiter.take(address(1), sixty_an_hour, now).admitted);
}

TEST_CASE("nearly as many keys as the capacity are counted at once") {
    window_limiter limiter{{.users = 8, .addresses = 1U << 14}, seed};
    const quota one{1, hours{1}};
    constexpr std::uint32_t half = 1U << 13;
    for (std::uint32_t number = 0; number < half; ++number) (void)limiter.take(address(number), one, start);
    std::uint32_t forgotten = 0;
    for (std::uint32_t number = 0; number < half; ++number)
        if (limiter.peek(address(number), one, start).admitted) ++forgotten;
    CHECK(forgotten < half / 25);  // sets of 8 hold 4 on average: about 2 % are evicted from fuller sets
}

TEST_CASE("any capacity is rounded up to a power of two") {
    for (const std::size_t keys : {std::size_t{0}, std::size_t{1}, std::size_t{8}, std::size_t{9}, std::size_t{1000}}) {
        window_limiter limiter{{.users = keys, .addresses = keys}, seed};
        CHECK(limiter.take(user(1), {1, hours{1}}, start).admitted);
        CHECK_FALSE(limiter.take(user(1), {1, hours{1}}, start).admitted);
        CHECK(limiter.memory_bytes() >= keys * 24 * 2);
    }
}

TEST_CASE("a moved limiter keeps its counts, and without a seed one is generated") {
    window_limiter limiter;
    (void)limiter.take(user(1), sixty_an_hour, start);
    window_limiter moved{std::move(limiter)};
    CHECK(moved.take(user(1), sixty_an_hour, start).remaining == 58);
    limiter = std::move(moved);
    CHECK(limiter.take(user(1), sixty_an_hour, start).remaining == 57);
}

TEST_CASE("threads that share a key are admitted exactly as often as the quota allows") {
    window_limiter limiter{{}, seed};
    const quota allowed{1000, hours{1}};
    std::atomic<std::uint32_t> admitted{0};
    std::atomic<std::uint32_t> last_ones{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 1000; ++i) {
                const auto reply = limiter.take(user(1), allowed, start + milliseconds{t});
                if (reply.admitted) ++admitted;
                if (reply.admitted && reply.remaining == 0) ++last_ones;
                (void)limiter.peek(user(1), allowed, start);
                (void)limiter.take(address(static_cast<std::uint32_t>(t * 1000 + i)), allowed, start);
            }
        });
    for (auto& each : threads) each.join();
    CHECK(admitted == 1000);
    CHECK(last_ones == 1);
}

#include <tollgate/base/detail/reconnecting_pool.hpp>

#include <support/eventually.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace tollgate;

namespace {

struct fake_connection {
    ~fake_connection() {
        if (on_close) on_close();
    }
    bool is_sound() noexcept {
        if (const auto act = std::exchange(on_next_check, {})) act();
        return sound;
    }
    bool sound = true;
    std::function<void()> on_next_check{}, on_close{};
};

using pool = tollgate::detail::reconnecting_pool<fake_connection>;
using open_result = result<std::unique_ptr<fake_connection>>;

std::chrono::steady_clock::time_point fake_now;

std::vector<std::pair<bool, std::string>> states;

tollgate::detail::reconnecting_pool_settings settings_of(std::size_t connections_max) {
    fake_now = std::chrono::steady_clock::time_point{std::chrono::hours{1}};
    states.clear();
    return {.name = "Server",
            .connections_max = connections_max,
            .on_state = [](bool up, std::string_view message) { states.emplace_back(up, message); },
            .now = +[]() noexcept { return fake_now; }};
}

open_result sound_connection() { return std::make_unique<fake_connection>(); }

}  // namespace

TEST_CASE("a slot of a pool is released when opening a connection throws") {
    int throws_left = 3;
    pool connections{settings_of(1), [&]() -> open_result {
                         if (throws_left-- > 0) throw std::bad_alloc{};
                         return sound_connection();
                     }};
    for (int i = 0; i < 3; ++i) CHECK_THROWS_AS(connections.take(milliseconds{0}), std::bad_alloc);
    CHECK(connections.take(milliseconds{0}));
}

TEST_CASE("a breaker opens when nothing can be opened, and one probe at a time closes it") {
    bool is_reachable = false;
    int attempts = 0;
    pool connections{settings_of(4), [&]() -> open_result {
                         ++attempts;
                         if (!is_reachable) return unavailable("refused");
                         return sound_connection();
                     }};
    CHECK_FALSE(connections.is_refusing());
    CHECK_FALSE(connections.take(milliseconds{0}));
    CHECK(states == std::vector<std::pair<bool, std::string>>{{false, "refused"}});
    for (int i = 0; i < 10; ++i) {
        CHECK(connections.is_refusing());
        const auto refused = connections.take(milliseconds{0});
        REQUIRE_FALSE(refused);
        CHECK_THAT(refused.error().cause, Catch::Contains("retrying shortly") && Catch::Contains("refused"));
    }
    CHECK(attempts == 1);

    fake_now += seconds{3};
    CHECK_FALSE(connections.take(milliseconds{0}));  // a probe that fails
    CHECK(attempts == 2);
    is_reachable = true;
    fake_now += seconds{3};
    {
        auto probe = connections.take(milliseconds{0});
        REQUIRE(probe);
        CHECK(connections.is_refusing());  // while the result of the probe is not known
        CHECK_FALSE(connections.take(milliseconds{0}));
        CHECK(states.size() == 1);
    }
    CHECK(connections.is_up());
    CHECK(states.size() == 2);
    CHECK(states.back().first);
    auto first = connections.take(milliseconds{0});
    auto second = connections.take(milliseconds{0});
    CHECK(first);
    CHECK(second);
}

TEST_CASE("a tripped connection closes the others, and an older one does not trip the breaker again") {
    int attempts = 0;
    pool connections{settings_of(4), [&]() -> open_result {
                         ++attempts;
                         return sound_connection();
                     }};
    auto first = connections.take(milliseconds{0});
    auto second = connections.take(milliseconds{0});
    REQUIRE(first);
    REQUIRE(second);
    { auto idle = connections.take(milliseconds{0}); }
    CHECK(attempts == 3);
    first->trip("hung");
    CHECK_FALSE(connections.is_up());
    fake_now += seconds{3};
    { REQUIRE(connections.take(milliseconds{0})); }
    CHECK(attempts == 4);
    CHECK(connections.is_up());
    second->trip("hung, too");
    CHECK(connections.is_up());
    CHECK(states.size() == 2);
}

TEST_CASE("a connection that breaks alone is replaced, and the breaker stays closed") {
    int attempts = 0;
    pool connections{settings_of(1), [&]() -> open_result {
                         ++attempts;
                         return sound_connection();
                     }};
    {
        auto broken = connections.take(milliseconds{0});
        REQUIRE(broken);
        broken->drop("reset by peer");
    }
    {
        auto next = connections.take(milliseconds{0});
        REQUIRE(next);
        CHECK(attempts == 2);
        (*next)->sound = false;  // detected when it is taken the next time
        CHECK_FALSE(connections.take(milliseconds{0}));
    }
    CHECK(connections.take(milliseconds{0}));
    CHECK(attempts == 3);
    CHECK(states.empty());
}

TEST_CASE("a caller may wait for a connection for any time") {
    static std::atomic<int> clock_reads;
    clock_reads = 0;
    auto settings = settings_of(1);
    settings.now = +[]() noexcept {
        ++clock_reads;
        return fake_now;
    };
    pool connections{settings, sound_connection};
    bool has_one = false;
    std::thread other;
    {
        const auto held = connections.take(milliseconds{0});
        REQUIRE(held);
        const int reads_before = clock_reads;
        other = std::thread{[&] { has_one = connections.take((milliseconds::max)()).has_value(); }};
        // At the call, for its end, for the next try, and to compare it with the end.
        CHECK(tollgate_test::eventually([&] { return clock_reads >= reads_before + 4; }));
    }
    other.join();
    CHECK(has_one);
}

TEST_CASE("a connection is checked and closed while others can use the pool") {
    for (const bool is_sound : {true, false}) {
        CAPTURE(is_sound);
        std::vector<std::thread> others;
        pool connections{settings_of(2), sound_connection};
        std::atomic<int> taken{0};
        const auto take_in_another_thread = [&] {
            const int before = taken;
            others.emplace_back([&] { taken += connections.take(milliseconds{0}).has_value() ? 1 : 0; });
            CHECK(tollgate_test::eventually([&] { return taken > before; }));
        };
        fake_connection* idle = nullptr;
        {
            const auto first = connections.take(milliseconds{0});
            REQUIRE(first);
            idle = &**first;
        }
        idle->sound = is_sound;
        idle->on_next_check = take_in_another_thread;
        if (!is_sound) idle->on_close = take_in_another_thread;
        CHECK(connections.take(milliseconds{0}));
        for (auto& each : others) each.join();
        CHECK(taken == (is_sound ? 1 : 2));
    }
}

TEST_CASE("reserved connections are given only to reserved callers, the others to all callers") {
    auto settings = settings_of(3);
    settings.connections_reserved = 1;
    pool connections{settings, sound_connection};
    {
        const auto first = connections.take(milliseconds{0}), second = connections.take(milliseconds{0});
        CHECK((first && second));
        CHECK_FALSE(connections.take(milliseconds{0}));
        const auto reserved = connections.take_reserved(milliseconds{0});
        CHECK(reserved);
        CHECK_FALSE(connections.take_reserved(milliseconds{0}));
    }
    // All three are open and idle now.
    for (int i = 0; i < 3; ++i) {
        const auto first = connections.take(milliseconds{0}), second = connections.take(milliseconds{0});
        CHECK((first && second));
        CHECK_FALSE(connections.take(milliseconds{0}));
    }
    {
        std::vector<result<pool::lease>> all;
        for (int i = 0; i < 3; ++i) all.push_back(connections.take_reserved(milliseconds{0}));
        for (const auto& each : all) CHECK(each);
        CHECK_FALSE(connections.take(milliseconds{0}));
    }
    auto dropped = connections.take(milliseconds{0});
    REQUIRE(dropped);
    dropped->drop("broken");
    const auto first = connections.take(milliseconds{0}), second = connections.take(milliseconds{0});
    CHECK((first && second));
}

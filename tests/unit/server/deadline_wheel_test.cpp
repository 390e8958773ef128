#include <tollgate/server/detail/deadline_wheel.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

using tollgate::server_detail::deadline_wheel;

namespace {

struct timer final : deadline_wheel::entry {
    int fired = 0;
    deadline_wheel* rearms = nullptr;  // rearms itself when it fires
    timer* disarms = nullptr;          // disarms another timer when it fires
    deadline_wheel* wheel = nullptr;

    void on_deadline() noexcept override {
        ++fired;
        if (rearms != nullptr) rearms->arm(*this, 1);
        if (disarms != nullptr) wheel->disarm(*disarms);
    }
};

void advance(deadline_wheel& wheel, int ticks) {
    for (int i = 0; i < ticks; ++i) wheel.advance();
}

}  // namespace

TEST_CASE("a deadline fires once, at its tick", "[deadline_wheel]") {
    for (const int ticks : {1, 2, 100, 255, 256, 257, 511, 512, 1000, 5000}) {
        CAPTURE(ticks);
        deadline_wheel wheel;
        advance(wheel, 7);
        timer one;
        wheel.arm(one, static_cast<std::uint64_t>(ticks));
        CHECK_FALSE(wheel.empty());
        advance(wheel, ticks - 1);
        CHECK(one.fired == 0);
        advance(wheel, 1);
        CHECK(one.fired == 1);
        CHECK(wheel.empty());
        advance(wheel, 1000);
        CHECK(one.fired == 1);
    }
}

TEST_CASE("a deadline of zero ticks fires at the next tick", "[deadline_wheel]") {
    deadline_wheel wheel;
    timer one;
    wheel.arm(one, 0);
    wheel.advance();
    CHECK(one.fired == 1);
}

TEST_CASE("an earlier deadline is kept when a later one is requested", "[deadline_wheel]") {
    deadline_wheel wheel;
    timer one;
    wheel.arm_no_later(one, 5);
    wheel.arm_no_later(one, 9);
    wheel.arm_no_later(one, 3);
    advance(wheel, 2);
    wheel.arm_no_later(one, 2);
    CHECK(one.fired == 0);
    wheel.advance();
    CHECK(one.fired == 1);
    CHECK(wheel.empty());
}

TEST_CASE("a deadline can be moved earlier or later, and removed", "[deadline_wheel]") {
    deadline_wheel wheel;
    timer later;
    timer earlier;
    timer out;
    wheel.arm(later, 3);
    wheel.arm(later, 300);
    wheel.arm(earlier, 300);
    wheel.arm(earlier, 3);
    wheel.arm(out, 3);
    wheel.disarm(out);
    wheel.disarm(out);
    advance(wheel, 3);
    CHECK(earlier.fired == 1);
    CHECK(later.fired == 0);
    advance(wheel, 296);
    CHECK(later.fired == 0);
    wheel.advance();
    CHECK(later.fired == 1);
    CHECK(out.fired == 0);
    CHECK(wheel.empty());
}

TEST_CASE("a callback may arm its own entry again, or remove another one", "[deadline_wheel]") {
    deadline_wheel wheel;
    timer steady;
    steady.rearms = &wheel;
    timer first;
    timer second;
    first.disarms = &second;
    first.wheel = &wheel;
    wheel.arm(steady, 1);
    wheel.arm(first, 2);
    wheel.arm(second, 2);
    advance(wheel, 600);
    CHECK(steady.fired == 600);
    CHECK(first.fired == 1);
    CHECK(second.fired == 0);
    wheel.disarm(steady);
}

TEST_CASE("the wheel fires in the order of a sorted list", "[deadline_wheel]") {
    std::mt19937 random{7};
    deadline_wheel wheel;
    std::vector<std::unique_ptr<timer>> timers;
    std::map<std::size_t, int> due;  // by index
    for (int i = 0; i < 50; ++i) timers.push_back(std::make_unique<timer>());
    std::vector<int> expected(timers.size(), 0);
    for (int tick = 1; tick <= 20'000; ++tick) {
        if (random() % 3 == 0) {
            const std::size_t which = random() % timers.size();
            if (random() % 8 == 0) {
                wheel.disarm(*timers[which]);
                due.erase(which);
            } else {
                const int ticks = static_cast<int>(random() % (random() % 2 == 0 ? 20 : 700)) + 1;
                wheel.arm(*timers[which], static_cast<std::uint64_t>(ticks));
                due[which] = tick - 1 + ticks;
            }
        }
        wheel.advance();
        for (auto at = due.begin(); at != due.end();) {
            if (at->second != tick) {
                ++at;
                continue;
            }
            ++expected[at->first];
            at = due.erase(at);
        }
        for (std::size_t i = 0; i < timers.size(); ++i) REQUIRE(timers[i]->fired == expected[i]);
        REQUIRE(wheel.empty() == due.empty());
    }
    for (const auto& one : timers) wheel.disarm(*one);
}

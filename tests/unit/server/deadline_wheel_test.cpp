#include <tollgate/server/detail/deadline_wheel.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

using tollgate::server_detail::deadline_wheel;

namespace {

struct bell final : deadline_wheel::entry {
    int rung = 0;
    deadline_wheel* again = nullptr;  // arms itself anew when it rings
    bell* silences = nullptr;        // takes another one out of the wheel when it rings
    deadline_wheel* from = nullptr;

    void on_deadline() noexcept override {
        ++rung;
        if (again != nullptr) again->arm(*this, 1);
        if (silences != nullptr) from->disarm(*silences);
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
        bell one;
        wheel.arm(one, static_cast<std::uint64_t>(ticks));
        CHECK_FALSE(wheel.empty());
        advance(wheel, ticks - 1);
        CHECK(one.rung == 0);
        advance(wheel, 1);
        CHECK(one.rung == 1);
        CHECK(wheel.empty());
        advance(wheel, 1000);
        CHECK(one.rung == 1);
    }
}

TEST_CASE("a deadline of zero ticks fires at the next tick", "[deadline_wheel]") {
    deadline_wheel wheel;
    bell one;
    wheel.arm(one, 0);
    wheel.advance();
    CHECK(one.rung == 1);
}

TEST_CASE("an earlier deadline is kept when a later one is requested", "[deadline_wheel]") {
    deadline_wheel wheel;
    bell one;
    wheel.arm_no_later(one, 5);
    wheel.arm_no_later(one, 9);
    wheel.arm_no_later(one, 3);
    advance(wheel, 2);
    wheel.arm_no_later(one, 2);
    CHECK(one.rung == 0);
    wheel.advance();
    CHECK(one.rung == 1);
    CHECK(wheel.empty());
}

TEST_CASE("a deadline can be moved earlier or later, and removed", "[deadline_wheel]") {
    deadline_wheel wheel;
    bell later;
    bell earlier;
    bell out;
    wheel.arm(later, 3);
    wheel.arm(later, 300);
    wheel.arm(earlier, 300);
    wheel.arm(earlier, 3);
    wheel.arm(out, 3);
    wheel.disarm(out);
    wheel.disarm(out);
    advance(wheel, 3);
    CHECK(earlier.rung == 1);
    CHECK(later.rung == 0);
    advance(wheel, 296);
    CHECK(later.rung == 0);
    wheel.advance();
    CHECK(later.rung == 1);
    CHECK(out.rung == 0);
    CHECK(wheel.empty());
}

TEST_CASE("a callback may arm its own entry again, or remove another one", "[deadline_wheel]") {
    deadline_wheel wheel;
    bell steady;
    steady.again = &wheel;
    bell first;
    bell second;
    first.silences = &second;
    first.from = &wheel;
    wheel.arm(steady, 1);
    wheel.arm(first, 2);
    wheel.arm(second, 2);
    advance(wheel, 600);
    CHECK(steady.rung == 600);
    CHECK(first.rung == 1);
    CHECK(second.rung == 0);
    wheel.disarm(steady);
}

TEST_CASE("the wheel behaves like a sorted list", "[deadline_wheel]") {
    std::mt19937 random{7};
    deadline_wheel wheel;
    std::vector<std::unique_ptr<bell>> bells;
    std::map<std::size_t, int> due;  // by index
    for (int i = 0; i < 50; ++i) bells.push_back(std::make_unique<bell>());
    std::vector<int> expected(bells.size(), 0);
    for (int tick = 1; tick <= 20'000; ++tick) {
        if (random() % 3 == 0) {
            const std::size_t which = random() % bells.size();
            if (random() % 8 == 0) {
                wheel.disarm(*bells[which]);
                due.erase(which);
            } else {
                const int ticks = static_cast<int>(random() % (random() % 2 == 0 ? 20 : 700)) + 1;
                wheel.arm(*bells[which], static_cast<std::uint64_t>(ticks));
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
        for (std::size_t i = 0; i < bells.size(); ++i) REQUIRE(bells[i]->rung == expected[i]);
        REQUIRE(wheel.empty() == due.empty());
    }
    for (const auto& one : bells) wheel.disarm(*one);
}

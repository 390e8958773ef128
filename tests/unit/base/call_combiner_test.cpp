#include <tollgate/base/detail/call_combiner.hpp>

#include <catch2/catch.hpp>
#include <support/eventually.hpp>
#include <support/gate.hpp>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using tollgate_test::eventually;
using tollgate_test::gate;

namespace {

/// Doubles numbers, many in one round trip.
struct doubler {
    using combiner = tollgate::detail::call_combiner<int, std::string>;

    combiner calls;
    std::mutex mutex;
    std::vector<std::size_t> batches;  // how many calls were in each
    gate first_round_trip;

    std::string find(int number) {
        return calls.call(number, [&](combiner::batch all) noexcept {
            bool is_first = false;
            {
                const std::lock_guard hold{mutex};
                batches.push_back(all.size());
                is_first = batches.size() == 1;
            }
            if (is_first) first_round_trip.wait();
            for (auto* const each : all) {
                if (each->request < 0) each->result.emplace("no");
                else each->result.emplace(std::to_string(2 * each->request));
            }
        });
    }
};

}  // namespace

TEST_CASE("a single call starts its round trip at once", "[call_combiner]") {
    doubler combiner;
    combiner.first_round_trip.open();
    for (int i = 0; i < 5; ++i) CHECK(combiner.find(i) == std::to_string(2 * i));
    CHECK(combiner.batches == std::vector<std::size_t>{1, 1, 1, 1, 1});
}

TEST_CASE("calls that arrive during a round trip share the next one, and each gets its own result", "[call_combiner]") {
    constexpr auto batch_max = static_cast<int>(doubler::combiner::batch_max);
    for (const int count : {1, 2, batch_max, batch_max + 1, 3 * batch_max}) {
        doubler combiner;
        std::atomic<int> right = 0;
        std::vector<std::thread> threads;
        threads.emplace_back([&] { right += combiner.find(1000) == "2000"; });
        combiner.first_round_trip.wait_for_calls(1);
        std::atomic<int> started = 0;
        for (int i = 0; i < count; ++i)
            threads.emplace_back([&, i] {
                ++started;
                const int number = i % 3 == 2 ? -i : i;  // the error of one call does not affect the others
                right += combiner.find(number) == (number < 0 ? "no" : std::to_string(2 * number));
            });
        CHECK(eventually([&] { return started == count; }));
        combiner.first_round_trip.open();
        for (auto& each : threads) each.join();
        CHECK(right == count + 1);
        std::size_t sum = 0;
        for (const std::size_t each : combiner.batches) {
            CHECK(each <= doubler::combiner::batch_max);
            sum += each;
        }
        CHECK(sum == static_cast<std::size_t>(count) + 1);
    }
}

TEST_CASE("a call does not join a round trip that began before it", "[call_combiner]") {
    // A result of a round trip may be older than a call that started during it.
    std::atomic<int> value = 1;
    using combiner = tollgate::detail::call_combiner<int, int>;
    combiner calls;
    gate reading;
    std::atomic<int> reads = 0;
    const auto find = [&] {
        return calls.call(0, [&](combiner::batch all) noexcept {
            const int seen = value;
            if (++reads == 1) reading.wait();
            for (auto* const each : all) each->result = seen;
        });
    };
    int first = 0, second = 0;
    std::thread early{[&] { first = find(); }};
    reading.wait_for_calls(1);
    value = 2;
    std::thread late{[&] { second = find(); }};
    reading.open();
    early.join();
    late.join();
    CHECK(first == 1);
    CHECK(second == 2);
}

TEST_CASE("many threads get their results in any order", "[call_combiner]") {
    doubler combiner;
    combiner.first_round_trip.open();
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 2000; ++i) right += combiner.find(t * 10'000 + i) == std::to_string(2 * (t * 10'000 + i));
        });
    for (auto& each : threads) each.join();
    CHECK(right == 16'000);
}

#include <tollgate/base/detail/short_mutex.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

using namespace tollgate;

TEST_CASE("one thread at a time holds a short mutex") {
    tollgate::detail::short_mutex mutex;
    long counted = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int n = 0; n < 20'000; ++n) {
                const std::scoped_lock lock{mutex};
                ++counted;
            }
        });
    for (auto& each : threads) each.join();
    CHECK(counted == 80'000);
}

TEST_CASE("all threads that wait for a short mutex get it") {
    tollgate::detail::short_mutex mutex;
    std::atomic<int> started = 0;
    int entered = 0;
    mutex.lock();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            ++started;
            const std::scoped_lock lock{mutex};
            ++entered;
        });
    while (started != 4) std::this_thread::yield();
    CHECK(entered == 0);
    mutex.unlock();
    for (auto& each : threads) each.join();
    CHECK(entered == 4);
}

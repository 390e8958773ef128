#include <catch2/catch.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace {

std::mutex mutex;
std::condition_variable never_notified;

void wait_for_ever() {
    std::unique_lock lock{mutex};
    never_notified.wait(lock, [] { return false; });
}

}  // namespace

TEST_CASE("hangs", "[.]") {
    std::thread second{wait_for_ever};
    second.join();
}

TEST_CASE("makes progress for longer than the guard waits", "[.]") {
    for (int i = 0; i < 13; ++i)
        DYNAMIC_SECTION("section " << i) {
            std::this_thread::sleep_for(std::chrono::milliseconds{500});
            CHECK(true);
        }
}

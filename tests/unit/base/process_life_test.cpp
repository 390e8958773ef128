#include <tollgate/base/detail/process_life.hpp>

#include <catch2/catch.hpp>

#include <memory>
#include <thread>
#include <vector>

using namespace tollgate;

TEST_CASE("a function that is registered again for OpenSSL's end replaces the first one, and is cancelled once", "[base][process]") {
    constexpr auto nothing = [](void*) noexcept {};
    detail::before_openssl_end one, other;
    other.call(nothing, nullptr);
    one.call(nothing, nullptr);
    one.call(nothing, nullptr);
    other.cancel();  // searches the list, which must end
    one.cancel();
    one.cancel();
}

// A leak checker reports those that are lost.
TEST_CASE("objects that several threads leave undestroyed stay reachable", "[base][process]") {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([] {
            for (int j = 0; j < 100; ++j) {
                auto left = std::make_unique<std::vector<int>>(10);
                detail::leave_undestroyed(left);
            }
        });
    for (std::thread& each : threads) each.join();
}

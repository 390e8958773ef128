#include <tollgate/contract/rate_limiter.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>

using namespace tollgate;
using std::chrono::hours;

TEST_CASE("a request counts in four windows at most") {
    limit_windows windows{{limit_key::of(user_id{1}), {1, hours{1}}}};
    for (std::int64_t user = 2; user <= 4; ++user) CHECK(windows.add({limit_key::of(user_id{user}), {1, hours{1}}}));
    CHECK_FALSE(windows.add({limit_key::of(user_id{5}), {1, hours{1}}}));
    CHECK(windows.size() == limit_windows::count_max);
    CHECK((windows.end() - 1)->key == limit_key::of(user_id{4}));
}

TEST_CASE("windows are those that were named, in their order") {
    const auto one = [](std::uint32_t user) { return limit_window{limit_key::of(user_id{user}), {user, hours{1}}}; };
    const limit_windows all[] = {{}, {one(1)}, {one(1), one(2)}, {one(1), one(2), one(3)}, {one(1), one(2), one(3), one(4)}};
    for (std::size_t count = 0; count < std::size(all); ++count) {
        CHECK(all[count].size() == count);
        std::uint32_t user = 0;
        for (const limit_window& each : all[count]) {
            ++user;
            CHECK(each.key == limit_key::of(user_id{user}));
            CHECK(each.allowed.requests == user);
        }
        CHECK(user == count);
    }
}

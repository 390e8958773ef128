#include <tollgate/contract/rate_limiter.hpp>

#include <tollgate/limits/window_limiter.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>

using namespace tollgate;
using std::chrono::days;
using std::chrono::hours;

namespace {

// The exemplar of the header.
struct night_limiter {
    window_limiter counted;
    limit_decision take(const limit_key& key, quota allowed, instant now) noexcept {
        return counted.take(key, at_night(now) ? quota{allowed.requests * 10, allowed.window} : allowed, now);
    }
    limit_decision peek(const limit_key& key, quota allowed, instant now) noexcept {
        return counted.peek(key, at_night(now) ? quota{allowed.requests * 10, allowed.window} : allowed, now);
    }
    static bool at_night(instant now) noexcept { return (now.time_since_epoch() % days{1}) < hours{6}; }
};

struct may_throw : unlimited {
    limit_decision take(const limit_key& key, const quota& allowed, instant now) const { return unlimited::take(key, allowed, now); }
};
struct has_no_peek {
    limit_decision take(const limit_key&, const quota&, instant) noexcept { return {}; }
};
struct says_only_yes_or_no {
    bool take(const limit_key&, const quota&, instant) noexcept { return true; }
    bool peek(const limit_key&, const quota&, instant) noexcept { return true; }
};

}  // namespace

TEST_CASE("models of rate_limiter are accepted, and near misses refused") {
    STATIC_REQUIRE(rate_limiter<window_limiter>);
    STATIC_REQUIRE(rate_limiter<unlimited>);
    STATIC_REQUIRE(rate_limiter<night_limiter>);
    STATIC_REQUIRE_FALSE(rate_limiter<may_throw>);
    STATIC_REQUIRE_FALSE(rate_limiter<has_no_peek>);
    STATIC_REQUIRE_FALSE(rate_limiter<says_only_yes_or_no>);
}

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

TEST_CASE("the exemplar multiplies the quota by ten at night") {
    night_limiter limiter;
    const quota one{1, hours{1}};
    const instant noon = from_unix_seconds(12 * 3600);
    const instant night = from_unix_seconds(86400 + 3600);
    CHECK(limiter.take(limit_key::of(user_id{1}), one, noon).limit == 1);
    CHECK(limiter.take(limit_key::of(user_id{1}), one, night).limit == 10);
    CHECK(limiter.peek(limit_key::of(user_id{1}), one, night).remaining == 9);
}

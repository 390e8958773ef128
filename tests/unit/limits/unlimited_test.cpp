#include <tollgate/limits/window_limiter.hpp>

#include <catch2/catch.hpp>

using namespace tollgate;

TEST_CASE("unlimited admits everything and reports the whole quota as remaining") {
    const unlimited limiter;
    const auto key = limit_key::of(user_id{1});
    const instant now = from_unix_seconds(1000);
    for (int i = 0; i < 100; ++i) {
        const auto decision = limiter.take(key, {2, seconds{60}}, now);
        CHECK(decision.admitted);
        CHECK(decision.limit == 2);
        CHECK(decision.remaining == 2);
        CHECK(decision.resets_at == now + seconds{60});
    }
    CHECK(limiter.peek(key, {2, seconds{60}}, now).remaining == 2);
}

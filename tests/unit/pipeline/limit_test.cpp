#include <tollgate/pipeline/detail/limit.hpp>

#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/limits/window_limiter.hpp>

#include <catch2/catch.hpp>

using namespace tollgate;

namespace {

struct elsewhere : unlimited {
    static constexpr bool blocking = true;
};

struct here_or_elsewhere : elsewhere {
    bool is_elsewhere = false;
    [[nodiscard]] bool may_block() const noexcept { return is_elsewhere; }
};

/// Says for whom it need not wait, and counts how often it is asked.
struct asked_elsewhere {
    static constexpr bool blocking = true;
    bool has_at_hand = false;
    int asked = 0;

    [[nodiscard]] bool answers_at_once(const limit_key&, const quota&) const noexcept { return has_at_hand; }
    verdict take(const limit_key& key, const quota& allowed, instant now) noexcept { return peek(key, allowed, now); }
    verdict peek(const limit_key&, const quota& allowed, instant now) noexcept {
        ++asked;
        return {false, allowed.requests, 0, now};
    }
};

}  // namespace

TEST_CASE("a limiter that blocks says so, and one that may says whether it does") {
    CHECK_FALSE(pipeline::limiter_may_block(unlimited{}));
    CHECK(pipeline::limiter_may_block(elsewhere{}));
    here_or_elsewhere chosen;
    CHECK_FALSE(pipeline::limiter_may_block(chosen));
    chosen.is_elsewhere = true;
    CHECK(pipeline::limiter_may_block(chosen));
    STATIC_REQUIRE(http::handler_blocks<here_or_elsewhere>());
}

TEST_CASE("a glance at a window waits for nobody") {
    const auto key = limit_key::of(ip_address::v4(192, 0, 2, 1));
    const quota allowed{60, seconds{3600}};
    const auto now = from_unix_seconds(1'700'000'000);

    asked_elsewhere limiter;
    const auto unknown = pipeline::glance(limiter, key, allowed, now);
    CHECK(limiter.asked == 0);
    CHECK(unknown.admitted);
    CHECK(unknown.limit == 60);
    CHECK(unknown.remaining == 60);
    CHECK(unknown.resets_at == now + allowed.window);
    elsewhere without_a_word;
    CHECK(pipeline::glance(without_a_word, key, allowed, now).remaining == 60);

    limiter.has_at_hand = true;
    CHECK(pipeline::glance(limiter, key, allowed, now).remaining == 0);
    CHECK(limiter.asked == 1);

    window_limiter here{{64, 64}};
    static_cast<void>(here.take(key, allowed, now));
    CHECK(pipeline::glance(here, key, allowed, now).remaining == 59);
}

#include <tollgate/pipeline/limit.hpp>

#include <tollgate/policy/unlimited.hpp>
#include <tollgate/policy/window_limiter.hpp>

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

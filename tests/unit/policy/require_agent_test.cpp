#include <tollgate/policy/default_policies.hpp>

#include <catch2/catch.hpp>

using namespace tollgate;

TEST_CASE("a User-Agent is required", "[policy][agent]") {
    CHECK(require_agent{}.accepts("curl/8.0"));
    CHECK(require_agent{}.accepts(" x "));
    CHECK_FALSE(require_agent{}.accepts(""));
    CHECK_FALSE(require_agent{}.accepts(" \t "));
}

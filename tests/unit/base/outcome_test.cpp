#include <tollgate/base/outcome.hpp>

#include <catch2/catch.hpp>

#include <memory>
#include <string>

using namespace tollgate;

TEST_CASE("an outcome is a value or a problem", "[base][outcome]") {
    outcome<std::string> good{"yes"};
    REQUIRE(good);
    CHECK(*good == "yes");
    CHECK(good->size() == 3);

    const outcome<std::string> bad{unavailable("disk on fire")};
    REQUIRE_FALSE(bad);
    CHECK(bad.error().kind == problem_kind::unavailable);
    CHECK(bad.error().cause == "disk on fire");
    CHECK(bad.error().message.find("disk") == std::string::npos);
}

TEST_CASE("an outcome gives up what it holds", "[base][outcome]") {
    outcome<std::unique_ptr<int>> owner{std::make_unique<int>(7)};
    const auto taken = *std::move(owner);
    CHECK(*taken == 7);
}

TEST_CASE("an outcome of nothing is done or a problem", "[base][outcome]") {
    const outcome<void> done;
    CHECK(done);
    outcome<void> failed{invalid("event is missing.")};
    REQUIRE_FALSE(failed);
    const problem why = std::move(failed).error();
    CHECK(why.message == "event is missing.");
}

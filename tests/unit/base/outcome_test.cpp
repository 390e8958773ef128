#include <tollgate/base/result.hpp>

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

using namespace tollgate;

TEST_CASE("an outcome is a value or a problem", "[base][outcome]") {
    result<std::string> good{"yes"};
    REQUIRE(good);
    CHECK(*good == "yes");
    CHECK(good->size() == 3);

    const result<std::string> bad{unavailable("disk on fire")};
    REQUIRE_FALSE(bad);
    CHECK(bad.error().kind == error_kind::unavailable);
    CHECK(bad.error().cause == "disk on fire");
    CHECK(bad.error().message.find("disk") == std::string::npos);
}

TEST_CASE("an outcome gives up what it holds", "[base][outcome]") {
    result<std::unique_ptr<int>> owner{std::make_unique<int>(7)};
    const auto taken = *std::move(owner);
    CHECK(*taken == 7);
}

TEST_CASE("an outcome of nothing is done or a problem", "[base][outcome]") {
    const result<void> done;
    CHECK(done);
    result<void> failed{invalid("event is missing.")};
    REQUIRE_FALSE(failed);
    const error why = std::move(failed).error();
    CHECK(why.message == "event is missing.");
}

TEST_CASE("an outcome is copied, moved and assigned from either state to either", "[base][outcome]") {
    using held = std::shared_ptr<int>;  // counts its owners, so that nothing is lost or dropped twice
    const auto counted = std::make_shared<int>(7);
    {
        const result<held> good{counted};
        const result<held> bad{invalid("no.")};
        for (const auto* from : {&good, &bad}) {
            for (const auto* before : {&good, &bad}) {
                result<held> copied{*from};
                result<held> into{*before};
                into = copied;
                result<held> moved{*before};
                moved = std::move(copied);
                auto& same = moved;
                moved = same;
                for (const auto* after : {&into, &moved}) {
                    REQUIRE(after->has_value() == from->has_value());
                    if (*from) CHECK(**after == counted);
                    else CHECK(after->error().message == "no.");
                }
            }
        }
        CHECK(counted.use_count() == 2);  // `counted` and `good`
    }
    CHECK(counted.use_count() == 1);
}

TEST_CASE("an outcome of what does not copy does not copy either", "[base][outcome]") {
    STATIC_REQUIRE(std::is_copy_constructible_v<result<std::string>>);
    STATIC_REQUIRE_FALSE(std::is_copy_constructible_v<result<std::unique_ptr<int>>>);
    STATIC_REQUIRE_FALSE(std::is_copy_assignable_v<result<std::unique_ptr<int>>>);
    STATIC_REQUIRE(std::is_nothrow_move_assignable_v<result<std::unique_ptr<int>>>);
}

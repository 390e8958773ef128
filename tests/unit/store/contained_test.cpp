#include <tollgate/store/contained.hpp>

#include <catch2/catch.hpp>

#include <new>
#include <stdexcept>

using namespace tollgate;

TEST_CASE("what a verb gives passes") {
    CHECK(*detail::contained([]() -> outcome<int> { return 5; }) == 5);
    CHECK(detail::contained([]() -> outcome<void> { return {}; }));
    CHECK(detail::contained([]() -> outcome<int> { return not_found(); }).error().kind == problem_kind::not_found);
}

TEST_CASE("what a verb throws becomes a problem") {
    for (const auto throws : {+[]() -> outcome<int> { throw std::bad_alloc{}; },
                              +[]() -> outcome<int> { throw std::runtime_error{"secret"}; }, +[]() -> outcome<int> { throw 5; }}) {
        const auto ended = detail::contained(throws);
        REQUIRE_FALSE(ended);
        CHECK(ended.error().kind == problem_kind::unavailable);
        CHECK_THAT(ended.error().message, !Catch::Contains("secret"));
    }
}

#include <tollgate/store/detail/contained.hpp>

#include <catch2/catch.hpp>

#include <new>
#include <stdexcept>

using namespace tollgate;

TEST_CASE("what a verb gives passes") {
    CHECK(*detail::contained([]() -> result<int> { return 5; }) == 5);
    CHECK(detail::contained([]() -> result<void> { return {}; }));
    CHECK(detail::contained([]() -> result<int> { return not_found(); }).error().kind == error_kind::not_found);
}

TEST_CASE("what a verb throws becomes a problem") {
    for (const auto throws : {+[]() -> result<int> { throw std::bad_alloc{}; },
                              +[]() -> result<int> { throw std::runtime_error{"secret"}; }, +[]() -> result<int> { throw 5; }}) {
        const auto ended = detail::contained(throws);
        REQUIRE_FALSE(ended);
        CHECK(ended.error().kind == error_kind::unavailable);
        CHECK_THAT(ended.error().message, !Catch::Contains("secret"));
    }
}

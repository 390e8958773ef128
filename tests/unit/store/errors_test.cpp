#include <tollgate/store/store_error.hpp>

#include <catch2/catch.hpp>

#include <new>
#include <stdexcept>

using namespace tollgate;

TEST_CASE("the result of a verb is passed through") {
    CHECK(*detail::without_exceptions([]() -> result<int> { return 5; }) == 5);
    CHECK(detail::without_exceptions([]() -> result<void> { return {}; }));
    CHECK(detail::without_exceptions([]() -> result<int> { return not_found(); }).error().kind == error_kind::not_found);
}

TEST_CASE("an exception of a verb becomes an error") {
    for (const auto throws : {+[]() -> result<int> { throw std::bad_alloc{}; },
                              +[]() -> result<int> { throw std::runtime_error{"secret"}; }, +[]() -> result<int> { throw 5; }}) {
        const auto ended = detail::without_exceptions(throws);
        REQUIRE_FALSE(ended);
        CHECK(ended.error().kind == error_kind::unavailable);
        CHECK_THAT(ended.error().message, !Catch::Contains("secret"));
    }
}

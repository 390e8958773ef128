#include <tollgate/web/texts.hpp>

#include <catch2/catch.hpp>

using namespace tollgate;

TEST_CASE("a value replaces its placeholder and is not expanded itself") {
    CHECK(fill_in("a {} b", "x") == "a x b");
    CHECK(fill_in("{}", "{}{}") == "{}{}");
    CHECK(fill_in("nothing", "x") == "nothing");
    CHECK(fill_in("{} and {}", "x") == "x and {}");
    CHECK(fill_in("", "x").empty());
}

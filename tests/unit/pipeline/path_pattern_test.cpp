#include <tollgate/pipeline/path_pattern.hpp>

#include <catch2/catch.hpp>

using namespace tollgate;

TEST_CASE("a pattern's parameters are known while compiling", "[pipeline][pattern]") {
    constexpr auto none = pipeline::parameters_of<"/user/balance">();
    static_assert(none.count == 0);
    constexpr auto two = pipeline::parameters_of<"/{service}/{account}/hooks">();
    static_assert(two.count == 2);
    CHECK(two.names[0] == "service");
    CHECK(two.names[1] == "account");
}

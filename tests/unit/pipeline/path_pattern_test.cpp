#include <tollgate/pipeline/route_table.hpp>

#include <catch2/catch.hpp>

using namespace tollgate;

TEST_CASE("the parameters of a pattern are known at compile time", "[pipeline][pattern]") {
    constexpr auto none = pipeline::parameters_of<"/user/balance">();
    static_assert(none.count == 0);
    constexpr auto two = pipeline::parameters_of<"/{service}/{account}/hooks">();
    static_assert(two.count == 2);
    CHECK(two.names[0] == "service");
    CHECK(two.names[1] == "account");
}

TEST_CASE("an invalid pattern is refused", "[pipeline][pattern]") {
    for (const char* good : {"/a", "/{a}", "/a/{b}/c/{d}", "/a-b._~", "/{1}/{2}/{3}/{4}/{5}/{6}/{7}/{8}"})
        CHECK(pipeline::read_pattern(good));
    for (const char* bad : {"", "a", "/", "//", "/a/", "/a//b", "/{}", "/{a", "/a}", "/x{a}", "/{a}x", "/{a}{b}", "/{{a}}", "/{a%}",
                            "/%61", "/}a{", "/{1}/{2}/{3}/{4}/{5}/{6}/{7}/{8}/{9}"}) {
        CAPTURE(bad);
        CHECK_FALSE(pipeline::read_pattern(bad));
    }
}

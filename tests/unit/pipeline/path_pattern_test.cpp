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
    for (const char* good : {"/a", "/{a}", "/a/{b}/c/{d}", "/a-b._~", "/{1}/{2}/{3}/{4}/{5}/{6}/{7}/{8}",
                             "/1/2/3/4/5/6/7/8/9/10/11/12"})
        CHECK(pipeline::read_pattern(good));
    for (const char* bad : {"", "a", "/", "//", "/a/", "/a//b", "/{}", "/{a", "/a}", "/x{a}", "/{a}x", "/{a}{b}", "/{{a}}", "/{a%}",
                            "/%61", "/}a{", "/{1}/{2}/{3}/{4}/{5}/{6}/{7}/{8}/{9}",
                            "/1/2/3/4/5/6/7/8/9/10/11/12/13"}) {
        CAPTURE(bad);
        CHECK_FALSE(pipeline::read_pattern(bad));
    }
}

TEST_CASE("query parameters follow the path of a pattern", "[pipeline][path_pattern]") {
    using pipeline::read_query_pattern;
    CHECK(read_query_pattern("/a")->count == 0);
    CHECK(read_query_pattern("/a?{page}")->count == 1);
    CHECK(read_query_pattern("/a/{b}?{page}&{per_page}&{Q-1}")->names[1] == "per_page");
    for (const char* bad : {"/a?", "/a?page", "/a?{}", "/a?{page", "/a?{page}&", "/a?{page}{q}", "/a?{page}?{q}", "/a?&{page}", "/a?{page}&{page}",
                            "/a?{pa ge}", "/a?{page}x", "/a?{a}&{b}&{c}&{d}&{e}&{f}&{g}&{h}&{i}"}) {
        CAPTURE(bad);
        CHECK_FALSE(read_query_pattern(bad));
    }
    CHECK(pipeline::path_part("/a/{b}?{page}") == "/a/{b}");
    CHECK(pipeline::path_part("/a") == "/a");
    CHECK(pipeline::route_key(http::method::get, "/a?{page}") == pipeline::route_key(http::method::get, "/a"));
}

#include <tollgate/policy/segment_router.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;
using http::method;

namespace {

const std::vector<route_pattern> patterns{
    {method::get, "/user/balance"},             // 0
    {method::get, "/{service}/accounts"},       // 1
    {method::get, "/{service}/{account}/hooks"},  // 2
    {method::post, "/{service}/{account}/hooks"},  // 3
    {method::delete_, "/{service}/hooks/{hook}"},  // 4
    {method::get, "/{service}/mine/hooks"},     // 5
};

segment_router built() {
    segment_router router;
    router.build(patterns);
    return router;
}

std::vector<std::string> captures(const route_match& match) {
    return {match.captures.begin(), match.captures.begin() + match.captured};
}

}  // namespace

TEST_CASE("a path finds its route and captures its parameters", "[policy][router]") {
    struct row {
        method verb;
        const char* path;
        unsigned route;
        std::vector<std::string> captured;
    };
    const auto each = GENERATE(values<row>({
        {method::get, "/user/balance", 0, {}},
        {method::get, "/user/accounts", 1, {"user"}},
        {method::get, "/sitesmaker/accounts", 1, {"sitesmaker"}},
        {method::get, "/sitesmaker/1/hooks", 2, {"sitesmaker", "1"}},
        {method::post, "/sitesmaker/1/hooks", 3, {"sitesmaker", "1"}},
        {method::delete_, "/sitesmaker/hooks/7", 4, {"sitesmaker", "7"}},
        {method::get, "/sitesmaker/mine/hooks", 5, {"sitesmaker"}},
    }));
    const auto match = built().find(each.verb, each.path);
    REQUIRE(match.result == route_match::kind::found);
    CHECK(match.route == each.route);
    CHECK(captures(match) == each.captured);
}

TEST_CASE("a path without a route is unknown in every spelling", "[policy][router]") {
    const auto* path = GENERATE("", "/", "//", "user/balance", "/user/balance/", "//user/balance", "/user//balance",
                                "/user/balance/.", "/user/./balance", "/x/../user/balance", "/user%2Fbalance", "/%75ser/balance",
                                "/sitesmaker/accounts/", "/sitesmaker", "/a/b/c/d", "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p", "*",
                                "/User/balance", "/../hooks/1");
    const auto match = built().find(method::get, path);
    CHECK(match.result == route_match::kind::unknown_path);
}

TEST_CASE("for another method the allowed ones are returned", "[policy][router]") {
    const auto match = built().find(method::put, "/sitesmaker/1/hooks");
    REQUIRE(match.result == route_match::kind::other_method);
    CHECK(match.allowed.contains(method::get));
    CHECK(match.allowed.contains(method::post));
    CHECK_FALSE(match.allowed.contains(method::delete_));
    CHECK(captures(match) == std::vector<std::string>{"sitesmaker", "1"});

    const auto deletion = built().find(method::get, "/sitesmaker/hooks/1");
    REQUIRE(deletion.result == route_match::kind::other_method);
    CHECK(deletion.allowed.contains(method::delete_));
    CHECK(built().find(method::other, "/user/balance").result == route_match::kind::other_method);
}

TEST_CASE("for another method the route is the one with the most literals", "[policy][router]") {
    const std::vector<route_pattern> overlapping{{method::get, "/{service}/accounts"},
                                                 {method::get, "/status/accounts"},
                                                 {method::post, "/{service}/{kind}"}};
    segment_router router;
    router.build(overlapping);
    const auto match = router.find(method::options, "/status/accounts");
    REQUIRE(match.result == route_match::kind::other_method);
    CHECK(match.route == 1);
    CHECK(match.captured == 0);
    CHECK(match.allowed.contains(method::get));
    CHECK(match.allowed.contains(method::post));

    const auto with_method = router.find(method::post, "/status/accounts");
    REQUIRE(with_method.result == route_match::kind::found);
    CHECK(with_method.route == 2);
    CHECK(captures(with_method) == std::vector<std::string>{"status", "accounts"});
}

TEST_CASE("a pattern with as many segments and parameters as a route may have is found, a longer one is not", "[policy][router]") {
    const auto repeated = [](std::string_view segment, std::size_t times) {
        std::string text;
        for (std::size_t i = 0; i < times; ++i) text += segment;
        return text;
    };
    struct row {
        std::size_t literals;
        std::size_t parameters;
        bool found;
    };
    constexpr std::size_t segments = limits::path_segments_max, parameters = limits::path_parameters_max;
    const auto each = GENERATE_COPY(row{0, parameters, true}, row{0, parameters + 1, false}, row{segments - parameters, parameters, true},
                                    row{segments - parameters - 1, parameters + 1, false}, row{segments, 0, true},
                                    row{segments + 1, 0, false}, row{segments - parameters + 1, parameters, false});
    const std::string pattern = repeated("/a", each.literals) + repeated("/{p}", each.parameters);
    const std::vector<route_pattern> one{{method::get, pattern}};
    segment_router router;
    router.build(one);
    for (const method verb : {method::get, method::put}) {
        const auto match = router.find(verb, repeated("/a", each.literals) + repeated("/b", each.parameters));
        CHECK((match.result != route_match::kind::unknown_path) == each.found);
        CHECK(match.captured == (each.found ? each.parameters : 0));
    }
}

TEST_CASE("an empty table knows no path", "[policy][router]") {
    segment_router none;
    none.build({});
    CHECK(none.find(method::get, "/user/balance").result == route_match::kind::unknown_path);
}

#include <tollgate/http/detail/cookies.hpp>
#include <tollgate/http/request.hpp>

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;
using namespace tollgate::http;

namespace {

std::optional<std::string_view> find_in(const std::vector<std::string>& lines, std::string_view name) {
    field_lines fields;
    fields.add("Host", "shop.example");
    for (const auto& each : lines) fields.add("cookie", each);
    return find_cookie(fields, name);
}

std::string set(const new_cookie& cookie) {
    response out;
    if (!add_cookie(out, cookie)) return {};
    return std::string{out.find("Set-Cookie")};
}

}  // namespace

TEST_CASE("a cookie is found among others") {
    struct row {
        std::vector<std::string> lines;
        std::optional<std::string> value;
    };
    const std::vector<row> rows{
        {{"who=ann"}, "ann"},
        {{"a=1; who=ann; b=2"}, "ann"},
        {{"a=1;who=ann;b=2"}, "ann"},
        {{"  who = ann  "}, "ann"},
        {{"who=a=b"}, "a=b"},
        {{"who="}, ""},
        {{"who=\"ann\""}, "\"ann\""},
        {{"a=1", "who=ann"}, "ann"},
        {{"who=ann; who=ann"}, "ann"},
        {{";;; who=ann ;;"}, "ann"},
        {{}, std::nullopt},
        {{""}, std::nullopt},
        {{";"}, std::nullopt},
        {{"who"}, std::nullopt},
        {{"Who=ann"}, std::nullopt},
        {{"whom=ann"}, std::nullopt},
        {{"x-who=ann"}, std::nullopt},
        {{"a=who=ann"}, std::nullopt},
        {{"=who"}, std::nullopt},
    };
    for (const row& each : rows) {
        CAPTURE(each.lines);
        const auto found = find_in(each.lines, "who");
        CHECK((found ? std::optional{std::string{*found}} : std::nullopt) == each.value);
    }
}

TEST_CASE("two cookies of one name with different values are ignored") {
    CHECK_FALSE(find_in({"who=ann; who=bob"}, "who"));
    CHECK_FALSE(find_in({"who=ann", "who=bob"}, "who"));
    CHECK(find_in({"who=ann; __Host-who=bob"}, "who") == "ann");
}

TEST_CASE("a cookie is for the whole site, HttpOnly and SameSite") {
    CHECK(set({.name = "__Host-who", .value = "tgw_1"}) == "__Host-who=tgw_1; Path=/; Secure; HttpOnly; SameSite=Lax");
    CHECK(set({.name = "who", .value = "1", .max_age = seconds{60}, .secure = false, .same_site = same_site::strict}) ==
          "who=1; Path=/; Max-Age=60; HttpOnly; SameSite=Strict");
    CHECK(set({.name = "who", .value = "", .max_age = seconds{-5}}) ==
          "who=; Path=/; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Secure; HttpOnly; SameSite=Lax");
}

TEST_CASE("names and values cannot inject attributes") {
    for (const std::string_view name : {"", "a b", "a=b", "a;b", "a\r\nX: y", "a\x80"})
        CHECK(set({.name = name, .value = "1"}).empty());
    for (const std::string_view value : {"a b", "a;b", "a,b", "a\"b", "a\\b", "a\r\nX: y", "a\x7f", "\xc3\xa4"})
        CHECK(set({.name = "a", .value = value}).empty());
}

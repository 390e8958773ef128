#include <tollgate/http/detail/form_body.hpp>

#include <catch2/catch.hpp>
#include <tollgate/base/limits.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace tollgate;
using http::parse_form;
using namespace std::string_literals;

TEST_CASE("forms and queries are decoded in order") {
    using pairs = std::vector<std::pair<std::string, std::string>>;
    struct row {
        std::string bytes;
        pairs members;
    };
    const std::vector<row> rows = {
        {"", {}},
        {"a=b", {{"a", "b"}}},
        {"a=b&c=d", {{"a", "b"}, {"c", "d"}}},
        {"a", {{"a", ""}}},
        {"a=", {{"a", ""}}},
        {"=b", {{"", "b"}}},
        {"=", {{"", ""}}},
        {"&", {}},
        {"&&a=b&&", {{"a", "b"}}},
        {"a=b=c", {{"a", "b=c"}}},
        {"a+b=c+d", {{"a b", "c d"}}},
        {"a%2Bb=c%2bd", {{"a+b", "c+d"}}},
        {"a%26b=c%3Dd", {{"a&b", "c=d"}}},
        {"a=%C3%A9%e2%82%ac", {{"a", "\xc3\xa9\xe2\x82\xac"}}},
        {"a=\xc3\xa9", {{"a", "\xc3\xa9"}}},
        {"a=%00", {{"a", "\0"s}}},
        {"a=%0d%0A", {{"a", "\r\n"}}},
        {"a=1&a=2", {{"a", "1"}, {"a", "2"}}},
        {"a;b=c", {{"a;b", "c"}}},
        {"redirect_uri=https%3A%2F%2Fapp.example%2Fcb%3Fx%3D1&state=%25",
         {{"redirect_uri", "https://app.example/cb?x=1"}, {"state", "%"}}},
    };
    for (const auto& [bytes, members] : rows) {
        CAPTURE(bytes);
        const auto form = parse_form(bytes);
        REQUIRE(form.has_value());
        pairs parsed;
        for (const auto& member : *form) parsed.emplace_back(member.name, member.value);
        CHECK(parsed == members);
    }
}

TEST_CASE("a malformed form is refused, not repaired") {
    for (const std::string& bytes : std::vector<std::string>{
             "a=%", "a=%4", "a=%zz", "a=%4g", "%=b", "a=%%41", "a=%-1", "a=% 1", "a=\xff", "a=%ff", "a=%C3",
             "a=%C3&b=%A9", "a=%C0%80", "a=%ED%A0%80", "a=b\nc", "a\0=b"s, "a=\x7f", "a=b\r\n"}) {
        CAPTURE(bytes);
        const auto form = parse_form(bytes);
        REQUIRE_FALSE(form.has_value());
        CHECK(form.error().kind == error_kind::malformed);
        CHECK_FALSE(form.error().message.empty());
    }
}

TEST_CASE("the number of members is bounded") {
    std::string bytes = "a=b";
    for (std::size_t i = 1; i < limits::form_members_max; ++i) bytes += "&a=b";
    REQUIRE(parse_form(bytes).has_value());
    CHECK(parse_form(bytes)->size() == limits::form_members_max);
    CHECK_FALSE(parse_form(bytes + "&a").has_value());
    CHECK(parse_form(bytes + "&&&").has_value());
}

TEST_CASE("a repeated name can be detected") {
    const auto form = parse_form("a=1&b=&a=2");
    REQUIRE(form.has_value());
    CHECK(form->count("a") == 2);
    CHECK(form->count("b") == 1);
    CHECK(form->count("c") == 0);
    CHECK(form->value_of("a") == "1");
    CHECK(form->value_of("c") == "");
    REQUIRE(form->find("b") != nullptr);
    CHECK(form->find("b")->value == "");
    CHECK(form->find("c") == nullptr);
}

#include <tollgate/http/json_body.hpp>

#include <catch2/catch.hpp>
#include <tollgate/base/limits.hpp>

#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;
using http::check_json;
using http::json_kind;
using http::parse_json_object;
using namespace std::string_literals;

namespace {

std::string nested(std::size_t depth, const std::string& open, const std::string& close,
                   const std::string& inner = {}) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += open;
    text += inner;
    for (std::size_t i = 0; i < depth; ++i) text += close;
    return text;
}

std::string members(std::size_t count) {
    std::string text = "{";
    for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "\"m" : ",\"m") + std::to_string(i) + "\":1";
    return text + "}";
}

struct refused_row {
    std::string name, bytes;
};

/// Refused as a body and as a value.
const std::vector<refused_row> refused_rows = {
    {"empty", ""},
    {"spaces", " \r\n\t"},
    {"NUL", "\0"s},
    {"an open object", "{"},
    {"a name alone", R"({"a"})"},
    {"no value", R"({"a":})"},
    {"a comma at the end", R"({"a":1,})"},
    {"a name without quotes", "{a:1}"},
    {"single quotes", "{'a':1}"},
    {"trailing bytes", R"({"a":1}x)"},
    {"a second object", R"({"a":1}{})"},
    {"a second object on its line", "{}\n{}"},
    {"trailing NUL", "{}\0"s},
    {"a comment", "{/* a */}"},
    {"a byte order mark", "\xef\xbb\xbf{}"},
    {"NaN", R"({"a":NaN})"},
    {"Infinity", R"({"a":Infinity})"},
    {"True", R"({"a":True})"},
    {"a number with a plus", R"({"a":+1})"},
    {"a number with a leading zero", R"({"a":01})"},
    {"a hexadecimal number", R"({"a":0x1})"},
    {"a number that ends in a point", R"({"a":1.})"},
    {"a number beyond a double", R"({"a":1e999})"},
    {"a control byte in text", "{\"a\":\"\n\"}"},
    {"NUL in text", "{\"a\":\"\0\"}"s},
    {"NUL between tokens", "{\0\"a\":1}"s},
    {"a broken escape", R"({"a":"\x"})"},
    {"a broken unicode escape", R"({"a":"\u12g4"})"},
    {"the first half of a surrogate pair", R"({"a":"\ud800"})"},
    {"the second half of a surrogate pair", R"({"a":"\udc00"})"},
    {"truncated UTF-8", "{\"a\":\"\xc3\"}"},
    {"a stray continuation byte", "{\"a\":\"\x80\"}"},
    {"an overlong NUL", "{\"a\":\"\xc0\x80\"}"},
    {"an overlong slash", "{\"a\":\"\xe0\x80\xaf\"}"},
    {"a surrogate in UTF-8", "{\"a\":\"\xed\xa0\x80\"}"},
    {"above the last character", "{\"a\":\"\xf4\x90\x80\x80\"}"},
    {"bad UTF-8 in a name", "{\"\xff\":1}"},
    {"UTF-16", "{\0\"\0a\0\"\0:\0001\0}\0"s},
    {"a name twice", R"({"a":1,"a":1})"},
    {"a name twice, once escaped", R"({"a":1,"\u0061":1})"},
    {"a name twice, apart", R"({"a":1,"b":2,"c":3,"a":4})"},
    {"a name twice in a nested object", R"({"a":{"b":{"c":1,"c":2}}})"},
    {"a name twice in an object in an array", R"({"a":[{"c":1},{"c":1,"c":2}]})"},
    {"an empty name twice", R"({"":1,"":2})"},
    {"too deep objects", nested(limits::json_depth_max + 1, R"({"a":)", "}", "1")},
    {"too deep arrays in an object", R"({"a":)" + nested(limits::json_depth_max, "[", "]") + "}"},
    {"an array bomb", std::string(1'000'000, '[')},
    {"an object bomb", nested(200'000, R"({"a":)", "")},
    {"the last of many names twice", members(1000).insert(1, R"("m999":1,)")},
};

}  // namespace

TEST_CASE("members have their kind and their text") {
    const auto body = parse_json_object(
        " {\"n\": null, \"b\": true, \"f\" :false,\"i\":-7, "
        "\"u\":18446744073709551615,\"d\":10000000000000000.010,\r\n\t\"e\":1e2,"
        "\"big\":18446744073709551616,\"t\":\"a\\u00e9\\n\\u0000\\ud83d\\ude00\xc3\xa9\",\"o\":{\"x\":[1,{\"y\":2}]},"
        "\"a\":[1,[2]],\"\":\"\"} ");
    REQUIRE(body.has_value());
    struct row {
        std::string name;
        json_kind kind;
        std::string value;
    };
    const std::vector<row> rows = {
        {"n", json_kind::null, ""},
        {"b", json_kind::boolean, "true"},
        {"f", json_kind::boolean, "false"},
        {"i", json_kind::integer, "-7"},
        {"u", json_kind::integer, "18446744073709551615"},
        {"d", json_kind::number, "10000000000000000.010"},
        {"e", json_kind::number, "1e2"},
        {"big", json_kind::number, "18446744073709551616"},
        {"t", json_kind::text, "a\xc3\xa9\n\0\xf0\x9f\x98\x80\xc3\xa9"s},
        {"o", json_kind::object, ""},
        {"a", json_kind::array, ""},
        {"", json_kind::text, ""},
    };
    REQUIRE(body->size() == rows.size());
    for (const auto& [name, kind, value] : rows) {
        CAPTURE(name);
        const auto* member = body->find(name);
        REQUIRE(member != nullptr);
        CHECK(member->name == name);
        CHECK(member->kind == kind);
        CHECK(member->value == value);
    }
    CHECK(body->find("x") == nullptr);
    CHECK(body->find("N") == nullptr);
}

TEST_CASE("text that is not JSON, or that readers interpret differently, is malformed") {
    for (const auto& [name, bytes] : refused_rows) {
        CAPTURE(name);
        const auto body = parse_json_object(bytes);
        REQUIRE_FALSE(body.has_value());
        CHECK(body.error().kind == error_kind::malformed);
        CHECK_FALSE(body.error().message.empty());
        const auto value = check_json(bytes);
        REQUIRE_FALSE(value.has_value());
        CHECK(value.error().kind == error_kind::malformed);
    }
}

TEST_CASE("a body must be an object, a value may be any JSON") {
    for (const std::string bytes : {"[]", "[{\"a\":1}]", "null", "1", "1.5", "\"a\"", "true"}) {
        CAPTURE(bytes);
        const auto body = parse_json_object(bytes);
        REQUIRE_FALSE(body.has_value());
        CHECK(body.error().message == "The body is not a JSON object.");
        CHECK(check_json(bytes).has_value());
    }
    CHECK(parse_json_object("{}").has_value());
    CHECK(check_json("{}").has_value());
}

TEST_CASE("values at a bound are accepted") {
    CHECK(parse_json_object(nested(limits::json_depth_max, R"({"a":)", "}", "1")).has_value());
    CHECK(check_json(nested(limits::json_depth_max, "[", "]")).has_value());
    CHECK_FALSE(check_json(nested(limits::json_depth_max + 1, "[", "]")).has_value());
    const auto many = parse_json_object(members(10'000));
    REQUIRE(many.has_value());
    CHECK(many->size() == 10'000);
    CHECK(check_json(R"({"a":)" + members(10'000) + "}").has_value());
    CHECK(check_json(R"([{"a":1},{"a":1}])").has_value());
    CHECK(check_json(R"({"a":{"a":{"a":1}},"b":{"a":1}})").has_value());
}

TEST_CASE("the message names the broken rule") {
    CHECK(parse_json_object("{").error().message == "The body is not valid JSON in UTF-8.");
    CHECK(parse_json_object(R"({"a":1,"a":2})").error().message == "A JSON object has two members of the same name.");
    CHECK(parse_json_object(std::string(100, '[')).error().message == "The body is not a JSON object.");
    CHECK(check_json(std::string(100, '[')).error().message == "The JSON is nested too deeply.");
    CHECK(check_json("1e999").error().message == "A number in the JSON is out of range.");
    CHECK(check_json("\xef\xbb\xbf{}").error().message == "The body begins with a byte order mark.");
}

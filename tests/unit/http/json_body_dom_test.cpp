#include <tollgate/http/json_body.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;
using http::json_kind;
using json = nlohmann::json;
using namespace std::string_literals;

namespace {

/// A value of the parsed document as a member.
http::json_member as_member(const std::string& name, const json& value, const http::json_member& ours) {
    switch (value.type()) {
        case json::value_t::null: return {name, json_kind::null, {}};
        case json::value_t::boolean: return {name, json_kind::boolean, value.get<bool>() ? "true" : "false"};
        case json::value_t::number_integer:
        case json::value_t::number_unsigned: return {name, json_kind::integer, value.dump()};
        case json::value_t::number_float: return {name, json_kind::number, ours.value};  // keeps its digits unchanged
        case json::value_t::string: return {name, json_kind::text, value.get<std::string>()};
        case json::value_t::object: return {name, json_kind::object, {}};
        default: return {name, json_kind::array, {}};
    }
}

void check_against_dom(const std::string& bytes) {
    CAPTURE(bytes);
    // json::parse skips a byte order mark, treats a NUL as the end, and keeps the last of two members with the same name.
    if (bytes.find('\0') != std::string::npos || bytes.starts_with("\xef\xbb\xbf")) return;
    std::string message = "accepted";
    json theirs;
    try {
        theirs = json::parse(bytes);
    } catch (const json::exception& refused) {
        message = refused.id == 406 ? "A number in the JSON is out of range." : "The body is not valid JSON in UTF-8.";
        if (bytes.empty()) message = "The body is missing.";
    }
    const auto ours = http::check_json(bytes);
    const auto our_message = ours ? "accepted" : ours.error().message;
    if (our_message != "A JSON object has two members of the same name.") CHECK(our_message == message);
    if (!ours || !theirs.is_object()) return;
    const auto members = http::parse_json_object(bytes);
    REQUIRE(members.has_value());
    REQUIRE(members->size() == theirs.size());
    for (const auto& [name, value] : theirs.items()) {
        const auto* const member = members->find(name);
        REQUIRE(member != nullptr);
        const auto expected = as_member(name, value, *member);
        CHECK(member->kind == expected.kind);
        CHECK(member->value == expected.value);
    }
}

const std::vector<std::string> seeds = {
    R"( {"a" : [1, -2.5e+3, "x\n\u00e9\ud83d\ude00" , {"b": null}], "c" :true,"":false } )",
    R"({"event":"site.created","target_url":"https://example.com/hook"})",
    R"([[],{},[{}],"",0,-0,0.0,1E9,-1e-9,18446744073709551615,18446744073709551616,-9223372036854775808])",
    R"({"a":-9223372036854775809,"b":-0,"c":123456789012345678901234567890,"d":0e5,"e":0.00e-7})",
    "{\"\xc3\xa9\":\"\xe2\x82\xac\xf0\x9f\x98\x80\x7f\",\"\\u0041\\\"\\\\\\/\\b\\f\\n\\r\\t\":\"\\uDBFF\\uDFFF\"}",
};

}  // namespace

TEST_CASE("the JSON reader agrees with json::parse", "[http][json_body]") {
    for (const auto& seed : seeds) check_against_dom(seed);
    for (const char* text :
         {"1.7976931348623157e308", "1.7976931348623158e308", "1.797693134862315807e308", "1.797693134862315809e308",
          "1.7976931348623159e308", "-1.8e308", "1e308", "1e309", "0.0001e312", "0.0001e313", "10000e304", "10000e305",
          "0e999999999999999999999", "1e-999999999999999999999", "1e999999999999999999999", "-1e400", "1e+0", "00", "-", "-a", "1.",
          ".5", "1e", "1e+", "+1", "0x10", "1_0", "nul", "nullx", "truefalse", "\"\\u00-1\"", "\"\\ud800\\u0041\"",
          "\"\\u 123\"", "\"\\u+123\"", "\"\\", "\"\\u12", "[1,]", "[,1]", "{,}", "[1 2]", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "]", "}", "[}",
          "{]", "\f1", "\v1", "\xc2\xa0{}"})
        check_against_dom(text);
    for (const char* zeros : {"1", "0.", "17"})
        for (const int count : {290, 306, 307, 308, 309, 400}) check_against_dom(zeros + std::string(static_cast<std::size_t>(count), '0') + "1");
}

TEST_CASE("the JSON reader agrees with json::parse on texts with one byte removed, replaced or added", "[http][json_body]") {
    const std::string others = "\"\\{}[]:,0-.eEu \t\n\x1f/ntf\x80\xc3\xed\xf4\xff"s;
    for (const auto& seed : seeds)
        for (std::size_t at = 0; at <= seed.size(); ++at) {
            check_against_dom(seed.substr(0, at));
            if (at < seed.size()) check_against_dom(std::string{seed}.erase(at, 1));
            for (const char other : others) {
                check_against_dom(std::string{seed}.insert(at, 1, other));
                if (at < seed.size()) check_against_dom(std::string{seed}.replace(at, 1, 1, other));
            }
        }
}

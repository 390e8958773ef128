#include <tollgate/http/json_writer.hpp>

#include <catch2/catch.hpp>
#include <tollgate/http/json_body.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace tollgate;
using http::json_writer;
using namespace std::string_literals;

namespace {

std::string written(std::string_view text) {
    std::string out;
    json_writer{out}.string(text);
    return out;
}

}  // namespace

TEST_CASE("objects and arrays have commas between their members") {
    std::string out = "kept";
    json_writer json{out};
    json.begin_object();
    json.member("id").integer(7);
    json.member("none").null();
    json.member("empty").begin_object().end_object();
    json.member("list").begin_array().string("a").string("[").integer(-1).boolean(true).begin_array().end_array();
    json.begin_object()
        .member("x")
        .boolean(false)
        .member("y")
        .begin_array()
        .null()
        .null()
        .end_array()
        .end_object()
        .end_array();
    json.member("money").number("10000000000000000.01");
    json.member("data").value(R"({"a": [1]})");
    json.member("colon").string(":");
    json.end_object();
    CHECK(out == R"(kept{"id":7,"none":null,"empty":{},"list":["a","[",-1,true,[],{"x":false,"y":[null,null]}],)"
                 R"("money":10000000000000000.01,"data":{"a": [1]},"colon":":"})");
    CHECK(http::check_json(std::string_view{out}.substr(4)).has_value());
}

TEST_CASE("a bare array, and a document after one that ends in a bracket") {
    std::string out;
    json_writer{out}.begin_array().end_array();
    CHECK(out == "[]");
    out = "[";
    json_writer{out}.begin_array().string("").string("").end_array();
    CHECK(out == R"([["",""])");
}

TEST_CASE("texts, names and documents of any length are written completely") {
    // Around the size of the writer's buffer, and larger; also where a value no longer fits behind what precedes it.
    for (const std::size_t before : {0U, 1U, 60U, 200U, 240U, 250U, 255U, 256U, 257U, 1000U})
        for (const std::size_t size : {0U, 1U, 19U, 254U, 255U, 256U, 257U, 600U}) {
            CAPTURE(before, size);
            const std::string first(before, 'a'), text(size, 'b');
            std::string out = "kept";
            json_writer json{out};
            json.begin_object();
            json.member_named(first).string(first).member("n").string(text).member("q").string(text + "\"").member("i");
            json.integer((std::numeric_limits<std::int64_t>::min)()).member("v").value('"' + text + '"').end_object();
            CHECK(out == "kept{\"" + first + "\":\"" + first + "\",\"n\":\"" + text + "\",\"q\":\"" + text +
                             "\\\"\",\"i\":-9223372036854775808,\"v\":\"" + text + "\"}");
        }
    std::string list;
    json_writer json{list};
    json.begin_array();
    for (int i = 0; i < 10'000; ++i) json.integer(i % 10);
    json.end_array();
    CHECK(list.size() == 20'001);
    CHECK((list.starts_with("[0,1,") && list.ends_with(",8,9]")));
}

TEST_CASE("whole numbers of every width keep their digits") {
    std::string out;
    json_writer json{out};
    json.begin_array();
    json.integer((std::numeric_limits<std::int64_t>::min)()).integer((std::numeric_limits<std::uint64_t>::max)());
    json.integer(std::int8_t{-128}).integer(std::uint8_t{255}).integer(0).integer(std::size_t{1});
    json.end_array();
    CHECK(out == "[-9223372036854775808,18446744073709551615,-128,255,0,1]");
}

TEST_CASE("text is escaped, and the output is always UTF-8") {
    const std::vector<std::pair<std::string, std::string>> rows = {
        {"", R"("")"},
        {"plain text /", R"("plain text /")"},
        {"\"\\", R"("\"\\")"},
        {"\b\f\n\r\t", R"("\u0008\u000c\n\r\t")"},
        {"\0\x1f\x7f"s, R"("\u0000\u001f\u007f")"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"a\xff" "b", "\"a\xef\xbf\xbd" "b\""},
        {"\xc3", "\"\xef\xbf\xbd\""},
        {"\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xc0\x80\"", "\"\xef\xbf\xbd\xef\xbf\xbd\\\"\""},
        {"</script>", R"("</script>")"},
    };
    for (const auto& [text, json] : rows) {
        CAPTURE(json);
        CHECK(written(text) == json);
        CHECK(written("0123456789abcdef" + text + "0123456789abcdef") ==
              "\"0123456789abcdef" + json.substr(1, json.size() - 2) + "0123456789abcdef\"");
    }
}

TEST_CASE("every byte is read back unchanged or as U+FFFD") {
    for (int byte = 0; byte < 256; ++byte) {
        CAPTURE(byte);
        const std::string text = "a" + std::string(1, static_cast<char>(byte)) + "b";
        std::string out;
        json_writer json{out};
        json.begin_object().member("t").string(text).end_object();
        const auto body = http::parse_json_object(out);
        REQUIRE(body.has_value());
        CHECK(body->find("t")->value == (byte < 0x80 ? text : "a\xef\xbf\xbd" "b"));
    }
}

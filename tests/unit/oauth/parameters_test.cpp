#include <tollgate/oauth/detail/parameters.hpp>

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <variant>
#include <vector>

using namespace tollgate;
using oauth::failure;
using oauth::parameters;

namespace {

parameters form(std::string_view text) { return std::get<parameters>(parameters::from_form(text)); }

std::variant<parameters, failure> body(std::string_view text, std::string_view content_type) {
    http::request request;
    request.method = http::method::post;
    request.body = text;
    if (!content_type.empty()) request.fields.add("Content-Type", content_type);
    return parameters::from_body(request);
}

}  // namespace

TEST_CASE("a parameter without a value counts as missing", "[oauth][parameters]") {
    const auto parsed = form("a=1&b=&c&d=%20");
    CHECK(parsed.find("a") == "1");
    CHECK_FALSE(parsed.find("b"));
    CHECK_FALSE(parsed.find("c"));
    CHECK(parsed.find("d") == " ");
    CHECK_FALSE(parsed.find("e"));
    CHECK(parsed.holds("b"));
    CHECK_FALSE(parsed.holds("e"));
}

TEST_CASE("a repeated parameter is reported by name", "[oauth][parameters]") {
    CHECK_FALSE(form("").repeated());
    CHECK_FALSE(form("a=1&b=1&A=1").repeated());
    CHECK_FALSE(form("resource=1&resource=2").repeated());
    CHECK(form("a=1&code=1&code=1").repeated()->description == "code was sent more than once.");
    CHECK(form("scope=&scope=1").repeated()->description == "scope was sent more than once.");
    for (const char* odd : {"a%22=1&a%22=1", "=1&=1", "A=1&A=1", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=1&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=1"})
        CHECK(form(odd).repeated()->description == "A parameter was sent more than once.");
    CHECK(form("state=1&state=2").is_repeated("state"));
    CHECK_FALSE(form("state=1").is_repeated("state"));
}

TEST_CASE("a body is a form or a JSON object, by its Content-Type", "[oauth][parameters]") {
    struct row {
        const char* text;
        const char* content_type;
        std::optional<std::string> code;  // none: a failure
    };
    for (const auto& [text, content_type, code] : std::vector<row>{
             {"code=a%2Bb+c", "application/x-www-form-urlencoded", "a+b c"},
             {"code=1", "APPLICATION/x-www-form-urlencoded ; charset=UTF-8", "1"},
             {R"({"code":"a\u0062"})", "application/json", "ab"},
             {R"({"code":12,"other":null})", "application/json;charset=utf-8", "12"},
             {R"({"code":{}})", "application/json", std::nullopt},
             {R"({"code":1.0})", "application/json", std::nullopt},
             {R"({"code":"1","code":"2"})", "application/json", std::nullopt},
             {R"({"code":"\ud800"})", "application/json", std::nullopt},
             {"code=1", "text/plain", std::nullopt},
             {"code=1", "application/x-www-form-urlencodedx", std::nullopt},
             {"code=1", "", std::nullopt},
             {"code=%ff", "application/x-www-form-urlencoded", std::nullopt},
             {"", "text/plain", std::nullopt},
         }) {
        CAPTURE(text, content_type);
        const auto read = body(text, content_type);
        REQUIRE(std::holds_alternative<parameters>(read) == code.has_value());
        if (code) CHECK(std::get<parameters>(read).find("code") == code);
        else CHECK(std::get<failure>(read).code == oauth::error_code::invalid_request);
    }
    CHECK(std::holds_alternative<parameters>(body("", "")));

    http::request twice;
    twice.body = "code=1";
    for (int i = 0; i < 2; ++i) twice.fields.add("Content-Type", "application/x-www-form-urlencoded");
    CHECK(std::holds_alternative<failure>(parameters::from_body(twice)));
}

TEST_CASE("a form and a JSON object have the same bound of members", "[oauth][parameters]") {
    const auto text_of = [](bool is_json, std::size_t members) {
        std::string text;
        for (std::size_t i = 0; i < members; ++i) {
            text.append(text.empty() ? "" : is_json ? "," : "&");
            text.append(is_json ? "\"p" + std::to_string(i) + "\":" + (i % 2 == 0 ? "1" : "null") : "p" + std::to_string(i) + "=1");
        }
        return is_json ? "{" + text + "}" : text;
    };
    for (const bool is_json : {false, true}) {
        CAPTURE(is_json);
        const char* const type = is_json ? "application/json" : "application/x-www-form-urlencoded";
        CHECK(std::holds_alternative<parameters>(body(text_of(is_json, limits::form_members_max), type)));
        const auto refused = body(text_of(is_json, limits::form_members_max + 1), type);
        REQUIRE(std::holds_alternative<failure>(refused));
        CHECK(std::get<failure>(refused).code == oauth::error_code::invalid_request);
        CHECK(std::get<failure>(refused).description == "There are too many parameters.");
    }
}

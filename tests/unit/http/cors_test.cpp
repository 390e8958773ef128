#include <tollgate/http/detail/cors.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;

namespace {

http::request from_origin(std::string_view origin, http::method method = http::method::get) {
    http::request request;
    request.method = method;
    if (!origin.empty()) request.fields.add("Origin", origin);
    return request;
}

http::request preflight_from(std::string_view origin) {
    auto request = from_origin(origin, http::method::options);
    request.fields.add("access-control-request-method", "POST");
    return request;
}

http::response with_cors(const std::vector<std::string>& allowed, const http::request& request) {
    http::response response;
    if (request.method == http::method::options) response.add("Allow", "POST, OPTIONS");
    http::add_cors_fields(allowed, request, response);
    return response;
}

const std::vector<std::string> any{"*"};
const std::vector<std::string> two{"https://a.example", "http://b.example:8080"};

}  // namespace

TEST_CASE("a preflight has an origin and a requested method", "[cors]") {
    CHECK(http::is_preflight(preflight_from("https://a.example")));
    CHECK_FALSE(http::is_preflight(preflight_from("")));
    CHECK_FALSE(http::is_preflight(from_origin("https://a.example", http::method::options)));
    auto other_method = preflight_from("https://a.example");
    other_method.method = http::method::post;
    CHECK_FALSE(http::is_preflight(other_method));
    auto two_origins = preflight_from("https://a.example");
    two_origins.fields.add("Origin", "https://b.example");
    CHECK_FALSE(http::is_preflight(two_origins));
}

TEST_CASE("a response names the allowed origin and the exposed fields", "[cors]") {
    struct row {
        const std::vector<std::string>& allowed;
        std::string_view origin;
        std::string_view allowed_origin;
        std::string_view vary;
    };
    static const std::vector<std::string> none;
    for (const row& each : {row{any, "https://x.example", "*", ""}, row{any, "null", "*", ""}, row{any, "", "", ""},
                            row{none, "https://a.example", "", ""}, row{two, "https://a.example", "https://a.example", "Origin"},
                            row{two, "http://b.example:8080", "http://b.example:8080", "Origin"},
                            row{two, "http://a.example", "", "Origin"}, row{two, "https://a.example.evil", "", "Origin"},
                            row{two, "https://a.exampl", "", "Origin"}, row{two, "null", "", "Origin"}, row{two, "*", "", "Origin"},
                            row{two, "", "", ""}}) {
        INFO(each.origin);
        const auto response = with_cors(each.allowed, from_origin(each.origin));
        CHECK(response.find("Access-Control-Allow-Origin") == each.allowed_origin);
        CHECK(response.find("Vary") == each.vary);
        CHECK(response.find("Access-Control-Expose-Headers").empty() == each.allowed_origin.empty());
        CHECK(response.find("Access-Control-Allow-Credentials").empty());
        CHECK(response.find("Access-Control-Allow-Methods").empty());

        const auto preflight = with_cors(each.allowed, preflight_from(each.origin));
        CHECK(preflight.find("Access-Control-Allow-Origin") == each.allowed_origin);
        CHECK(preflight.find("Access-Control-Allow-Methods") == (each.allowed_origin.empty() ? "" : "POST, OPTIONS"));
        CHECK(preflight.find("Access-Control-Allow-Headers").empty() == each.allowed_origin.empty());
        CHECK(preflight.find("Access-Control-Max-Age") == (each.allowed_origin.empty() ? "" : "7200"));
        CHECK(preflight.find("Access-Control-Expose-Headers").empty());
    }
}

TEST_CASE("a preflight allows the fields that are read, and those that browsers and libraries add", "[cors]") {
    const auto allowed = ", " + std::string{with_cors(any, preflight_from("https://a.example")).find("Access-Control-Allow-Headers")} + ",";
    for (const std::string name : {"Authorization", "Content-Type", "User-Agent", "X-Requested-With", "X-Request-Id", "traceparent"})
        CHECK(allowed.find(", " + name + ",") != std::string::npos);
    for (const std::string name : {"Cookie", "X-Forwarded-For", "Forwarded", "*"}) CHECK(allowed.find(", " + name + ",") == std::string::npos);
}

TEST_CASE("two Origin fields are ignored", "[cors]") {
    auto request = from_origin("https://a.example");
    request.fields.add("Origin", "https://a.example");
    CHECK(with_cors(any, request).field_block().empty());
}

#include <tollgate/pipeline/detail/read_body.hpp>

#include <catch2/catch.hpp>

using namespace tollgate;

TEST_CASE("JSON's media type is known by its type and charset", "[pipeline][body]") {
    for (const char* good : {"application/json", "APPLICATION/JSON", "application/json;charset=utf-8", "application/json ; charset=UTF-8",
                             "application/json; charset=\"utf-8\"", "application/json;"})
        CHECK(pipeline::is_json_media_type(good));
    for (const char* bad : {"", "json", "application", "application/json+x", "application/jsonp", "text/json",
                            "application/json; charset=utf-16", "application/json; version=1", "application/json charset=utf-8"})
        CHECK_FALSE(pipeline::is_json_media_type(bad));
}

TEST_CASE("a body is judged only where one is read, its size everywhere", "[pipeline][body]") {
    http::request asked;
    CHECK_FALSE(pipeline::check_body(asked, true));
    asked.body = "{}";
    CHECK_FALSE(pipeline::check_body(asked, false));
    CHECK(pipeline::check_body(asked, true)->status == http::status::unsupported_media_type);
    asked.fields.add("Content-Type", "application/json");
    CHECK_FALSE(pipeline::check_body(asked, true));
    asked.fields.add("Content-Type", "application/json");
    CHECK(pipeline::check_body(asked, true)->status == http::status::unsupported_media_type);
    asked.body_state = http::body_state::too_large;
    CHECK(pipeline::check_body(asked, false)->status == http::status::content_too_large);
}

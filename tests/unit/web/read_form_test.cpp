#include <tollgate/web/detail/form.hpp>
#include <tollgate/web/detail/page.hpp>

#include <support/shop.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;
using namespace tollgate::web;
using tollgate_test::test_request;

namespace {

const page_site site_of_forms = page_site::make("https://shop.example", "");

http::status judge(test_request& request) {
    const auto read = read_form(request.view(), site_of_forms);
    const auto* refused = std::get_if<http::status>(&read);
    return refused == nullptr ? http::status::ok : *refused;
}

http::status judge(std::string body, std::string type) {
    test_request request{http::method::post, "/"};
    request.body(std::move(body), std::move(type));
    return judge(request);
}

}  // namespace

TEST_CASE("a form is read") {
    test_request request{http::method::post, "/"};
    request.body("a=1&b=%C3%A4+b", "application/x-www-form-urlencoded");
    const auto read = read_form(request.view(), site_of_forms);
    REQUIRE(std::holds_alternative<http::form_fields>(read));
    CHECK(std::get<http::form_fields>(read).value_of("b") == "\xc3\xa4 b");
}

TEST_CASE("a body must declare to be a form") {
    const std::string form = "application/x-www-form-urlencoded";
    CHECK(judge("a=1", form) == http::status::ok);
    CHECK(judge("a=1", "Application/X-WWW-Form-Urlencoded ; charset=UTF-8") == http::status::ok);
    CHECK(judge("", "") == http::status::ok);
    CHECK(judge("a=1", "") == http::status::unsupported_media_type);
    CHECK(judge("a=1", "text/plain") == http::status::unsupported_media_type);
    CHECK(judge("{}", "application/json") == http::status::unsupported_media_type);
    CHECK(judge("", "multipart/form-data; boundary=x") == http::status::unsupported_media_type);
    CHECK(judge("a=1", form + "x") == http::status::unsupported_media_type);
    for (const char* coding : {"gzip", "identity"}) {
        test_request encoded{http::method::post, "/"};
        encoded.body("a=1", form).field("Content-Encoding", coding);
        CHECK(judge(encoded) == (coding[0] == 'g' ? http::status::unsupported_media_type : http::status::ok));
    }
    test_request twice{http::method::post, "/"};
    twice.body("a=1", form).field("Content-Type", form);
    CHECK(judge(twice) == http::status::unsupported_media_type);
}

TEST_CASE("malformed and oversized forms are refused") {
    const std::string form = "application/x-www-form-urlencoded";
    CHECK(judge("a=%", form) == http::status::bad_request);
    CHECK(judge("a=%ff", form) == http::status::bad_request);
    CHECK(judge("a=b\ncd", form) == http::status::bad_request);
    test_request large{http::method::post, "/"};
    large.body("", form).too_large();
    CHECK(judge(large) == http::status::content_too_large);
}

TEST_CASE("a form of another site is refused, whatever it holds") {
    for (const char* type : {"application/x-www-form-urlencoded", "text/plain"}) {
        test_request request{http::method::post, "/"};
        request.body("a=1", type).field("Sec-Fetch-Site", "cross-site");
        CHECK(judge(request) == http::status::forbidden);
        CHECK(check_form_head(request.view(), site_of_forms) == http::status::forbidden);
    }
}

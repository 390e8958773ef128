#include <tollgate/web/detail/form.hpp>

#include <support/shop.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <utility>

using namespace tollgate;
using namespace tollgate::web;
using tollgate_test::test_request;

namespace {

http::status judge(test_request& request) { return check_form_head(request.view()).value_or(http::status::ok); }

http::status judge(std::string body, std::string type) {
    test_request request{http::method::post, "/"};
    request.body(std::move(body), std::move(type));
    return judge(request);
}

}  // namespace

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

TEST_CASE("an oversized form is refused") {
    test_request large{http::method::post, "/"};
    large.body("", "application/x-www-form-urlencoded").too_large();
    CHECK(judge(large) == http::status::content_too_large);
}

TEST_CASE("a form that has not arrived is judged by its head") {
    for (const auto& [type, expected] : {std::pair{"application/x-www-form-urlencoded", http::status::ok},
                                         std::pair{"text/plain", http::status::unsupported_media_type}}) {
        test_request request{http::method::post, "/"};
        request.field("Content-Type", type).pending();
        CHECK(judge(request) == expected);
    }
}

#include <tollgate/api/account_api.hpp>

#include <support/shop.hpp>

#include <nlohmann/json.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;
using namespace tollgate_test;
using http::method;
using http::status;
using nlohmann::json;

namespace {

constexpr const char* all_scopes = "user:balance sitesmaker itemplatform";

std::string hook_body(const std::string& event, const std::string& target_url) {
    return json{{"event", event}, {"target_url", target_url}}.dump();
}

}  // namespace

TEST_CASE("a balance keeps its digits", "[api][balance]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, all_scopes);
    const auto* digits = GENERATE("10000000000000000.01", "0.10", "-3.5", "0", "7");
    shop.users.people.at(ann).own_balance.amount = *decimal::parse(digits);
    const auto response = shop.handle(test_request{method::get, "/v1/user/balance"}.basic(token.username, token.secret));
    CHECK(response.status() == status::ok);
    CHECK(response.body() == std::string{"{\"id\":1,\"balance\":"} + digits + ",\"currency\":\"EUR\"}");
    CHECK(response.find("Content-Type") == "application/json");
    CHECK(response.find("Cache-Control") == "no-store");
}

TEST_CASE("accounts are a bare array of one service's accounts", "[api][accounts]") {
    auto shop = make_shop();
    const auto anns = shop.personal_token(ann, all_scopes);
    const auto bobs = shop.personal_token(bob, all_scopes);
    CHECK(shop.handle(test_request{method::get, "/v1/sitesmaker/accounts"}.basic(anns.username, anns.secret)).body() ==
          R"([{"id":1,"name":"Ann's site","admin":true},{"id":2,"name":"Another \"one\"","admin":false}])");
    CHECK(shop.handle(test_request{method::get, "/v1/itemplatform/accounts"}.basic(anns.username, anns.secret)).body() ==
          R"([{"id":1,"name":"Ann's items","admin":false}])");
    CHECK(shop.handle(test_request{method::get, "/v1/itemplatform/accounts"}.basic(bobs.username, bobs.secret)).body() == "[]");
}

TEST_CASE("a hook is created, listed and deleted with the read scope alone", "[api][hooks]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, "sitesmaker:read");
    const auto created = shop.handle(test_request{method::post, "/v1/sitesmaker/1/hooks"}
                                         .basic(token.username, token.secret)
                                         .body(hook_body("site.created", "https://example.com/a?b=c%20d&e='f'")));
    REQUIRE(created.status() == status::created);
    const auto id = json::parse(created.body());
    REQUIRE(id.size() == 1);
    CHECK(created.find("X-Hook-Secret").starts_with("whsec_"));
    CHECK(created.find("X-Hook-Secret").size() == 50);

    const auto listed = shop.handle(test_request{method::get, "/v1/sitesmaker/1/hooks"}.basic(token.username, token.secret));
    CHECK(json::parse(listed.body()) == json::parse(R"([{"id":)" + id["id"].dump() +
                                                    R"(,"event":"site.created","source":"api","type":"webhook",
        "url":"https://example.com/a?b=c%20d&e='f'","date_created":"2023-11-14T22:13:20Z"}])"));
    CHECK(listed.find("X-Hook-Secret").empty());
    CHECK(shop.handle(test_request{method::get, "/v1/sitesmaker/2/hooks"}.basic(token.username, token.secret)).body() == "[]");

    const auto target = "/v1/sitesmaker/hooks/" + id["id"].dump();
    const auto deleted = shop.handle(test_request{method::delete_, target}.basic(token.username, token.secret).body("{}", "text/plain"));
    CHECK(deleted.status() == status::no_content);
    CHECK(deleted.body().empty());
    CHECK(deleted.find("Content-Type").empty());
    CHECK(deleted.find("X-RateLimit-Limit") == "1000");
    CHECK(shop.handle(test_request{method::delete_, target}.basic(token.username, token.secret)).status() == status::not_found);
    CHECK(shop.handle(test_request{method::get, "/v1/sitesmaker/1/hooks"}.basic(token.username, token.secret)).body() == "[]");
}

TEST_CASE("objects of other users are not found", "[api][ownership]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, all_scopes);
    const auto* account = GENERATE("3", "99", "0", "-1", "01", "+1", "1.0", "9223372036854775808", "9223372036854775807", "x", "1e0");
    CAPTURE(account);
    const auto target = std::string{"/v1/sitesmaker/"} + account + "/hooks";
    const auto unknown = shop.handle(test_request{method::get, "/v1/sitesmaker/98/hooks"}.basic(token.username, token.secret));
    const auto listed = shop.handle(test_request{method::get, target}.basic(token.username, token.secret));
    CHECK(listed.status() == status::not_found);
    CHECK(listed.body() == unknown.body());
    const auto created = shop.handle(
        test_request{method::post, target}.basic(token.username, token.secret).body(hook_body("site.created", "https://example.com/")));
    CHECK(created.status() == status::not_found);
    CHECK(created.body() == unknown.body());
    CHECK(created.find("X-Hook-Secret").empty());
    const auto deleted = shop.handle(
        test_request{method::delete_, std::string{"/v1/sitesmaker/hooks/"} + account}.basic(token.username, token.secret));
    CHECK(deleted.status() == status::not_found);
    CHECK(deleted.body() == unknown.body());
}

TEST_CASE("hooks of other users and services cannot be deleted", "[api][ownership]") {
    auto shop = make_shop();
    const auto anns = shop.personal_token(ann, all_scopes);
    const auto bobs = shop.personal_token(bob, all_scopes);
    const auto created = shop.handle(test_request{method::post, "/v1/sitesmaker/3/hooks"}
                                         .basic(bobs.username, bobs.secret)
                                         .body(hook_body("site.created", "https://example.com/")));
    REQUIRE(created.status() == status::created);
    const auto id = json::parse(created.body())["id"].dump();
    CHECK(shop.handle(test_request{method::delete_, "/v1/sitesmaker/hooks/" + id}.basic(anns.username, anns.secret)).status() ==
          status::not_found);
    CHECK(shop.handle(test_request{method::delete_, "/v1/itemplatform/hooks/" + id}.basic(bobs.username, bobs.secret)).status() ==
          status::not_found);
    CHECK(json::parse(shop.handle(test_request{method::get, "/v1/sitesmaker/3/hooks"}.basic(bobs.username, bobs.secret)).body()).size() ==
          1);
    CHECK(shop.handle(test_request{method::delete_, "/v1/sitesmaker/hooks/" + id}.basic(bobs.username, bobs.secret)).status() ==
          status::no_content);
}

TEST_CASE("an invalid member is a 422 that names it", "[api][hooks]") {
    struct row {
        const char* body;
        const char* named;
    };
    const auto each = GENERATE(values<row>({
        {R"({"target_url":"https://example.com/"})", "event"},
        {R"({"event":null,"target_url":"https://example.com/"})", "event"},
        {R"({"event":1,"target_url":"https://example.com/"})", "event"},
        {R"({"event":["site.created"],"target_url":"https://example.com/"})", "event"},
        {R"({"event":"","target_url":"https://example.com/"})", "event"},
        {R"({"event":"item.created","target_url":"https://example.com/"})", "event"},
        {R"({"event":"SITE.CREATED","target_url":"https://example.com/"})", "event"},
        {R"({"event":"site.created"})", "target_url"},
        {R"({"event":"site.created","target_url":null})", "target_url"},
        {R"({"event":"site.created","target_url":true})", "target_url"},
        {R"({"event":"site.created","target_url":{}})", "target_url"},
        {R"({"event":"site.created","target_url":""})", "target_url"},
        {R"({"event":"site.created","target_url":"example.com"})", "target_url"},
        {R"({"event":"site.created","target_url":"ftp://example.com/"})", "target_url"},
        {R"({"event":"site.created","target_url":"https://user@example.com/"})", "target_url"},
        {R"({"event":"site.created","target_url":"https://example.com/#x"})", "target_url"},
        {R"({"event":"site.created","target_url":"https://example.com/\u0000"})", "target_url"},
        {R"({"event":"site.created","target_url":"http://127.1/"})", "target_url"},
        {R"({"event":"site.created","target_url":"http://[::ffff:7f00:1]/"})", "target_url"},
        {R"({})", "event"},
        {R"({"event":"item.created"})", "event"},
    }));
    CAPTURE(each.body);
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, all_scopes);
    const auto response = shop.handle(test_request{method::post, "/v1/sitesmaker/1/hooks"}.basic(token.username,
                                                                                                 token.secret).body(each.body));
    CHECK(response.status() == status::unprocessable_content);
    CHECK(json::parse(response.body())["message"].get<std::string>().find(each.named) != std::string::npos);
    CHECK(shop.handle(test_request{method::get, "/v1/sitesmaker/1/hooks"}.basic(token.username, token.secret)).body() == "[]");
}

TEST_CASE("the length of a target URL is bounded", "[api][hooks]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, all_scopes);
    const std::string start = "https://example.com/";
    const auto create = [&](std::size_t bytes) {
        return shop.handle(test_request{method::post, "/v1/sitesmaker/1/hooks"}
                               .basic(token.username, token.secret)
                               .body(hook_body("site.created", start + std::string(bytes - start.size(), 'x'))))
            .status();
    };
    CHECK(create(2048) == status::created);
    CHECK(create(2049) == status::unprocessable_content);
}

TEST_CASE("hooks per account and event are bounded; duplicates count", "[api][hooks]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, all_scopes);
    const auto create = [&](const char* account, const char* event) {
        return shop.handle(test_request{method::post, std::string{"/v1/sitesmaker/"} + account + "/hooks"}
                               .basic(token.username, token.secret)
                               .body(hook_body(event, "https://example.com/")))
            .status();
    };
    for (int i = 0; i < 20; ++i) CHECK(create("1", "site.created") == status::created);
    CHECK(create("1", "site.created") == status::unprocessable_content);
    CHECK(create("1", "site.published") == status::created);
    CHECK(create("2", "site.created") == status::created);
}

TEST_CASE("a body that is not a JSON object is a 400", "[api][body]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, all_scopes);
    const auto good = hook_body("site.created", "https://example.com/");
    const auto body = GENERATE_COPY(
        as<std::string>{}, "", "{", "[]", "\"x\"", "1", "null", good + "x", good + good, "[" + good + "]", R"({"event":"a","event":"b"})",
        R"({"event":"site.created","target_url":"https://example.com/","x":{"a":1,"a":2}})", "{\"event\":\"\xff\"}", "{'event':1}",
        std::string(100'000, '['), "{\"a\":" + std::string(100, '[') + std::string(100, ']') + "}", "\xef\xbb\xbf" + good);
    CAPTURE(body.substr(0, 80));
    const auto response = shop.handle(test_request{method::post, "/v1/sitesmaker/1/hooks"}.basic(token.username, token.secret).body(body));
    CHECK(response.status() == status::bad_request);
    CHECK(shop.handle(test_request{method::post, "/v1/sitesmaker/1/hooks"}
                          .basic(token.username, token.secret)
                          .body(" " + good.substr(0, good.size() - 1) + ",\"unknown\":[1,{}]}\n"))
              .status() == status::created);
}

TEST_CASE("a body must declare JSON", "[api][body]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, all_scopes);
    const auto post = [&](const char* content_type) {
        return shop.handle(test_request{method::post, "/v1/sitesmaker/1/hooks"}
                               .basic(token.username, token.secret)
                               .body(hook_body("site.created", "https://example.com/"), content_type))
            .status();
    };
    for (const char* good : {"application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8", "application/json;"})
        CHECK(post(good) == status::created);
    for (const char* bad : {"", "text/plain", "application/x-www-form-urlencoded", "application/jsonx", "application/json; charset=latin1",
                            "application/json, application/json", "text/json"})
        CHECK(post(bad) == status::unsupported_media_type);
}

TEST_CASE("checks run in order, the cheapest first", "[api][order]") {
    auto shop = make_shop();
    const auto reads = shop.personal_token(ann, "user:balance");
    const auto good = shop.personal_token(ann, all_scopes);
    // Every part of each request is invalid; each row corrects one part and gets the next error.
    const auto status_of = [&](test_request&& request) { return shop.handle(request).status(); };
    const auto limited = ip_address::v4(198, 51, 100, 1);
    for (int i = 0; i < 60; ++i) shop.handle(test_request{method::get, "/v1/testservice/get"}.from(limited));
    CHECK(status_of(std::move(
              test_request{method::put, "/v1/nowhere"}.from(limited).without("User-Agent").bearer("x").bearer("y").too_large())) ==
          status::too_many_requests);
    CHECK(status_of(std::move(test_request{method::put, "/v1/nowhere"}.without("User-Agent").bearer("x").bearer("y").too_large())) ==
          status::forbidden);
    CHECK(status_of(std::move(test_request{method::put, "/v1/nowhere"}.bearer("x").bearer("y").too_large())) == status::bad_request);
    CHECK(status_of(std::move(test_request{method::put, "/v1/nowhere"}.bearer("x").too_large())) == status::not_found);
    CHECK(status_of(std::move(test_request{method::put, "/v1/sitesmaker/1/hooks"}.bearer("x").too_large())) == status::method_not_allowed);
    CHECK(status_of(std::move(test_request{method::post, "/v1/sitesmaker/1/hooks"}.bearer("x").too_large())) == status::unauthorized);
    CHECK(status_of(std::move(test_request{method::post, "/v1/sitesmaker/1/hooks"}.basic(reads.username, reads.secret).too_large())) ==
          status::forbidden);
    CHECK(status_of(std::move(test_request{method::post, "/v1/sitesmaker/1/hooks"}.basic(good.username, good.secret)
                                  .body("{", "text/plain")
                                  .too_large())) == status::content_too_large);
    CHECK(status_of(std::move(test_request{method::post, "/v1/sitesmaker/9/hooks"}.basic(good.username, good.secret).body("{",
                                                                                                                          "text/plain"))) ==
          status::unsupported_media_type);
    CHECK(status_of(std::move(test_request{method::post, "/v1/sitesmaker/9/hooks"}.basic(good.username, good.secret).body("{"))) ==
          status::bad_request);
    CHECK(status_of(std::move(test_request{method::post, "/v1/sitesmaker/9/hooks"}.basic(good.username, good.secret).body("{}"))) ==
          status::not_found);
    CHECK(status_of(std::move(test_request{method::post, "/v1/sitesmaker/1/hooks"}.basic(good.username, good.secret).body("{}"))) ==
          status::unprocessable_content);
}

TEST_CASE("without random bytes no hook is created", "[api][failure]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, all_scopes);
    shop.random_works = false;
    const auto response = shop.handle(test_request{method::post, "/v1/sitesmaker/1/hooks"}
                                        .basic(token.username, token.secret)
                                        .body(hook_body("site.created", "https://example.com/")));
    CHECK(response.status() == status::internal_server_error);
    CHECK(response.find("X-Hook-Secret").empty());
    CHECK(shop.handle(test_request{method::get, "/v1/sitesmaker/1/hooks"}.basic(token.username, token.secret)).body() == "[]");
}

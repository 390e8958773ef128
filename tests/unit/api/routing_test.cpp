#include <tollgate/api/account_api.hpp>

#include <support/quota_settings.hpp>
#include <support/shop.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;
using namespace tollgate_test;
using http::method;
using http::status;

TEST_CASE("every spelling of an unknown path is a 404", "[api][routing]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, "user:balance sitesmaker itemplatform");
    const auto* target = GENERATE("/v1/sitesmaker/accounts/", "/v1//sitesmaker/accounts", "/v2/sitesmaker/accounts", "/v1", "/v1/",
                                  "/", "/v10/user/balance", "/v1/user%2Fbalance", "/v1/./user/balance", "/v1/x/../user/balance",
                                  "/v1/testservice/accounts", "/v1/testservice/1/hooks", "/v1/unknown/accounts", "/v1/Sitesmaker/accounts",
                                  "/V1/user/balance", "/v1/user/balance/x", "//v1/user/balance", "/../v1/user/balance");
    CAPTURE(target);
    const auto response = shop.handle(test_request{method::get, target}.basic(token.username, token.secret));
    CHECK(response.status() == status::not_found);
    CHECK(response.find("X-RateLimit-Limit") == "1000");
}

TEST_CASE("the query is not part of the path", "[api][routing]") {
    auto shop = make_shop();
    CHECK(shop.handle(test_request{method::get, "/v1/testservice/get?x=/y"}).status() == status::ok);
    CHECK(shop.handle(test_request{method::get, "/v1/testservice/get?"}).status() == status::ok);
}

TEST_CASE("another method on a known path is a 405 with Allow", "[api][routing]") {
    auto shop = make_shop();
    const auto other = [&](method m, const char* target) { return shop.handle(test_request{m, target}); };
    const auto balance = other(method::post, "/v1/user/balance");
    CHECK(balance.status() == status::method_not_allowed);
    CHECK(balance.find("Allow") == "GET, HEAD, OPTIONS");
    CHECK(other(method::put, "/v1/sitesmaker/1/hooks").find("Allow") == "GET, HEAD, POST, OPTIONS");
    CHECK(other(method::get, "/v1/sitesmaker/hooks/1").find("Allow") == "DELETE, OPTIONS");
    CHECK(other(method::trace, "/v1/user/balance").status() == status::method_not_allowed);
    CHECK(other(method::post, "/v1/nowhere").status() == status::not_found);
}

TEST_CASE("an unknown method is a 501 on every path, and is counted", "[api][routing]") {
    auto shop = make_shop();
    unsigned left = 60;
    for (const char* target : {"/v1/user/balance", "/v1/nowhere", "/v1/sitesmaker/1/hooks", "*"}) {
        CAPTURE(target);
        const auto response = shop.handle(test_request{method::other, target});
        CHECK(response.status() == status::not_implemented);
        CHECK(response.body().find("\"documentation_url\"") != std::string::npos);
        CHECK(response.find("X-RateLimit-Remaining") == std::to_string(--left));
    }
    CHECK(shop.handle(test_request{method::other, "/v1/testservice/get"}.bearer("x")).status() == status::not_implemented);
}

TEST_CASE("OPTIONS is a 204 with Allow, or a 404 on unknown paths", "[api][routing]") {
    auto shop = make_shop();
    const auto response = shop.handle(test_request{method::options, "/v1/sitesmaker/1/hooks"});
    CHECK(response.status() == status::no_content);
    CHECK(response.find("Allow") == "GET, HEAD, POST, OPTIONS");
    CHECK(response.find("X-RateLimit-Limit") == "60");
    CHECK(response.body().empty());
    const auto all = shop.handle(test_request{method::options, "*"});
    CHECK(all.status() == status::no_content);
    CHECK(all.find("Allow") == "GET, HEAD, POST, DELETE, OPTIONS");
    CHECK(all.find("X-RateLimit-Remaining") == "58");
    CHECK(shop.handle(test_request{method::options, "/v1/*"}).status() == status::not_found);
    CHECK(shop.handle(test_request{method::options, "/v1/nowhere"}).status() == status::not_found);
    CHECK(shop.handle(test_request{method::options, "/v1/unknown/accounts"}).status() == status::not_found);
}

TEST_CASE("HEAD is handled as GET; the server omits the body", "[api][routing]") {
    auto shop = make_shop();
    const auto head = shop.handle(test_request{method::head, "/v1/testservice/get"});
    CHECK(head.status() == status::ok);
    CHECK(head.find("Content-Type") == "application/json");
    CHECK(shop.handle(test_request{method::head, "/v1/sitesmaker/hooks/1"}).status() == status::method_not_allowed);
}

TEST_CASE("the demonstration paths return an array of strings", "[api][demonstration]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, "");
    const auto is_array = [](const http::response& response) {
        return response.status() == status::ok && response.body().starts_with("[\"") && response.body().ends_with("\"]");
    };
    CHECK(is_array(shop.handle(test_request{method::get, "/v1/testservice/get"})));
    CHECK(is_array(shop.handle(test_request{method::post, "/v1/testservice/post"})));
    CHECK(is_array(shop.handle(test_request{method::post, "/v1/testservice/post"}.body("{\"a\":1}"))));
    CHECK(is_array(shop.handle(test_request{method::get, "/v1/testservice/auth"}.basic(token.username, token.secret))));
    CHECK(is_array(shop.handle(test_request{method::get, "/v1/testservice/auth"}.bearer(shop.access_token(bob, "")))));
    CHECK(shop.handle(test_request{method::get, "/v1/testservice/auth"}).status() == status::unauthorized);
}

TEST_CASE("an open route knows its caller if there is one", "[api][routing]") {
    auto shop = make_shop();
    const auto greet = [](api_call& call) -> result<void> {
        call.json().string(call.has_caller() ? "user " + std::to_string(call.caller().user.value()) : std::string{"nobody"});
        return {};
    };
    account_api api{shop_settings(), shop.users, shop.store, default_policies().with_clock(fake_clock{&shop.now}),
                    route_table{on_get<"/greeting">(open_to_all, greet)}};
    const auto token = shop.personal_token(ann, "user:balance");
    CHECK(api.handle(test_request{method::get, "/v1/greeting"}.view()).body() == "\"nobody\"");
    CHECK(api.handle(test_request{method::get, "/v1/greeting"}.basic(token.username, token.secret).view()).body() == "\"user 1\"");
}

TEST_CASE("a base URL may have any path", "[api][routing]") {
    for (const auto& [base, target] : {std::pair{"http://api.example/v1", "/v1/testservice/get"},
                                       std::pair{"http://api.example", "/testservice/get"},
                                       std::pair{"http://api.example/a/b/v1/", "/a/b/v1/testservice/get"}}) {
        auto settings = shop_settings();
        settings.base_url = base;
        auto shop = make_shop(std::move(settings));
        CHECK(shop.handle(test_request{method::get, target}).status() == status::ok);
    }
    for (const char* wrong : {"api.example/v1", "https://", "https://api.example/v1?a"}) {
        CAPTURE(wrong);
        auto settings = shop_settings();
        settings.base_url = wrong;
        CHECK_THROWS_AS(make_shop(std::move(settings)), std::invalid_argument);
        settings = shop_settings();
        settings.auth_url = wrong;
        CHECK_THROWS_AS(make_shop(std::move(settings)), std::invalid_argument);
    }
}

TEST_CASE("a quota without a window throws, and one without requests or with a window does not") {
    tollgate_test::check_windows_are_required(
        "API", shop_settings(), {{"anonymous_quota", &account_service_settings::anonymous_quota}, {"user_quota", &account_service_settings::user_quota}},
        [](const account_service_settings& settings) { make_shop(settings); });
}

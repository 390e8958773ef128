#include <tollgate/oauth/authorization_server.hpp>
#include <tollgate/web/session_cookies.hpp>

#include <tollgate/http/site.hpp>

#include <support/failing_new.hpp>
#include <support/oauth_shop.hpp>
#include <support/quota_settings.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;
using http::method;
using http::status;

static_assert(http::handler<decltype(oauth_shop<>::oauth)>);
static_assert(http::knows_its_mounts<decltype(oauth_shop<>::oauth)>);

namespace {

const std::string form_cookie = cookie_name_of("https://shop.example", {}, "form");

constexpr const char* one_page = "/en/itemplatform/oauth/";
constexpr const char* revocation_path = "/user/oauth_revoke/";

/// A limiter that reports that every call may block.
struct store_elsewhere : faulty_store {
    static constexpr bool blocking = true;
};
struct limiter_elsewhere {
    static constexpr bool blocking = true;
    int calls = 0;
    limit_decision take(const limit_key& key, const quota& allowed, instant now) noexcept { return peek(key, allowed, now); }
    limit_decision peek(const limit_key&, const quota& allowed, instant now) noexcept {
        ++calls;
        return {true, allowed.requests, 7, now};
    }
};

using entering_shop = oauth_shop<entering_sessions>;

/// The cookie of a page, as a browser sends it back.
std::string cookie_of(const http::response& page) {
    const auto set = page.find("Set-Cookie");
    return std::string{set.substr(0, set.find(';'))};
}

parameter_list sign_in_with(const http::response& page, std::string password, std::string decision = "allow") {
    return with(hidden_fields(page), {{"login", "ann"}, {"password", std::move(password)}, {"decision", std::move(decision)}});
}

}  // namespace

TEST_CASE("an application revokes its tokens", "[oauth][revocation]") {
    oauth_shop shop;
    const auto revocation = [&](std::string token) {
        return parameter_list{{"client_id", shop.app.client_id}, {"client_secret", shop.app.client_secret}, {"token", std::move(token)}};
    };
    for (const char* path : {"/user/oauth_revoke/", "/user/oauth_revoke"}) {
        const auto first = shop.post("/user/oauth_token/", shop.exchange_of(shop.make_code()));
        const auto second = shop.post("/user/oauth_token/", shop.refresh_of(member(first, "refresh_token")));
        // An access token is revoked alone, whatever the hint says.
        const auto response = shop.post(path, with(revocation(member(first, "access_token")), {{"token_type_hint", "refresh_token"}}));
        CHECK(response.status() == status::ok);
        CHECK(response.body() == "{}");
        CHECK(response.find("Content-Type") == "application/json");
        CHECK(response.find("Cache-Control") == "no-store");
        CHECK(response.find("X-RateLimit-Remaining") == "60");
        CHECK_FALSE(shop.accepts(member(first, "access_token")));
        CHECK(shop.accepts(member(second, "access_token")));
        // A refresh token is revoked with the tokens that were issued with it.
        CHECK(shop.post(path, revocation(member(first, "refresh_token"))).status() == status::ok);
        CHECK_FALSE(shop.accepts(member(second, "access_token")));
        CHECK(member(shop.post("/user/oauth_token/", shop.refresh_of(member(first, "refresh_token"))), "error") == "invalid_grant");
        // Repeated, and for a token that never existed.
        for (const auto& token : {member(first, "refresh_token"), member(first, "access_token"), std::string{"tga_x"},
                                  shop.app.client_secret, std::string(5000, 'x')})
            CHECK(shop.post(path, revocation(token)).status() == status::ok);
    }
    CHECK(shop.handle(test_request{method::post, revocation_path}.body(R"({"client_id":")" + shop.app.client_id + R"(","client_secret":")" +
                                                      shop.app.client_secret + R"(","token":"x"})"))
              .status() == status::ok);
}

TEST_CASE("an application cannot revoke another's token", "[oauth][revocation]") {
    oauth_shop shop;
    const auto tokens = shop.post("/user/oauth_token/", shop.exchange_of(shop.make_code()));
    const auto other = shop.register_client("Other", std::nullopt);
    for (const char* name : {"access_token", "refresh_token"})
        CHECK(shop.post(revocation_path, {{"client_id", other.client_id},
                                          {"client_secret", other.client_secret},
                                          {"token", member(tokens, name)}})
                  .status() == status::ok);
    CHECK(shop.accepts(member(tokens, "access_token")));
    CHECK(shop.post("/user/oauth_token/", shop.refresh_of(member(tokens, "refresh_token"))).status() == status::ok);
}

TEST_CASE("revocation requires a token and the right secret", "[oauth][revocation]") {
    oauth_shop shop;
    const auto tokens = shop.post("/user/oauth_token/", shop.exchange_of(shop.make_code()));
    const parameter_list good{{"client_id", shop.app.client_id},
                              {"client_secret", shop.app.client_secret},
                              {"token", member(tokens, "access_token")}};
    const auto no_token = shop.post(revocation_path, with(good, {{"token", ""}}));
    CHECK(no_token.status() == status::bad_request);
    CHECK(member(no_token, "error") == "invalid_request");
    const auto wrong = shop.post(revocation_path, with(good, {{"client_secret", "x"}}));
    CHECK(wrong.status() == status::unauthorized);
    CHECK(member(wrong, "error") == "invalid_client");
    CHECK(wrong.find("X-RateLimit-Remaining") == "59");
    for (int nth = 1; nth <= 2; ++nth) {
        shop.store.faults.start(nth);
        const auto response = shop.post(revocation_path, good);
        CHECK(response.status() == status::service_unavailable);
        CHECK(response.find("Retry-After") == "2");
        CHECK(member(response, "error") == "temporarily_unavailable");
    }
    CHECK(shop.accepts(member(tokens, "access_token")));
    CHECK(shop.post(revocation_path, good).status() == status::ok);
}

TEST_CASE("metadata lists all endpoints", "[oauth][metadata]") {
    oauth_shop shop;
    const auto response = shop.handle(test_request{method::get, "/.well-known/oauth-authorization-server"});
    CHECK(response.status() == status::ok);
    CHECK(response.find("Content-Type") == "application/json");
    CHECK(response.find("X-RateLimit-Remaining") == "60");
    CHECK(response.body() ==
          R"({"issuer":"https://shop.example",)"
          R"("authorization_endpoint":"https://shop.example/en/user/oauth/",)"
          R"("token_endpoint":"https://shop.example/user/oauth_token/",)"
          R"("revocation_endpoint":"https://shop.example/user/oauth_revoke/",)"
          R"("introspection_endpoint":"https://shop.example/user/oauth_introspect/",)"
          R"("device_authorization_endpoint":"https://shop.example/user/oauth_device/",)"
          R"("scopes_supported":["user:balance","sitesmaker:read","sitesmaker","itemplatform:read","itemplatform"],)"
          R"("response_types_supported":["code"],)"
          R"("response_modes_supported":["query"],)"
          R"("grant_types_supported":["authorization_code","refresh_token","client_credentials",)"
          R"("urn:ietf:params:oauth:grant-type:device_code"],)"
          R"("token_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post","none"],)"
          R"("revocation_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post","none"],)"
          R"("introspection_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post"],)"
          R"("code_challenge_methods_supported":["S256"],)"
          R"("prompt_values_supported":["none","login","consent","select_account"],)"
          R"("authorization_response_iss_parameter_supported":true,)"
          R"("service_documentation":"https://shop.example/docs/",)"
          R"("ui_locales_supported":["en","de"]})");
    CHECK(shop.handle(test_request{method::head, "/.well-known/oauth-authorization-server"}).status() == status::ok);
    const auto options = shop.handle(test_request{method::options, "/.well-known/oauth-authorization-server"});
    CHECK(options.status() == status::no_content);
    CHECK(options.find("Allow") == "GET, HEAD, OPTIONS");
    const auto posted = shop.handle(test_request{method::post, "/.well-known/oauth-authorization-server"});
    CHECK(posted.status() == status::method_not_allowed);
    CHECK(posted.find("Allow") == "GET, HEAD, OPTIONS");
}

TEST_CASE("an auth_url may have a path and a trailing slash", "[oauth]") {
    for (const char* url : {"https://shop.example/account", "https://shop.example/account/", "https://shop.example/account//"}) {
        oauth_shop shop{test_oauth_settings(url)};
        for (const char* path : {"/account/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/account",
                                 "/account//.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/account/"}) {
            const auto response = shop.handle(test_request{method::get, path});
            CHECK(member(response, "issuer") == "https://shop.example/account");
            CHECK(member(response, "token_endpoint") == "https://shop.example/account/user/oauth_token/");
        }
        CHECK(shop.handle(test_request{method::get, "/.well-known/oauth-authorization-server"}).status() == status::not_found);
        CHECK(shop.post("/account/user/oauth_token/", shop.exchange_of(shop.make_code())).status() == status::ok);
        CHECK(shop.post("/user/oauth_token/", shop.exchange_of(shop.make_code())).status() == status::not_found);
        CHECK(*shop.store.rows.revoke(grant_revocation{ann, shop.app.id}));
        const auto page = shop.open(shop.parameters(), "site=ann", "/account/en/user/oauth/");
        CHECK(page.body().find("action=\"/account/en/user/oauth/\"") != std::string::npos);
        CHECK(returned(shop.submit(with(hidden_fields(page), {{"decision", "allow"}}), "site=ann", "/account/en/user/oauth/"), "iss") ==
              "https://shop.example/account");
    }
    for (const char* url : {"", "shop.example", "ftp://shop.example", "https://shop.example?x", "https://shop.example#x"})
        CHECK_THROWS_AS(oauth_shop{test_oauth_settings(url)}, std::invalid_argument);
}

TEST_CASE("a time outside its bounds throws, and one at a bound does not", "[oauth]") {
    struct row {
        const char* name;
        seconds oauth_settings::*time;
        seconds least;
        seconds most = std::chrono::days{36'500};
    };
    for (const auto& [name, time, least, most] :
         {row{"code_lifetime", &oauth_settings::code_lifetime, seconds{1}, std::chrono::hours{24}},
          {"access_token_lifetime", &oauth_settings::access_token_lifetime, seconds{1}},
          {"refresh_token_lifetime", &oauth_settings::refresh_token_lifetime, seconds{1}},
          {"refresh_token_end", &oauth_settings::refresh_token_end, seconds{1}},
          {"rotation_grace", &oauth_settings::rotation_grace, seconds{0}},
          {"device_code_lifetime", &oauth_settings::device_code_lifetime, seconds{1}, std::chrono::hours{24}},
          {"device_poll_interval", &oauth_settings::device_poll_interval, seconds{0}}}) {
        auto settings = test_oauth_settings("https://shop.example");
        for (const seconds bad : {least - seconds{1}, most + seconds{1}, (seconds::max)()}) {
            settings.oauth.*time = bad;
            CHECK_THROWS_AS(oauth_shop{settings}, std::invalid_argument);
            CHECK_THROWS_WITH(oauth_shop{settings},
                              Catch::StartsWith("tollgate: The OAuth setting " + std::string{name} + " must be from "));
        }
        if (least == seconds{1})
            CHECK_THROWS_WITH(oauth_shop{settings}, "tollgate: The OAuth setting " + std::string{name} +
                                                        " must be from 1000 to " +
                                                        std::to_string(milliseconds{most}.count()) + " ms.");
        for (const seconds good : {least, most}) {
            settings.oauth.*time = good;
            CHECK_NOTHROW(oauth_shop{settings});
        }
    }
}

TEST_CASE("a quota without a window throws, and one without requests or with a window does not", "[oauth]") {
    tollgate_test::check_windows_are_required("OAuth", test_oauth_settings("https://shop.example").oauth,
                                              {{"device_requests", &oauth_settings::device_requests},
                                               {"device_requests_of_site", &oauth_settings::device_requests_of_site},
                                               {"device_requests_of_network", &oauth_settings::device_requests_of_network},
                                               {"user_code_attempts", &oauth_settings::user_code_attempts},
                                               {"page_requests", &oauth_settings::page_requests},
                                               {"refreshes", &oauth_settings::refreshes}},
                                              [](const oauth_settings& oauth) {
                                                  auto settings = test_oauth_settings("https://shop.example");
                                                  settings.oauth = oauth;
                                                  oauth_shop{settings};
                                              });
    tollgate_test::check_windows_are_required("OAuth", test_oauth_settings("https://shop.example"),
                                              {{"anonymous_quota", &account_service_settings::anonymous_quota}},
                                              [](const account_service_settings& settings) { oauth_shop{settings}; });
}

TEST_CASE("it provides its mounts for a site", "[oauth]") {
    oauth_shop shop;
    auto mounts = shop.oauth.mounts();
    REQUIRE(mounts.size() == 18);
    for (const auto& [path, type] : {std::pair{"/favicon.ico", "image/svg+xml"}, {"/en/icon-", "image/svg+xml"},
                                     {"/en/style-", "text/css; charset=utf-8"}, {"/en/copy-", "text/javascript; charset=utf-8"}}) {
        CHECK(mounts.back().starts_with(path));
        const auto found = shop.handle(test_request{method::get, mounts.back()});
        CHECK(found.find("Content-Type") == type);
        const auto refused = shop.handle(test_request{method::post, mounts.back()});
        CHECK(refused.status() == status::method_not_allowed);
        CHECK(refused.find("Content-Type") == "text/html; charset=utf-8");
        for (const auto* each : {&found, &refused}) CHECK(each->find("X-RateLimit-Limit") == "");
        mounts.pop_back();
    }
    std::sort(mounts.begin(), mounts.end());
    CHECK(mounts == std::vector<std::string>{"/.well-known/oauth-authorization-server", "//.well-known/oauth-authorization-server",
                                             "/de/itemplatform/oauth", "/de/user/device", "/de/user/oauth",
                                             "/en/itemplatform/oauth", "/en/user/device", "/en/user/oauth", "/user/device",
                                             "/user/oauth", "/user/oauth_device", "/user/oauth_introspect", "/user/oauth_revoke",
                                             "/user/oauth_token"});
    http::site site{http::mounted(shop.oauth)};
    http::response out;
    // The issuer may have a final slash.
    for (const char* path : {"/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/",
                             "//.well-known/oauth-authorization-server"}) {
        site.handle(test_request{method::get, path}.view(), out);
        CHECK(out.status() == status::ok);
        out.clear();
    }
}

TEST_CASE("an unknown path is a 404, as a page for browsers", "[oauth]") {
    oauth_shop shop;
    for (const char* path :
         {"/", "/user/oauth_token/x", "/user/oauth_token//", "/user/Oauth_token/", "/user/%6fauth_token/",
          "/user//oauth_token/", "/user/x/../oauth_token/", "/.well-known/oauth-authorization-server/x",
          "/user/oauth_token%2F", "///.well-known/oauth-authorization-server", "//user/oauth_token/"}) {
        CAPTURE(path);
        const auto response = shop.handle(test_request{method::get, path});
        CHECK(response.status() == status::not_found);
        CHECK(response.find("Content-Type") == "application/json");
        CHECK(member(response, "message") == "Not Found");
        CHECK(response.find("X-RateLimit-Remaining") == "60");
    }
    for (const char* path : {"/en/user/oauth/x", "/en/user/oauth//", "/en/sitesmaker/oauth/", "/en/style-x.css"}) {
        CAPTURE(path);
        const auto response = shop.handle(test_request{method::get, path});
        CHECK(response.status() == status::not_found);
        CHECK(response.find("Content-Type") == "text/html; charset=utf-8");
        CHECK(response.find("X-RateLimit-Remaining").empty());
    }
}

TEST_CASE("a missing User-Agent is a 403 on every path and is counted", "[oauth][agent]") {
    oauth_shop shop;
    int left = 60;
    for (const char* path : {"/user/oauth_token/", "/user/oauth_revoke/", "/en/user/oauth/", "/en/itemplatform/oauth/",
                             "/.well-known/oauth-authorization-server", "/nowhere"}) {
        for (const char* agent : {"", " ", static_cast<const char*>(nullptr)}) {
            test_request request{method::post, path};
            request.without("User-Agent");
            if (agent != nullptr) request.field("User-Agent", agent);
            const auto response = shop.handle(request);
            CHECK(response.status() == status::forbidden);
            CHECK(response.find("X-RateLimit-Remaining") == std::to_string(--left));
            CHECK(member(response, "message") == "Send one User-Agent header that names your program.");
            CHECK(member(response, "documentation_url") == "https://shop.example/docs/requests/");
        }
    }
    while (left-- > 0) shop.handle(test_request{method::get, "/"}.without("User-Agent"));
    const auto refused = shop.handle(test_request{method::get, "/"}.without("User-Agent"));
    CHECK(refused.status() == status::too_many_requests);
    CHECK(refused.find("Retry-After") == "3600");
    CHECK(refused.find("X-RateLimit-Reset") == "2023-11-14T23:13:20Z");
    // Other requests from that address are not affected.
    CHECK(shop.open(shop.parameters()).status() == status::ok);
    CHECK(shop.post("/user/oauth_token/", shop.exchange_of(shop.make_code())).status() == status::ok);
}

TEST_CASE("a trusted proxy names the client whose window is used", "[oauth][limits]") {
    auto settings = test_oauth_settings();
    settings.trusted_proxies = {*ip_network::parse("192.0.2.0/24")};
    oauth_shop shop{std::move(settings)};
    const auto wrong_from = [&](const char* client) {
        const auto response = shop.handle(test_request{method::post, "/user/oauth_token/"}
                                              .field("X-Forwarded-For", client)
                                              .body("client_id=tgi_nobody&client_secret=x", "application/x-www-form-urlencoded"));
        return std::string{response.find("X-RateLimit-Remaining")};
    };
    CHECK(wrong_from("198.51.100.1") == "59");
    CHECK(wrong_from("198.51.100.1") == "58");
    CHECK(wrong_from("198.51.100.2") == "59");
}

TEST_CASE("refusals have the format of other errors and are not counted", "[oauth]") {
    oauth_shop shop;
    for (const auto each : {status::bad_request, status::request_timeout, status::uri_too_long, status::service_unavailable}) {
        http::response out;
        shop.oauth.handle(http::refusal{each, "A rule was broken.", ip_address::v4(192, 0, 2, 1), true}, out);
        CHECK(out.status() == each);
        CHECK(member(out, "message") == "A rule was broken.");
        CHECK(member(out, "documentation_url").starts_with("https://shop.example/docs/"));
        CHECK(out.find("X-RateLimit-Remaining") == "60");
        CHECK(out.find("Retry-After") == (each == status::service_unavailable ? "2" : ""));
    }
    CHECK(shop.observer.refusals == 4);
    http::request sent;
    sent.fields.add("Origin", "https://a.example");
    http::response out;
    shop.oauth.handle(http::refusal{status::service_unavailable, "A rule was broken.", sent.peer, true, &sent}, out);
    CHECK(out.find("Access-Control-Allow-Origin") == "*");
}

TEST_CASE("a refusal at the path of a page is a page", "[oauth]") {
    oauth_shop shop;
    struct row {
        const char* path;
        bool is_page;
    };
    for (const auto& [path, is_page] : {row{"/de/user/oauth/", true}, row{"/user/device", true}, row{"/de/itemplatform/oauth/", true},
                                        row{"/de/aaa", true}, row{"/user/oauth_token/", false}, row{"/user/oauth_revoke", false},
                                        row{"/.well-known/oauth-authorization-server", false}, row{"", false}}) {
        CAPTURE(path);
        http::request read;
        read.target = http::target::from_path(path);
        read.fields.add("Accept-Language", "de");
        for (const bool has_head : {true, false}) {
            http::response out;
            shop.oauth.handle(http::refusal{.status = status::header_fields_too_large,
                                            .reason = "A rule <was> broken.",
                                            .peer = {},
                                            .request = has_head ? &read : nullptr,
                                            .partial = has_head ? nullptr : &read},
                              out);
            CHECK(out.status() == status::header_fields_too_large);
            CHECK(out.body().starts_with(is_page ? "<!doctype html>" : "{"));
            if (is_page) CHECK(out.body().find("die Cookies dieser Website") != std::string::npos);
            CHECK((out.body().find("A rule <was> broken.") != std::string::npos) != is_page);
            if (is_page) CHECK(out.body().find("lang=\"de\"") != std::string::npos);
            CHECK(out.find("X-RateLimit-Remaining").empty() == is_page);
            CHECK(out.find("Access-Control-Allow-Origin") == (is_page || has_head || *path == '\0' ? "" : "*"));
        }
    }
    CHECK(shop.observer.refusals == 16);
}

TEST_CASE("the observer sees every response", "[oauth]") {
    oauth_shop shop;
    shop.post("/user/oauth_token/", shop.exchange_of(shop.make_code()));
    shop.post("/user/oauth_token/", {});
    shop.handle(test_request{method::get, "/nowhere"});
    shop.handle(test_request{method::get, "/"}.without("User-Agent"));
    CHECK(shop.observer.requests == std::vector<std::string>{"200", "400", "404", "403"});
}

TEST_CASE("the cookie of the forms has the name of the settings", "[oauth][one_page]") {
    auto settings = test_oauth_settings();
    settings.oauth.cookie_name = "shop";
    oauth_shop<entering_sessions> shop{settings};
    CHECK(shop.open(shop.parameters(), "", one_page).find("Set-Cookie").starts_with("__Host-shop_form=tgw_"));
    settings.oauth.cookie_name = "__shop";
    CHECK_THROWS_AS(oauth_shop<entering_sessions>{settings}, std::invalid_argument);
}

TEST_CASE("a login on the page of both may have blanks around it", "[oauth][one_page]") {
    entering_shop shop;
    const auto page = shop.open(shop.parameters(), "", one_page);
    CHECK(returned(shop.submit(with(sign_in_with(page, "open sesame"), {{"login", " ann\t"}}), cookie_of(page), one_page), "code"));
    const auto wrong = shop.submit(with(sign_in_with(page, "barley"), {{"login", " ann "}}), cookie_of(page), one_page);
    CHECK(wrong.body().find("value=\"ann\"") != std::string::npos);
    const auto blank = shop.submit(with(sign_in_with(page, "barley"), {{"login", "  "}}), cookie_of(page), one_page);
    CHECK(blank.body().find("Enter your username.") != std::string::npos);
}

TEST_CASE("prompts on the page of both", "[oauth][one_page][prompt]") {
    entering_shop shop;
    // A signed-in user signs in again, or is asked without that.
    const auto again = shop.open(with(shop.parameters(), {{"prompt", "login"}, {"login_hint", "ann"}}), "site=ann", one_page);
    CHECK(again.body().find("type=\"password\"") != std::string::npos);
    CHECK(again.body().find("name=\"login\" type=\"text\" autocomplete=\"username\" value=\"ann\"") != std::string::npos);
    CHECK(returned(shop.submit(sign_in_with(again, "open sesame"), cookie_of(again) + "; site=ann", one_page), "code"));
    for (const char* prompt : {"consent", "select_account"}) {
        const auto page = shop.open(with(shop.parameters(), {{"prompt", prompt}}), "site=ann", one_page);
        CHECK(page.body().find("Signed in as ann") != std::string::npos);
        CHECK(page.body().find("type=\"password\"") == std::string::npos);
    }
    CHECK(returned(shop.open(with(shop.parameters(), {{"prompt", "none"}}), "", one_page), "error") == "login_required");
    // Consent is never skipped there.
    CHECK(returned(shop.open(with(shop.parameters(), {{"prompt", "none"}}), "site=ann", one_page), "error") == "consent_required");
}

TEST_CASE("sign-in and consent on one page", "[oauth][one_page]") {
    entering_shop shop;
    for (const char* path : {"/en/itemplatform/oauth/", "/en/itemplatform/oauth"}) {
        const auto page = shop.open(shop.parameters(), "", path);
        CHECK(page.status() == status::ok);
        CHECK(page.body().find("<h1>Authorize App?</h1>") != std::string::npos);
        CHECK(page.body().find("name=\"login\"") != std::string::npos);
        CHECK(page.body().find("type=\"password\"") != std::string::npos);
        CHECK(page.body().find("value=\"deny\" formnovalidate") != std::string::npos);
        CHECK(page.find("Set-Cookie").starts_with(form_cookie + "=tgw_"));
        CHECK(page.find("Set-Cookie").ends_with("; Path=/; Secure; HttpOnly; SameSite=Lax"));

        const auto response = shop.submit(sign_in_with(page, "open sesame"), cookie_of(page), path);
        CHECK(response.status() == status::see_other);
        CHECK(response.find("Set-Cookie").starts_with("site=new"));
        CHECK(returned(response, "state") == "xyz");
        CHECK(shop.post("/user/oauth_token/", shop.exchange_of(returned(response, "code").value_or(""))).status() == status::ok);
        CHECK(*shop.store.rows.revoke(grant_revocation{ann, shop.app.id}));
    }
}

TEST_CASE("a wrong password is reported at its field", "[oauth][one_page]") {
    entering_shop shop;
    const auto page = shop.open(shop.parameters(), "", one_page);
    const auto cookie = cookie_of(page);
    const auto wrong = shop.submit(sign_in_with(page, "open <barley>"), cookie, one_page);
    CHECK(wrong.status() == status::unprocessable_content);
    CHECK(wrong.body().find("Error: Authorize App?") != std::string::npos);
    CHECK(wrong.body().find("value=\"ann\"") != std::string::npos);
    CHECK(wrong.body().find("barley") == std::string::npos);
    CHECK(wrong.body().find("Incorrect username or password") != std::string::npos);
    CHECK(wrong.find("Set-Cookie").empty());
    // The page with the error can be submitted again.
    CHECK(returned(shop.submit(sign_in_with(wrong, "open sesame"), cookie, one_page), "code"));

    const auto missing = shop.submit(with(sign_in_with(page, "x"), {{"password", ""}}), cookie, one_page);
    CHECK(missing.status() == status::unprocessable_content);
    CHECK(missing.body().find("Enter your password.") != std::string::npos);
    const auto nothing = shop.submit(with(sign_in_with(page, "x"), {{"login", ""}}), cookie, one_page);
    CHECK(nothing.status() == status::see_other);  // treated as the form of a user who has signed out since: the page is shown again
    CHECK(nothing.find("Location").starts_with("/en/itemplatform/oauth/?"));
    shop.sessions.throttled = true;
    const auto throttled = shop.submit(sign_in_with(page, "open sesame"), cookie, one_page);
    CHECK(throttled.status() == status::too_many_requests);
    CHECK(throttled.find("Retry-After") == "90");
    CHECK(throttled.body().find("90 seconds") != std::string::npos);
    CHECK(throttled.find("Set-Cookie").empty());
}

TEST_CASE("a sign-in form without a valid token is a 403", "[oauth][one_page][csrf]") {
    entering_shop shop;
    const auto page = shop.open(shop.parameters(), "", one_page);
    const auto good = sign_in_with(page, "open sesame");
    const auto token = std::find_if(good.begin(), good.end(), [](const auto& each) { return each.first == "form_token"; })->second;
    const std::string other_mac =
        token.substr(0, token.find('.') + 1) + (token.ends_with('A') ? "B" : "A") + token.substr(token.find('.') + 2);
    for (const auto& made_up : {std::string{}, std::string{"x"}, token.substr(0, token.find('.')), std::string(22, 'A'),
                                std::string(22, 'A') + token.substr(token.find('.')), other_mac}) {
        CAPTURE(made_up);
        for (const char* decision : {"allow", "deny"}) {
            const auto fields = with(sign_in_with(page, "open sesame", decision), {{"form_token", made_up}});
            CHECK(shop.submit(fields, cookie_of(page), one_page).status() == status::forbidden);
        }
    }
    // A token of another browser, no token, and a token for another purpose.
    CHECK(shop.submit(good, "", one_page).status() == status::forbidden);
    CHECK(shop.submit(good, form_cookie + "=", one_page).status() == status::forbidden);
    CHECK(shop.submit(good, cookie_of(shop.open(shop.parameters(), "", one_page)), one_page).status() == status::forbidden);
    CHECK(shop.submit(with(good, {{"state", "other"}}), cookie_of(page), one_page).status() == status::forbidden);
    // The form is shown again with the login, but without the password, and says whether the cookie was missing.
    for (const auto& [cookie, reason] :
         {std::pair{std::string{}, "open it at https://shop.example"},
          std::pair{cookie_of(shop.open(shop.parameters(), "", one_page)), "Check the form and submit it"}}) {
        const auto again = shop.submit(good, cookie, one_page);
        CHECK(again.body().find(reason) != std::string::npos);
        CHECK(again.body().find("value=\"ann\"") != std::string::npos);
        CHECK(again.body().find("open sesame") == std::string::npos);
    }
    CHECK(shop.sessions.entered == 0);
    CHECK(returned(shop.submit(good, cookie_of(page), one_page), "code"));
}

TEST_CASE("a browser keeps the cookie of its forms with sign-in", "[oauth][one_page][csrf]") {
    entering_shop shop;
    const auto first = shop.open(shop.parameters(), "", one_page);
    const auto second = shop.open(shop.parameters(), cookie_of(first), one_page);
    CHECK(second.find("Set-Cookie").empty());
    for (const auto& page : {first, second})
        CHECK(returned(shop.submit(sign_in_with(page, "open sesame"), cookie_of(first), one_page), "code"));
    // A cookie that is not a valid secret is replaced.
    CHECK_FALSE(cookie_of(shop.open(shop.parameters(), form_cookie + "=guessable", one_page)).empty());
}

TEST_CASE("a user denies without a password", "[oauth][one_page]") {
    entering_shop shop;
    const auto page = shop.open(shop.parameters(), "", one_page);
    const auto fields = to_form(with(hidden_fields(page), {{"decision", "deny"}})) + "&login=&password=";
    const auto response = shop.handle(
        test_request{method::post, one_page}.field("Cookie", cookie_of(page)).body(fields, "application/x-www-form-urlencoded"));
    CHECK(returned(response, "error") == "access_denied");
    CHECK(returned(response, "state") == "xyz");
    CHECK(shop.submit(sign_in_with(page, "open sesame", ""), cookie_of(page), one_page).status() == status::bad_request);
    CHECK(shop.sessions.entered == 0);
}

TEST_CASE("the combined page is never skipped, and needs no password from signed-in users", "[oauth][one_page]") {
    entering_shop shop;
    CHECK_FALSE(shop.consent(shop.parameters()).empty());
    CHECK(shop.open(shop.parameters()).status() == status::see_other);
    const auto page = shop.open(shop.parameters(), "site=ann", one_page);
    CHECK(page.status() == status::ok);
    CHECK(page.body().find("type=\"password\"") == std::string::npos);
    CHECK(page.body().find("Signed in as ann") != std::string::npos);
    const auto fields = with(hidden_fields(page), {{"decision", "allow"}});
    CHECK(returned(shop.submit(fields, "site=ann", one_page), "code"));
    CHECK(shop.submit(with(fields, {{"form_token", ""}}), "site=ann", one_page).status() == status::forbidden);
    // Signed out in the meantime: the page is shown again, with sign-in.
    const auto out = shop.submit(fields, "", one_page);
    CHECK(out.status() == status::see_other);
    CHECK(out.find("Location").starts_with("/en/itemplatform/oauth/?"));
    CHECK(shop.handle(test_request{method::get, std::string{out.find("Location")}}).body().find("type=\"password\"") != std::string::npos);
}

TEST_CASE("a sign-in form submitted twice issues one code", "[oauth][one_page]") {
    entering_shop shop;
    const auto page = shop.open(shop.parameters(), "", one_page);
    const auto first = shop.submit(sign_in_with(page, "open sesame"), cookie_of(page), one_page);
    const auto second = shop.submit(sign_in_with(page, "open sesame"), cookie_of(page), one_page);
    CHECK(returned(first, "code"));
    CHECK(first.find("Location") == second.find("Location"));
    CHECK(shop.post("/user/oauth_token/", shop.exchange_of(*returned(first, "code"))).status() == status::ok);
    CHECK(shop.submit(sign_in_with(page, "open sesame"), cookie_of(page), one_page).status() == status::conflict);
    const auto other_page = shop.open(shop.parameters(), "", one_page);
    CHECK(returned(shop.submit(sign_in_with(other_page, "open sesame"), cookie_of(other_page), one_page), "code") !=
          returned(first, "code"));
}

TEST_CASE("a form with a time in the future, or an old form, gets a new code each time", "[oauth][one_page]") {
    entering_shop shop;
    const auto page = shop.open(shop.parameters(), "", one_page);
    const auto submit = [&] { return returned(shop.submit(sign_in_with(page, "open sesame"), cookie_of(page), one_page), "code"); };
    CHECK(submit() == submit());
    shop.now -= seconds{1};
    CHECK(submit() != submit());
    shop.now += seconds{limits::spent_code_seconds + 1};
    CHECK(submit() != submit());
}

TEST_CASE("a form for a page is refused by its head before its body arrives", "[oauth][page]") {
    entering_shop shop;
    for (const char* path : {one_page, "/en/user/oauth/", "/en/user/device/"}) {
        for (const bool from_elsewhere : {false, true}) {
            test_request request{method::post, path};
            request.field("Content-Type", "application/x-www-form-urlencoded").pending();
            if (from_elsewhere) request.field("Sec-Fetch-Site", "cross-site");
            http::response response;
            http::handler_state state;
            const auto step = http::advance(shop.oauth, request.view(), response, state, http::thread_kind::worker);
            CHECK(step == (from_elsewhere ? http::handle_step::done : http::handle_step::needs_body));
            if (from_elsewhere) CHECK(response.status() == status::forbidden);
        }
    }
}

TEST_CASE("a form for a path without a language is refused before its body arrives", "[oauth][page]") {
    entering_shop shop;
    for (const char* path : {"/user/oauth/", "/user/oauth", "/user/device/"}) {
        test_request request{method::post, path};
        request.field("Content-Type", "application/x-www-form-urlencoded").pending();
        http::response response;
        http::handler_state state;
        CHECK(http::advance(shop.oauth, request.view(), response, state, http::thread_kind::worker) == http::handle_step::done);
        CHECK(response.status() == status::method_not_allowed);
    }
}

#if !defined(TOLLGATE_TEST_NEW_IS_TAKEN)
TEST_CASE("a request that is judged by its head while memory is short is answered", "[oauth]") {
    entering_shop shop;
    authorization_server server{test_oauth_settings(), shop.store, shop.sessions};  // without an observer, which would allocate
    int failed = 0, awaited = 0;
    for (const char* type : {"application/json", "text/plain"}) {
        test_request request{method::post, "/user/oauth_token/"};
        request.field("Content-Type", type).basic(std::string{shop.app.client_id}, std::string{shop.app.client_secret}).pending();
        const auto& sent = request.view();
        for (long allowed = 0; allowed < 30; ++allowed) {
            http::response response;
            http::handler_state state;
            tollgate_test::allocations_left = allowed;
            const auto step = http::advance(server, sent, response, state, http::thread_kind::io);
            tollgate_test::allocations_left.reset();
            if (step == http::handle_step::needs_body) ++awaited;
            else if (step == http::handle_step::done && response.status() == status::internal_server_error) ++failed;
        }
    }
    CHECK(failed > 0);
    CHECK(awaited > 0);
}
#endif

TEST_CASE("a form for a page over the limit or of another type is refused before its body arrives", "[oauth][page]") {
    auto settings = test_oauth_settings();
    settings.oauth.page_requests = {1, std::chrono::hours{1}};
    entering_shop shop{std::move(settings)};
    for (const auto& [type, expected] : {std::pair{"text/plain", status::unsupported_media_type},
                                         std::pair{"application/x-www-form-urlencoded", status::too_many_requests}}) {
        test_request request{method::post, one_page};
        request.field("Content-Type", type).pending();
        http::response response;
        http::handler_state state;
        CHECK(http::advance(shop.oauth, request.view(), response, state, http::thread_kind::worker) == http::handle_step::done);
        CHECK(response.status() == expected);
    }
}

TEST_CASE("a client whose Authorization field is malformed is refused before its body arrives", "[oauth][token]") {
    entering_shop shop;
    const auto basic = [](const std::string& text) { return "Basic " + tollgate::detail::base64_encode(text); };
    const std::string id{shop.app.client_id}, secret{shop.app.client_secret};
    struct row {
        std::vector<std::string> lines;
        std::optional<status> refused;
    };
    for (const row& each : {row{{"Basic"}, status::unauthorized}, row{{"Basic ???"}, status::unauthorized},
                            row{{basic("no colon")}, status::unauthorized}, row{{"Bearer x"}, status::bad_request},
                            row{{basic(id + ":wrong")}, {}}, row{{basic(":" + secret)}, {}},  // the body may name others: 400
                            row{{basic(id + ":" + secret), basic(id + ":" + secret)}, status::bad_request},
                            row{{basic(id + ":" + secret)}, {}}, row{{basic(id + ":")}, {}}, row{{}, {}}}) {
        for (const char* path : {"/user/oauth_token/", "/user/oauth_revoke/", "/user/oauth_introspect/", "/user/oauth_device/"}) {
            CAPTURE(path, each.lines);
            test_request request{method::post, path};
            request.field("Content-Type", "application/json").pending();
            for (const auto& line : each.lines) request.field("Authorization", line);
            http::response response;
            http::handler_state state;
            const auto step = http::advance(shop.oauth, request.view(), response, state, http::thread_kind::worker);
            CHECK(step == (each.refused ? http::handle_step::done : http::handle_step::needs_body));
            if (each.refused) CHECK(response.status() == *each.refused);
            CHECK(!response.find("WWW-Authenticate").empty() == (each.refused == status::unauthorized));
        }
    }
}

TEST_CASE("a client's body of another type or with a coding is refused before it arrives", "[oauth][token]") {
    entering_shop shop;
    struct row {
        const char* type;
        const char* coding;
        bool chunked;
        std::optional<status> refused;
    };
    for (const row& each : {row{"text/plain", "", false, status::bad_request},
                            row{"text/plain", "", true, status::bad_request},
                            row{nullptr, "", false, status::bad_request},
                            row{"application/json", "gzip", false, status::unsupported_media_type},
                            row{"application/x-www-form-urlencoded", "br", false, status::unsupported_media_type},
                            row{"application/json", "", false, {}},
                            row{"application/json", "identity", false, {}},
                            row{"application/json; charset=utf-8", "", true, {}},
                            row{"Application/x-www-form-urlencoded;a=b", "", false, {}},
                            row{nullptr, "", true, {}}}) {  // it may turn out to be empty
        for (const char* path : {"/user/oauth_token/", "/user/oauth_revoke/", "/user/oauth_introspect/", "/user/oauth_device/"}) {
            CAPTURE(path, each.type, each.coding, each.chunked);
            test_request request{method::post, path};
            each.chunked ? request.pending_chunked() : request.pending();
            if (each.type != nullptr) request.field("Content-Type", each.type);
            request.field("Content-Encoding", each.coding);
            http::response response;
            http::handler_state state;
            const auto step = http::advance(shop.oauth, request.view(), response, state, http::thread_kind::worker);
            CHECK(step == (each.refused ? http::handle_step::done : http::handle_step::needs_body));
            if (each.refused) CHECK(response.status() == *each.refused);
            CHECK((response.find("Accept-Encoding") == "identity") == (each.refused == status::unsupported_media_type));
        }
    }
}

TEST_CASE("another site cannot sign a user in", "[oauth][one_page]") {
    entering_shop shop;
    const auto fields = sign_in_with(shop.open(shop.parameters(), "", one_page), "open sesame");
    for (const auto& [name, value] : {std::pair{"Sec-Fetch-Site", "cross-site"}, std::pair{"Origin", "https://evil.example"}})
        CHECK(shop.handle(test_request{method::post, one_page}
                              .field(name, value)
                              .body(to_form(fields), "application/x-www-form-urlencoded"))
                  .status() == status::forbidden);
    CHECK(shop.sessions.entered == 0);
}

TEST_CASE("a failure during sign-in is a page or is redirected to the application", "[oauth][one_page][failure]") {
    entering_shop shop;
    const auto page = shop.open(shop.parameters(), "", one_page);
    // The application, the password, the code.
    for (int nth = 1; nth <= 3; ++nth) {
        CAPTURE(nth);
        shop.store.faults.start(nth);
        const auto response = shop.submit(sign_in_with(page, "open sesame"), cookie_of(page), one_page);
        if (nth < 3) {
            CHECK(response.status() == status::service_unavailable);
            CHECK(response.find("Retry-After") == "2");
            CHECK(response.find("Set-Cookie").empty());
        } else {
            CHECK(returned(response, "error") == "temporarily_unavailable");
            CHECK(response.find("Set-Cookie").starts_with("site=new"));
        }
    }
    shop.store.faults.start(0);
    shop.random_works = false;
    CHECK(shop.open(shop.parameters(), "", one_page).status() == status::internal_server_error);
}

TEST_CASE("with external sessions the combined page is shown without sign-in", "[oauth][one_page]") {
    oauth_shop shop;
    CHECK(shop.open(shop.parameters(), "", one_page).find("Location").starts_with("/login?next=%2Fen%2Fitemplatform%2Foauth%2F%3F"));
    CHECK_FALSE(shop.consent(shop.parameters()).empty());
    const auto page = shop.open(shop.parameters(), "site=ann", one_page);
    CHECK(page.status() == status::ok);
    CHECK(returned(shop.submit(with(hidden_fields(page), {{"decision", "allow"}}), "site=ann", one_page), "code"));
    CHECK(shop.submit(with(sign_in_with(page, "open sesame"), {{"form_token", ""}}), "", one_page).status() == status::forbidden);
}

TEST_CASE("only password checks may block when the store does not", "[oauth]") {
    oauth_shop shop;
    entering_shop entering;
    CHECK_FALSE(shop.oauth.may_block());
    CHECK(entering.oauth.may_block());
    CHECK(needs_worker(entering.oauth, test_request{method::post, one_page}.view()));
    CHECK_FALSE(needs_worker(entering.oauth, test_request{method::get, one_page}.view()));
    CHECK_FALSE(needs_worker(entering.oauth, test_request{method::post, "/user/oauth_token/"}.view()));
}

TEST_CASE("requests without a store or limiter call never wait", "[oauth][metadata]") {
    store_elsewhere store;
    site_sessions sessions{&store.faults};
    limiter_elsewhere limiter;
    authorization_server oauth{test_oauth_settings(), store, sessions, default_policies().with_limiter(std::ref(limiter))};
    const char* metadata = "/.well-known/oauth-authorization-server";
    const auto blocks = [&](test_request&& request) { return needs_worker(oauth, request.view()); };

    for (const auto each : {method::get, method::head, method::options, method::post}) CHECK_FALSE(blocks(test_request{each, metadata}));
    CHECK_FALSE(blocks(test_request{method::get, "/nothing"}));
    for (const auto& style : oauth.mounts())
        if (style.ends_with(".css")) CHECK_FALSE(blocks(test_request{method::get, style}));
    for (const char* path : {"/user/oauth_token/", revocation_path, oauth_shop<>::page_path, one_page}) {
        CHECK(blocks(test_request{method::post, path}));
        CHECK(blocks(test_request{method::get, path}));
    }

    test_request request{method::get, metadata};
    const auto response = oauth.handle(request.view());
    CHECK(response.status() == status::ok);
    CHECK(response.find("X-RateLimit-Limit") == "60");
    CHECK(response.find("X-RateLimit-Remaining") == "60");
    http::response refused;
    oauth.handle(http::refusal{status::bad_request, "A sentence.", ip_address::v4(192, 0, 2, 1)}, refused);
    CHECK(refused.status() == status::bad_request);
    CHECK(refused.find("X-RateLimit-Remaining") == "60");
    CHECK(limiter.calls == 0);

    // A request without User-Agent is counted, and so may block.
    test_request nameless{method::get, metadata};
    nameless.without("User-Agent");
    CHECK(needs_worker(oauth, nameless.view()));
    CHECK(oauth.handle(nameless.view()).find("X-RateLimit-Remaining") == "7");
    CHECK(limiter.calls == 1);
    test_request wrong{method::post, "/user/oauth_token/"};
    CHECK(oauth.handle(wrong.view()).find("X-RateLimit-Remaining") == "7");
}

TEST_CASE("pages, passwords and the token endpoint have separate workers", "[oauth]") {
    using http::work_kind;
    struct row {
        method verb;
        const char* path;
        work_kind waits_for;
    };
    store_elsewhere store;
    site_sessions sessions{&store.faults};
    limiter_elsewhere limiter;
    authorization_server oauth{test_oauth_settings(), store, sessions, default_policies().with_limiter(std::ref(limiter))};
    for (const row& each : {row{method::get, oauth_shop<>::page_path, work_kind::pages},
                            row{method::post, oauth_shop<>::page_path, work_kind::forms},
                            row{method::get, one_page, work_kind::pages}, row{method::post, one_page, work_kind::sign_in},
                            row{method::post, "/user/oauth_token/", work_kind::token_endpoint},
                            row{method::post, revocation_path, work_kind::token_endpoint}}) {
        CAPTURE(each.path);
        test_request request{each.verb, each.path};
        http::response response;
        http::handler_state state;
        CHECK(oauth.advance(request.view(), response, state, http::thread_kind::io) == http::handle_step::needs_worker);
        CHECK(state.waits_for() == each.waits_for);
    }
}

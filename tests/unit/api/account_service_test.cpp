#include <tollgate/api/account_service.hpp>

#include <tollgate/api/sign_in.hpp>

#include <tollgate/account/issue_personal_token.hpp>
#include <tollgate/account/register_application.hpp>

#include <catch2/catch.hpp>
#include <support/page_shop.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;

namespace {

account_service_settings settings(std::string base_url = "https://shop.example/v1", std::string auth_url = {}) {
    return {.base_url = std::move(base_url),
            .auth_url = std::move(auth_url),
            .services = {{"sitesmaker", {"site.created"}}},
            .anonymous_quota = {2, std::chrono::hours{1}}};
}

struct parts {
    instant now = from_unix_seconds(1'700'000'000);
    std::uint64_t entropy = 0;
    bool random_works = true;
    shop_directory users;
    memory_store store;
    shop_sessions sessions;

    auto policies() {
        return default_policies().with_clock(fake_clock{&now}).with_random(counting_random{&entropy, &random_works});
    }
};

template <class Service>
http::status get(Service& service, std::string target) {
    test_request request{http::method::get, std::move(target)};
    http::response response;
    service.handle(request.view(), response);
    return response.status();
}

struct red_theme : plain_theme {};

/// Stores each request as `200 /docs/ id`.
struct request_list : no_observer {
    std::vector<std::string>* requests;
    void on_request(const request_record& record) const noexcept {
        requests->push_back(std::to_string(to_number(record.response.status())) + " " + std::string{record.context.route} + " " +
                            std::string{record.context.id});
    }
};

}  // namespace

TEST_CASE("the observer sees the requests for documentation", "[api][account_service]") {
    parts setup;
    std::vector<std::string> requests;
    request_list observer;
    observer.requests = &requests;
    account_service service{settings(), setup.users, setup.store, setup.sessions, setup.policies().with_observer(observer)};
    test_request page{http::method::get, "/docs/"}, missing{http::method::get, "/docs/nothing/"};
    const std::string id{service.handle(page.view()).find("X-Request-Id")};
    CHECK(id.size() == 32);
    (void)service.handle(missing.field("X-Request-Id", "job-7").view());
    CHECK(requests == std::vector<std::string>{"200 /docs/ " + id, "404  job-7"});
}

TEST_CASE("a service without sessions is the API with documentation, one with sessions adds OAuth and pages",
          "[api][account_service]") {
    parts setup;
    account_service api_alone{settings(), setup.users, setup.store, setup.policies()};
    account_service all{settings(), setup.users, setup.store, setup.sessions, setup.policies()};
    struct {
        const char* target;
        http::status api_alone;
        http::status all;
    } const rows[] = {
        {"/v1/openapi.json", http::status::ok, http::status::ok},
        {"/v1/testservice/get", http::status::ok, http::status::ok},
        {"/docs/", http::status::ok, http::status::ok},
        {"/docs/oauth/", http::status::not_found, http::status::ok},
        {"/.well-known/oauth-authorization-server", http::status::not_found, http::status::ok},
        {"/en/user/sign_in/", http::status::not_found, http::status::ok},
        {"/en/user/settings/tokens/", http::status::not_found, http::status::see_other},
        {"/en/nothing", http::status::not_found, http::status::not_found},
        {"/nothing", http::status::not_found, http::status::not_found},
    };
    for (const auto& row : rows) {
        CAPTURE(row.target);
        setup.now += std::chrono::hours{1};  // windows start again
        CHECK(get(api_alone, row.target) == row.api_alone);
        CHECK(get(all, row.target) == row.all);
    }
    test_request below_en{http::method::get, "/en/nothing"};
    CHECK(all.handle(below_en.view()).body().find("<html") != std::string::npos);
    CHECK(api_alone.handle(below_en.view()).body().find("<html") == std::string::npos);
}

TEST_CASE("errors link to a page that the service serves, or to the operator's own", "[api][account_service]") {
    parts setup;
    const auto link_in = [](http::response response) {
        const std::string_view body = response.body();
        const auto begin = body.find("\"documentation_url\":\"") + 21;
        return std::string{body.substr(begin, body.find('"', begin) - begin)};
    };
    test_request missing{http::method::get, "/v1/nowhere"};
    test_request token{http::method::post, "/user/oauth_token/"};
    for (const char* auth_url : {"", "https://shop.example", "https://shop.example/"}) {
        CAPTURE(auth_url);
        setup.now += std::chrono::hours{1};  // a new window
        account_service service{settings("https://shop.example/v1/", auth_url), setup.users, setup.store, setup.sessions, setup.policies()};
        for (auto* each : {&missing, &token}) {
            const auto link = link_in(service.handle(each->view()));
            CAPTURE(link);
            REQUIRE(link.starts_with("https://shop.example/docs/"));
            CHECK(get(service, link.substr(20)) == http::status::ok);
        }
    }
    {
        auto own = settings();
        own.documentation_url = "https://developers.example.com/accounts.html";
        account_service service{own, setup.users, setup.store, setup.sessions, setup.policies()};
        for (auto* each : {&missing, &token}) CHECK(link_in(service.handle(each->view())) == own.documentation_url);
        own.documentation_url = "https://developers.example.com/accounts/";
        account_service by_topic{own, setup.users, setup.store, setup.sessions, setup.policies()};
        CHECK(link_in(by_topic.handle(missing.view())) == "https://developers.example.com/accounts/errors/");
        CHECK(link_in(by_topic.handle(token.view())) == "https://developers.example.com/accounts/oauth/");
    }
    account_api alone{{.base_url = "https://api.example.com/v1/", .auth_url = "https://example.com"}, setup.users, setup.store,
                      account_routes()};
    CHECK(link_in(alone.handle(missing.view())) == "https://api.example.com/v1/openapi.json");
    CHECK(alone.openapi().find(R"("servers":[{"url":"https://api.example.com/v1"}])") != std::string::npos);
    account_service api_only{settings(), setup.users, setup.store, setup.policies()};
    test_request description{http::method::get, "/v1/openapi.json"};
    CHECK(api_only.handle(description.view()).body().find("oauth") == std::string::npos);
}

TEST_CASE("auth_url is the origin of base_url unless it is given", "[api][account_service]") {
    parts setup;
    struct {
        const char* base_url;
        const char* auth_url;
        const char* expected;
    } const rows[] = {
        {"https://api.example.com/v1", "", "https://api.example.com"},
        {"https://api.example.com:8443/a/b/v1", "", "https://api.example.com:8443"},
        {"http://[::1]:80/v1", "", "http://[::1]:80"},
        {"https://api.example.com", "", "https://api.example.com"},
        {"https://api.example.com/v1", "https://example.com", "https://example.com"},
        {"https://api.example.com/v1/", "https://example.com/people/", "https://example.com/people"},
    };
    for (const auto& row : rows) {
        const account_service service{settings(row.base_url, row.auth_url), setup.users, setup.store};
        CHECK(service.settings().auth_url == row.expected);
    }
    for (const char* wrong : {"", "api.example.com/v1", "ftp://api.example.com/v1", "/v1", "https://", "https://api.example.com/v1?a"}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS((account_service{settings(wrong), setup.users, setup.store}), std::invalid_argument);
        CHECK_THROWS_AS((account_service{settings(wrong), setup.users, setup.store, setup.sessions}), std::invalid_argument);
    }
    CHECK_THROWS_AS((account_service{settings("https://a.example/v1", "a.example"), setup.users, setup.store}), std::invalid_argument);
}

TEST_CASE("a base_url without a path leaves the pages and OAuth reachable", "[api][account_service]") {
    parts setup;
    account_service service{settings("https://api.example.com"), setup.users, setup.store, setup.sessions, setup.policies()};
    test_request sign_in{http::method::get, "/en/user/sign_in/"}, docs{http::method::get, "/docs/"},
        token{http::method::post, "/user/oauth_token/"}, balance{http::method::get, "/user/balance"};
    token.body("client_id=x", "application/x-www-form-urlencoded");
    CHECK(service.handle(sign_in.view()).status() == http::status::ok);
    CHECK(service.handle(docs.view()).status() == http::status::ok);
    CHECK_THAT(std::string{service.handle(token.view()).body()}, Catch::Contains("invalid_client"));
    CHECK(service.handle(balance.view()).status() == http::status::unauthorized);
}

TEST_CASE("an invalid service is refused with a message", "[api][account_service]") {
    parts setup;
    CHECK_THROWS_WITH((account_service{{.base_url = "https://a.example/v1", .services = {{"Shop", {"order.paid"}}}}, setup.users, setup.store}),
                      "tollgate: The service name 'Shop' is not 1 to 32 of a-z, 0-9 and '-'.");
    CHECK_NOTHROW(account_service{{.base_url = "https://a.example/v1", .services = {{"shop", {"order.paid"}}}}, setup.users, setup.store});
}

namespace {

route_table refund_routes(std::string_view scope) {
    const auto respond = [](api_call& call) -> result<void> {
        call.json().string("refunded");
        return {};
    };
    return route_table{on_get<"/parcel/refunds">(needs_scope(scope), respond, {.operation = "listRefunds"})};
}

}  // namespace

TEST_CASE("a scope of a service reaches routes, pages, documentation and metadata", "[api][account_service][scopes]") {
    parts setup;
    setup.users.people.insert({ann, {{ann, *decimal::parse("1"), "EUR"}, {}, {}}});
    auto own_settings = settings();
    own_settings.services = {{.name = "parcel", .events = {"parcel.sent"}, .scopes = {{"refund", "Refund <parcels>"}}}};
    account_service service{own_settings, setup.users, setup.store, setup.sessions, setup.policies(),
                            account_routes() + refund_routes("parcel:refund")};
    const auto page = [&](std::string target) {
        test_request request{http::method::get, std::move(target)};
        request.field("Cookie", "who=ann");
        return service.handle(request.view());
    };

    struct {
        const char* granted;
        http::status expected;
    } const rows[] = {
        {"parcel:refund", http::status::ok},
        {"parcel", http::status::ok},
        {"user:balance,parcel:refund", http::status::ok},
        {"parcel:read", http::status::forbidden},
        {"user:balance", http::status::forbidden},
    };
    for (const auto& row : rows) {
        CAPTURE(row.granted);
        const auto token = issue_personal_token(setup.store, {ann, "test", *scope_set::parse(row.granted)}, setup.now,
                                                counting_random{&setup.entropy, &setup.random_works});
        REQUIRE(token);
        test_request request{http::method::get, "/v1/parcel/refunds"};
        request.basic(token->username.view(), token->secret.view());
        const auto response = service.handle(request.view());
        CHECK(response.status() == row.expected);
        if (row.expected == http::status::forbidden)
            CHECK(response.find("WWW-Authenticate").find("scope=\"parcel:refund\"") != std::string_view::npos);
        test_request accounts{http::method::get, "/v1/parcel/accounts"};
        accounts.basic(token->username.view(), token->secret.view());
        const bool reads = std::string_view{row.granted} == "parcel" || std::string_view{row.granted} == "parcel:read";
        CHECK((service.handle(accounts.view()).status() == http::status::ok) == reads);
    }

    setup.now += std::chrono::hours{1};  // a new window
    CHECK(has(page("/v1/openapi.json"), R"("parcel:refund":"Refund <parcels>")"));
    CHECK(has(page("/docs/scopes/"), "<code>parcel:refund</code></td><td>Refund &lt;parcels&gt;</td>"));
    CHECK(has(page("/.well-known/oauth-authorization-server"), "\"parcel:refund\""));
    CHECK(has(page("/en/user/settings/tokens/"), "value=\"parcel:refund\""));
    CHECK(has(page("/en/user/settings/tokens/"), "Refund &lt;parcels&gt;"));

    const auto client = register_application(setup.store, {.owner = bob, .name = "Courier", .website = "https://courier.example"},
                                             setup.now, counting_random{&setup.entropy, &setup.random_works});
    REQUIRE(client);
    const auto consent = [&](std::string_view scope) {
        return page("/en/user/oauth/?response_type=code&redirect_uri=https%3A%2F%2Fcourier.example%2F&client_id=" +
                    std::string{client->client_id.view()} + "&scope=" + std::string{scope});
    };
    CHECK(has(consent("parcel:refund"), "Refund &lt;parcels&gt;"));
    CHECK(consent("parcel:refunds").find("Location").find("error=invalid_scope") != std::string_view::npos);
}

TEST_CASE("a route that needs a scope which no service declares is refused", "[api][account_service][scopes]") {
    parts setup;
    auto own_settings = settings();
    own_settings.services = {{.name = "parcel", .scopes = {{"refund", "Refund parcels"}}}};
    for (const char* declared : {"parcel:refund", "parcel", "parcel:read", "user:balance"})
        CHECK_NOTHROW(account_service{own_settings, setup.users, setup.store, setup.policies(), refund_routes(declared)});
    for (const char* unknown : {"parcel:refnd", "parcel:", "shop", "", "user"}) {
        CAPTURE(unknown);
        CHECK_THROWS_WITH((account_service{own_settings, setup.users, setup.store, setup.policies(), refund_routes(unknown)}),
                          "tollgate: GET /parcel/refunds needs the scope '" + std::string{unknown} +
                              "', which no service of the settings declares");
    }
}

TEST_CASE("all parts share the policies: OAuth requests count for the API", "[api][account_service]") {
    parts setup;
    window_limiter limiter;
    account_service service{settings(), setup.users, setup.store, setup.sessions, setup.policies().with_limiter(std::ref(limiter))};
    const auto wrong_client = [&] {
        test_request request{http::method::post, "/user/oauth_token/"};
        request.body("grant_type=authorization_code&code=x&client_id=x&client_secret=x", "application/x-www-form-urlencoded");
        return service.handle(request.view()).status();
    };
    CHECK(get(service, "/v1/testservice/get") == http::status::ok);
    CHECK(wrong_client() == http::status::unauthorized);
    CHECK(get(service, "/v1/testservice/get") == http::status::too_many_requests);
}

TEST_CASE("a request without User-Agent is refused everywhere", "[api][account_service]") {
    parts setup;
    account_service service{settings(), setup.users, setup.store, setup.sessions, setup.policies()};
    test_request expected{http::method::get, "/v1/testservice/get"};
    const auto refusal = service.handle(expected.without("User-Agent").view());
    CHECK(refusal.status() == http::status::forbidden);
    for (const char* target : {"/en/user/sign_in/", "/docs/"}) {
        CAPTURE(target);
        setup.now += std::chrono::hours{1};
        test_request request{http::method::get, target};
        const auto response = service.handle(request.without("User-Agent").view());
        CHECK(response.status() == refusal.status());
        CHECK(response.body() == refusal.body());
    }
}

TEST_CASE("a request with two User-Agent fields is refused everywhere", "[api][account_service]") {
    parts setup;
    account_service service{settings(), setup.users, setup.store, setup.sessions, setup.policies()};
    for (const char* target : {"/v1/testservice/get", "/en/user/sign_in/", "/docs/"}) {
        CAPTURE(target);
        setup.now += std::chrono::hours{1};
        test_request request{http::method::get, target};
        CHECK(service.handle(request.view()).status() == http::status::ok);
        CHECK(service.handle(request.field("User-Agent", "second").view()).status() == http::status::forbidden);
    }
}

namespace {

/// Accepts or refuses, as an operator decides while requests wait.
struct reloaded_rule {
    const bool* accepts_now;
    bool accepts(std::string_view) const noexcept { return *accepts_now; }
};

/// Waits for another machine.
struct remote_limiter {
    static constexpr bool blocking = true;
    limit_decision take(const limit_key& key, const quota& allowed, instant now) const noexcept { return peek(key, allowed, now); }
    limit_decision peek(const limit_key&, const quota& allowed, instant now) const noexcept {
        return {true, allowed.requests, allowed.requests, now + allowed.window};
    }
};

}  // namespace

TEST_CASE("the handler of a request stays the same while it waits, even if the rule for User-Agents changes",
          "[api][account_service]") {
    struct {
        bool accepted_first;
        http::status expected;
    } const rows[] = {{true, http::status::ok}, {false, http::status::forbidden}};
    for (const auto& row : rows) {
        CAPTURE(row.accepted_first);
        parts setup;
        bool accepts = row.accepted_first;
        account_service service{settings(), setup.users, setup.store, setup.sessions,
                                setup.policies().with_agent_rule(reloaded_rule{&accepts}).with_limiter(remote_limiter{})};
        test_request request{http::method::get, "/en/user/sign_in/"};
        http::handler_state state;
        http::response response;
        REQUIRE(service.advance(request.view(), response, state, http::thread_kind::io) == http::handle_step::needs_worker);
        accepts = !accepts;
        REQUIRE(service.advance(request.view(), response, state, http::thread_kind::worker) == http::handle_step::done);
        CHECK(response.status() == row.expected);
    }
}

TEST_CASE("a service on a site handles only its own paths", "[api][account_service]") {
    parts setup;
    account_service service{settings("https://shop.example/account/v1", "https://shop.example/account"), setup.users, setup.store,
                            setup.sessions, setup.policies()};
    account_service api_alone{settings("https://shop.example/api/v1", "https://shop.example/api"), setup.users, setup.store,
                              setup.policies()};
    struct {
        void handle(const http::request&, http::response& response) noexcept { response.set_status(http::status::no_content); }
        void handle(const http::refusal& refused, http::response& response) noexcept { response.set_status(refused.status); }
    } others;
    http::site site{http::mounted(service), http::mounted(api_alone), http::mounted("", others)};
    for (const char* served : {"/account/v1/testservice/get", "/account/docs/", "/account/en/user/sign_in/",
                               "/account/.well-known/oauth-authorization-server", "/account/en/nothing", "/account/v1/nothing",
                               "/api/v1/testservice/get", "/api/docs/"}) {
        CAPTURE(served);
        setup.now += std::chrono::hours{1};
        CHECK(get(site, served) != http::status::no_content);
    }
    for (const char* other : {"/", "/v1/testservice/get", "/docs/", "/accounts", "/api/en/user/sign_in/"}) {
        CAPTURE(other);
        CHECK(get(site, other) == http::status::no_content);
    }
}

TEST_CASE("a request for a host that is not allowed is refused everywhere", "[api][account_service]") {
    parts setup;
    auto own_settings = settings();
    own_settings.allowed_hosts = http::allowed_hosts{{"shop.example"}};
    account_service service{own_settings, setup.users, setup.store, setup.sessions, setup.policies()};
    for (const char* target : {"/v1/testservice/get", "/docs/", "/en/user/sign_in/"}) {
        CAPTURE(target);
        setup.now += std::chrono::hours{1};
        CHECK(get(service, target) == http::status::ok);
        test_request other_host{http::method::get, target};
        CHECK(service.handle(other_host.without("Host").field("Host", "evil.example").view()).status() ==
              http::status::misdirected_request);
        http::handler_state state;
        http::response response;
        CHECK(service.advance(other_host.view(), response, state, http::thread_kind::io) == http::handle_step::done);
        CHECK(response.status() == http::status::misdirected_request);
    }
}

TEST_CASE("what the server refuses is answered in the form of its path", "[api][account_service]") {
    parts setup;
    account_service service{settings(), setup.users, setup.store, setup.sessions, setup.policies()};
    struct row {
        const char* path;
        std::string_view begin;
    };
    for (const auto& [path, begin] :
         {row{"", "{"}, row{"/", "<!doctype html>"}, row{"/v1/user/balance", "{"}, row{"/nowhere", "{"}, row{"/user/oauth_token/", "{"},
          row{"/docs/a", "<!doctype html>"}, row{"/en/user/settings/tokens/", "<!doctype html>"}, row{"/en/user/oauth/", "<!doctype html>"},
          row{"/de/nowhere", "{"}}) {  // the pages have no such language
        CAPTURE(path);
        http::request read;
        read.target = http::target::from_path(path);
        http::response out;
        service.handle(http::refusal{.status = http::status::uri_too_long, .reason = "Too <long>.", .peer = {}, .partial = &read}, out);
        CHECK(out.status() == http::status::uri_too_long);
        CHECK(out.body().starts_with(begin));
        CHECK((out.body().find("Too <long>.") != std::string::npos) == (begin == "{"));
        CHECK_FALSE(out.find("X-Request-Id").empty());
    }
}

TEST_CASE("what is refused at the root is a page for browsers, and JSON for other programs", "[api][account_service]") {
    parts setup;
    account_service service{settings(), setup.users, setup.store, setup.sessions, setup.policies()};
    struct row {
        http::status status;
        const char* accepts;  // empty: the field is missing, or was not read
        bool is_page;
    };
    for (const row& each : {row{http::status::uri_too_long, "", true}, row{http::status::header_fields_too_large, "", false},
                            row{http::status::header_fields_too_large, "text/html,*/*;q=0.8", true}, row{http::status::bad_request, "", false},
                            row{http::status::bad_request, "application/json", false}, row{http::status::bad_request, "text/html", true}}) {
        CAPTURE(to_number(each.status), each.accepts);
        http::request read;
        read.target = http::target::from_path("/");
        if (*each.accepts != '\0') read.fields.add("Accept", each.accepts);
        http::response out;
        service.handle(http::refusal{.status = each.status, .reason = "A rule was broken.", .peer = {}, .partial = &read}, out);
        CHECK(out.status() == each.status);
        CHECK(out.body().starts_with(each.is_page ? "<!doctype html>" : "{"));
    }
}

TEST_CASE("settings reach their part", "[api][account_service]") {
    parts setup;
    auto own_settings = settings();
    own_settings.oauth.one_page_services = {"sitesmaker"};
    account_service one_page{own_settings, setup.users, setup.store, setup.sessions, setup.policies()};
    account_service none{settings(), setup.users, setup.store, setup.sessions, setup.policies(), account_routes(), red_theme{}};
    const std::string target = "/en/sitesmaker/oauth/?response_type=code&client_id=x";
    CHECK(get(one_page, target) != http::status::not_found);
    CHECK(get(none, target) == http::status::not_found);
    STATIC_REQUIRE_FALSE(std::is_copy_constructible_v<decltype(none)>);
    CHECK(none.may_block());
}

TEST_CASE("each response says that browsers must use TLS, if the service is reached over TLS", "[api][account_service]") {
    constexpr std::string_view field = "Strict-Transport-Security: max-age=31536000\r\n";
    for (const std::string scheme : {"https", "HTTPS", "http"}) {
        parts setup;
        auto configured = settings(scheme + "://shop.example/v1");
        configured.anonymous_quota.requests = 100;
        configured.allowed_hosts = http::allowed_hosts{{"shop.example"}};
        account_service service{configured, setup.users, setup.store, setup.sessions, setup.policies()};
        for (const char* target : {"/v1/testservice/get", "/v1/nothing", "/v1/user/balance", "/nothing", "/docs/", "/docs", "/docs/nothing/",
                                   "/docs/style.css", "/user/oauth_token/", "/.well-known/oauth-authorization-server",
                                   "/en/user/sign_in/", "/en/user/oauth/"}) {
            for (const bool is_known_host : {true, false}) {
                CAPTURE(scheme, target, is_known_host);
                test_request request{http::method::get, target};
                if (!is_known_host) request.without("Host").field("Host", "attacker.example");
                const auto response = service.handle(request.view());
                const std::string_view lines = response.field_block();
                const auto at = lines.find(field);
                CHECK((at != std::string_view::npos) == (scheme != "http"));
                if (at != std::string_view::npos) CHECK(lines.find(field, at + 1) == std::string_view::npos);
            }
        }
    }
}

namespace {

/// Only the credentials and tokens of a store.
struct token_part {
    static constexpr bool blocking = false;
    memory_store* store;
    result<std::optional<token_credential>> find_credential(const credential_key& key) { return store->find_credential(key); }
};

std::string list_of(const account_service& service) {
    std::string list;
    for (const service_part& each : service.parts()) {
        CHECK(each.missing.empty() == each.is_mounted);
        list.append(list.empty() ? "" : ", ").append(each.is_mounted ? "" : "no ").append(each.name);
    }
    return list;
}

}  // namespace

TEST_CASE("a service mounts what its store can serve, and says what it did not mount", "[api][account_service]") {
    parts setup;
    token_part tokens{&setup.store};
    account_service_settings generous = settings();
    generous.anonymous_quota = {10, std::chrono::hours{1}};
    account_service least{settings(), setup.users, tokens, setup.policies()};
    CHECK(list_of(least) == "API, documentation, no webhooks, no OAuth, no pages");
    account_service with_sessions{generous, setup.users, tokens, setup.sessions, setup.policies()};
    CHECK(list_of(with_sessions) == "API, documentation, no webhooks, no OAuth, no pages");
    CHECK(get(with_sessions, "/docs/") == http::status::ok);
    CHECK(get(with_sessions, "/docs/oauth/") == http::status::not_found);
    CHECK(get(with_sessions, "/en/user/sign_in/") == http::status::not_found);
    CHECK(get(with_sessions, "/v1/sitesmaker/1/hooks") == http::status::not_found);
    CHECK(get(with_sessions, "/v1/user/balance") == http::status::unauthorized);
    account_service api_alone{settings(), setup.users, setup.store, setup.policies()};
    CHECK(list_of(api_alone) == "API, documentation, webhooks, no OAuth, no pages");
    account_service all{settings(), setup.users, setup.store, setup.sessions, setup.policies()};
    CHECK(list_of(all) == "API, documentation, webhooks, OAuth, pages");
    CHECK_THROWS_AS((account_service{settings(), setup.users, tokens, setup.policies(), account_routes()}), std::invalid_argument);
}

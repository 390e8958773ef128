#include <tollgate/api/account_api.hpp>

#include <support/shop.hpp>

#include <catch2/catch.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

using namespace tollgate;
using namespace tollgate_test;
using http::method;
using http::status;

namespace {

/// An API with a route of its own that is a resource, and an authorization server beside it.
struct resource_shop {
    instant now = from_unix_seconds(1'700'000'000);
    std::uint64_t entropy = 0;
    bool random_works = true;
    shop_directory users = ann_and_bob();
    memory_store store;
    account_api api;

    explicit resource_shop(account_service_settings settings = with_authorization_server(), route_table own = tools())
        : api{std::move(settings), users, store,
              default_policies().with_clock(fake_clock{&now}).with_random(counting_random{&entropy, &random_works}),
              account_routes() + std::move(own)} {}

    static account_service_settings with_authorization_server() {
        auto settings = shop_settings();
        settings.has_authorization_server = true;
        return settings;
    }
    static route_table tools() {
        return route_table{on_post<"/tools">(any_caller, [](api_call& call) -> result<void> {
                   if (!call.covers("sitesmaker:read")) return insufficient_scope("sitesmaker:read");
                   call.response().body() = "{}";
                   return {};
               })}
            .as_resource("/tools", "user:balance");
    }

    std::string token(std::string_view scopes, const std::vector<std::string>& urls = {}) {
        resource_set resources;
        for (const auto& each : urls) resources.add(resource_id_of(each));
        const auto secret = tollgate::new_secret(secret_kind::access_token, counting_random{&entropy, &random_works}).value();
        CHECK(store.create_access_token({.user = ann,
                                         .application = application_id{1},
                                         .token_digest = digest_of(secret),
                                         .scopes = *scope_set::parse(scopes),
                                         .created_at = now,
                                         .expires_at = now + seconds{60},
                                         .resources = resources}));
        return std::string{secret.view()};
    }
    http::response get(const std::string& path) {
        test_request request{method::get, path};
        return api.handle(request.view());
    }
    http::response get_balance(std::string_view token) {
        test_request request{method::get, "/v1/user/balance"};
        return api.handle(request.bearer(token).view());
    }
    http::response post_tool(std::string_view token) {
        test_request request{method::post, "/v1/tools"};
        return api.handle(request.bearer(token).body("{}").view());
    }
};

std::string first_challenge(const http::response& response) { return std::string{response.find("WWW-Authenticate")}; }

const std::string api_metadata = "resource_metadata=\"https://shop.example/.well-known/oauth-protected-resource/v1\"";
const std::string tool_metadata = "resource_metadata=\"https://shop.example/.well-known/oauth-protected-resource/v1/tools\"";

}  // namespace

TEST_CASE("the metadata of a resource is at its path, inserted after the host", "[api][resource]") {
    resource_shop shop;
    const auto found = shop.get("/.well-known/oauth-protected-resource/v1");
    CHECK(found.status() == status::ok);
    CHECK(found.find("Content-Type") == "application/json");
    CHECK(found.find("X-RateLimit-Remaining") == "60");
    CHECK(found.body() == R"({"resource":"https://shop.example/v1","authorization_servers":["https://shop.example"],)"
                          R"("scopes_supported":["user:balance","sitesmaker:read","sitesmaker","itemplatform:read","itemplatform"],)"
                          R"("bearer_methods_supported":["header"],"resource_documentation":"https://shop.example/docs/"})");
    const auto tools = shop.get("/.well-known/oauth-protected-resource/v1/tools");
    CHECK(tools.status() == status::ok);
    CHECK(tools.body().find(R"("resource":"https://shop.example/v1/tools")") != std::string::npos);
    CHECK(tools.body().find(R"("scopes_supported":["user:balance"])") != std::string::npos);
    for (const char* path : {"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/",
                             "/.well-known/oauth-protected-resource/v1/", "/.well-known/oauth-protected-resource/v2",
                             "/.well-known/oauth-protected-resource/v1/other", "/v1/.well-known/oauth-protected-resource"}) {
        CAPTURE(path);
        CHECK(shop.get(path).status() == status::not_found);
    }
    CHECK(shop.api.metadata_paths().size() == 2);
    CHECK(shop.api.resource_urls() == std::vector<std::string>{"https://shop.example/v1", "https://shop.example/v1/tools"});
}

TEST_CASE("an API without a path has its metadata at the root", "[api][resource]") {
    auto settings = resource_shop::with_authorization_server();
    settings.base_url = "https://api.shop.example";
    resource_shop shop{std::move(settings)};
    test_request root{method::get, "/.well-known/oauth-protected-resource"};
    CHECK(shop.api.handle(root.without("Host").field("Host", "api.shop.example").view()).status() == status::ok);
}

TEST_CASE("metadata is read only, open to other origins, and not counted", "[api][resource]") {
    resource_shop shop;
    const auto send = [&](method how) {
        test_request request{how, "/.well-known/oauth-protected-resource/v1"};
        return shop.api.handle(request.field("Origin", "https://agent.example").view());
    };
    CHECK(send(method::get).find("Access-Control-Allow-Origin") == "*");
    CHECK(send(method::head).status() == status::ok);
    CHECK(send(method::options).status() == status::no_content);
    const auto posted = send(method::post);
    CHECK(posted.status() == status::method_not_allowed);
    CHECK(posted.find("Allow") == "GET, HEAD, OPTIONS");
    CHECK(posted.body().find("documentation_url") != std::string::npos);
    CHECK(shop.get("/v1/testservice/get").find("X-RateLimit-Remaining") == "59");
    test_request silent{method::get, "/.well-known/oauth-protected-resource/v1"};
    CHECK(shop.api.handle(silent.without("User-Agent").view()).status() == status::forbidden);
}

TEST_CASE("metadata belongs to the host of the API", "[api][resource]") {
    auto settings = resource_shop::with_authorization_server();
    settings.auth_url = "https://accounts.shop.example";
    resource_shop shop{std::move(settings)};
    for (const auto& [host, expected] : {std::pair{"shop.example", status::ok}, std::pair{"accounts.shop.example", status::not_found},
                                         std::pair{"127.0.0.1:8443", status::ok}}) {
        CAPTURE(host);
        test_request request{method::get, "/.well-known/oauth-protected-resource/v1"};
        CHECK(shop.api.handle(request.without("Host").field("Host", host).view()).status() == expected);
    }
}

TEST_CASE("a 401 names the metadata of the resource and the scope of the route", "[api][resource]") {
    resource_shop shop;
    CHECK(first_challenge(shop.get("/v1/user/balance")) == "Bearer realm=\"api\", scope=\"user:balance\", " + api_metadata);
    CHECK(first_challenge(shop.get("/v1/sitesmaker/accounts")) == "Bearer realm=\"api\", scope=\"sitesmaker:read\", " + api_metadata);
    CHECK(first_challenge(shop.get("/v1/testservice/auth")) == "Bearer realm=\"api\", " + api_metadata);
    CHECK(first_challenge(shop.get_balance("tga_no")) ==
          "Bearer realm=\"api\", error=\"invalid_token\", scope=\"user:balance\", " + api_metadata);
    CHECK(first_challenge(shop.post_tool("tga_no")) == "Bearer realm=\"api\", error=\"invalid_token\", " + tool_metadata);
    auto plain = make_shop();
    CHECK(first_challenge(plain.handle(test_request{method::get, "/v1/user/balance"})) == "Bearer realm=\"api\", scope=\"user:balance\"");
    CHECK(plain.handle(test_request{method::get, "/.well-known/oauth-protected-resource/v1"}).status() == status::not_found);
}

TEST_CASE("a 403 names the scope that an endpoint needs", "[api][resource]") {
    resource_shop shop;
    const auto refused = shop.post_tool(shop.token("user:balance"));
    CHECK(refused.status() == status::forbidden);
    CHECK(first_challenge(refused) == "Bearer realm=\"api\", error=\"insufficient_scope\", scope=\"sitesmaker:read\", " + tool_metadata);
    CHECK(shop.post_tool(shop.token("sitesmaker:read")).status() == status::ok);
    const auto balance = shop.get_balance(shop.token("sitesmaker"));
    CHECK(first_challenge(balance) == "Bearer realm=\"api\", error=\"insufficient_scope\", scope=\"user:balance\", " + api_metadata);
}

TEST_CASE("a token is honoured by its own resources alone", "[api][resource]") {
    resource_shop shop;
    const std::string api = "https://shop.example/v1", tools = "https://shop.example/v1/tools";
    struct row {
        std::vector<std::string> resources;
        status balance, tool;
    };
    for (const auto& [resources, balance, tool] :
         {row{{}, status::ok, status::ok}, row{{api}, status::ok, status::unauthorized}, row{{tools}, status::unauthorized, status::ok},
          row{{tools, api}, status::ok, status::ok}, row{{"https://other.example"}, status::unauthorized, status::unauthorized}}) {
        const auto token = shop.token("user:balance sitesmaker", resources);
        CHECK(shop.get_balance(token).status() == balance);
        CHECK(shop.post_tool(token).status() == tool);
    }
    CHECK(first_challenge(shop.post_tool(shop.token("sitesmaker", {api}))) ==
          "Bearer realm=\"api\", error=\"invalid_token\", " + tool_metadata);
}

TEST_CASE("a resource that cannot be served is refused at construction", "[api][resource]") {
    const auto endpoint = [](api_call&) -> result<void> { return {}; };
    const auto construct = [&](std::string_view path, std::string_view scopes) {
        resource_shop shop{resource_shop::with_authorization_server(),
                           route_table{on_get<"/tools/list">(any_caller, endpoint)}.as_resource(path, scopes)};
    };
    CHECK_NOTHROW(construct("/tools", ""));
    CHECK_NOTHROW(construct("/tools/list", "user:balance sitesmaker:read"));
    for (const auto& [path, scopes] : {std::pair{"tools", ""}, {"/tools/", ""}, {"/tool", ""}, {"/other", ""}, {"/tools", "shop:other"},
                                       {"/tools", "\x01"}}) {
        CAPTURE(path, scopes);
        CHECK_THROWS_AS(construct(path, scopes), std::invalid_argument);
    }
}

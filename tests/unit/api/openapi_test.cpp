#include <tollgate/api/detail/openapi.hpp>

#include <tollgate/api/routes.hpp>
#include <tollgate/http/json_body.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <string_view>

using namespace tollgate;
using json = nlohmann::json;

template <>
struct tollgate::path_parameter<"floor"> : tollgate::integer_parameter<-2, 30> {};
template <>
struct tollgate::query_parameter<"days"> : tollgate::integer_parameter<1, 366> {};
template <>
struct tollgate::query_parameter<"offset"> : tollgate::integer_parameter<INT64_MIN, INT64_MAX> {};

namespace {

account_service_settings shop_settings() {
    account_service_settings settings;
    settings.base_url = "https://api.example.com/v1";
    settings.auth_url = "https://example.com";
    settings.documentation_url = "https://example.com/docs/";
    settings.has_authorization_server = true;
    REQUIRE(settings.services.add("sitesmaker", {"site.created"}));
    REQUIRE(settings.services.add("itemplatform", {"item.created"}));
    return settings;
}

/// The target of a reference such as `#/components/headers/Allow`.
const json& follow(const json& document, const json& value) {
    if (!value.contains("$ref")) return value;
    const auto reference = value["$ref"].get<std::string>();
    REQUIRE(reference.starts_with("#/"));
    return document.at(json::json_pointer{reference.substr(1)});
}

void check_json_content(const json& document, const json& holder) {
    REQUIRE(holder["content"].size() == 1);
    const auto& schema = follow(document, holder["content"]["application/json"]["schema"]);
    REQUIRE(schema.is_object());
    CHECK(schema.contains("type"));
}

void check_parameters(std::string_view path, const json& operation) {
    std::set<std::string> in_path;
    for (auto begin = path.find('{'); begin != std::string_view::npos; begin = path.find('{', begin + 1))
        in_path.emplace(path.substr(begin + 1, path.find('}', begin) - begin - 1));
    std::set<std::string> described;
    for (const auto& each : operation.value("parameters", json::array())) {
        CHECK(each["in"] == "path");
        CHECK(each["required"] == true);
        CHECK(each["schema"].contains("type"));
        CHECK(described.insert(each["name"].get<std::string>()).second);
    }
    CHECK(described == in_path);
}

void check_responses(const json& document, const json& operation) {
    bool has_success = false;
    for (const auto& [status, referred] : operation["responses"].items()) {
        const auto& response = follow(document, referred);
        CHECK_FALSE(response["description"].get<std::string>().empty());
        for (const char* field : {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"})
            CHECK(follow(document, response["headers"][field]).contains("schema"));
        if (status.front() == '2') {
            has_success = true;
            if (response.contains("content")) check_json_content(document, response);
        } else {
            check_json_content(document, response);
            CHECK(response["content"]["application/json"]["schema"]["$ref"] == "#/components/schemas/Error");
        }
    }
    CHECK(has_success);
}

void check_security(const json& document, const json& operation) {
    const auto& schemes = document["components"]["securitySchemes"];
    for (const auto& alternative : operation["security"])
        for (const auto& [scheme, scopes] : alternative.items()) {
            CHECK(schemes.contains(scheme));
            if (!schemes.contains("oauth")) continue;
            const auto& known = schemes["oauth"]["flows"]["authorizationCode"]["scopes"];
            for (const auto& scope : scopes) CHECK(known.contains(scope.get<std::string>()));
        }
}

/// The requirements of OpenAPI 3.1 on every document of this API.
void check_document(const json& document) {
    CHECK(document["openapi"] == "3.1.0");
    CHECK(document["info"]["title"].is_string());
    CHECK(document["info"]["version"].is_string());
    CHECK(document["info"]["license"]["name"].is_string());
    CHECK(document["info"]["license"]["url"].is_string());
    std::set<std::string> operations;
    for (const auto& [path, item] : document["paths"].items()) {
        CHECK(path.front() == '/');
        for (const auto& [method, operation] : item.items()) {
            INFO(method << ' ' << path);
            CHECK(std::set<std::string>{"get", "post", "put", "patch", "delete"}.contains(method));
            if (operation.contains("operationId")) CHECK(operations.insert(operation["operationId"].get<std::string>()).second);
            check_parameters(path, operation);
            check_responses(document, operation);
            check_security(document, operation);
            if (operation.contains("requestBody")) check_json_content(document, operation["requestBody"]);
        }
    }
}

std::set<std::string> scopes_of(const json& operation, const char* scheme) {
    std::set<std::string> found;
    for (const auto& alternative : operation["security"])
        if (alternative.contains(scheme))
            for (const auto& scope : alternative[scheme]) found.insert(scope.get<std::string>());
    return found;
}

}  // namespace

TEST_CASE("the account API has a complete OpenAPI document") {
    const auto document = json::parse(tollgate::detail::make_openapi(shop_settings(), account_routes()));
    check_document(document);
    CHECK(document["info"]["version"] == "v1");
    CHECK(document["servers"][0]["url"] == "https://api.example.com/v1");

    std::size_t operations = 0;
    for (const auto& item : document["paths"]) operations += item.size();
    CHECK(operations == account_routes().size());
}

TEST_CASE("OpenAPI describes requests and responses of the hook endpoints") {
    const auto document = json::parse(tollgate::detail::make_openapi(shop_settings(), account_routes()));
    const auto& item = document["paths"]["/{service}/{account}/hooks"];
    CHECK(item.size() == 2);

    const auto& create = item["post"];
    CHECK(create["operationId"] == "createHook");
    CHECK(create["responses"].contains("201"));
    CHECK(create["responses"]["201"]["headers"].contains("X-Hook-Secret"));
    CHECK_FALSE(item["get"]["responses"]["200"]["headers"].contains("X-Hook-Secret"));
    CHECK(create["requestBody"].value("required", false));
    const auto& body = create["requestBody"]["content"]["application/json"];
    CHECK(body["schema"]["required"] == json({"event", "target_url"}));
    CHECK(body["example"]["event"] == "site.created");
    CHECK(document["paths"]["/testservice/post"]["post"]["requestBody"].value("required", false) == false);
    for (const char* status : {"400", "401", "403", "404", "405", "413", "415", "422", "429", "503", "default"})
        CHECK(create["responses"].contains(status));

    const auto& parameters = create["parameters"];
    CHECK(parameters[0]["schema"]["enum"] == json({"sitesmaker", "itemplatform"}));
    CHECK(parameters[1]["schema"]["format"] == "int64");

    const auto& remove = document["paths"]["/{service}/hooks/{hook}"]["delete"];
    CHECK(remove["responses"].contains("204"));
    CHECK_FALSE(remove["responses"]["204"].contains("content"));
    CHECK_FALSE(remove["responses"].contains("422"));
    CHECK_FALSE(remove.contains("requestBody"));
}

TEST_CASE("OpenAPI and the documentation have the bounds of an integer parameter") {
    const route_table routes{on_get<"/floors/{floor}/bookings/{hook}?{days}&{offset}&{word}">(
        open_to_all,
        [](api_call&, std::int64_t, hook_id, const std::optional<std::int64_t>&, const std::optional<std::int64_t>&,
           const std::optional<std::string>&) { return result<void>{}; },
        {.operation = "listBookings", .summary = "Lists bookings.", .success_body = {R"({"type":"object"})"}})};
    const auto document = json::parse(tollgate::detail::make_openapi(shop_settings(), routes));
    const auto& parameters = document["paths"]["/floors/{floor}/bookings/{hook}"]["get"]["parameters"];
    const auto schema = [&](std::size_t at) { return parameters[at]["schema"]; };
    CHECK(schema(0) == json{{"type", "integer"}, {"format", "int64"}, {"minimum", -2}, {"maximum", 30}});
    CHECK(schema(1) == json{{"type", "integer"}, {"format", "int64"}, {"minimum", 1}});
    CHECK(schema(2) == json{{"type", "integer"}, {"format", "int64"}, {"minimum", 1}, {"maximum", 366}});
    CHECK(schema(3) == json{{"type", "integer"}, {"format", "int64"}});
    CHECK(schema(4) == json{{"type", "string"}});
}

TEST_CASE("OpenAPI lists the scopes of each operation") {
    const auto document = json::parse(tollgate::detail::make_openapi(shop_settings(), account_routes()));
    const auto& paths = document["paths"];
    for (const char* scheme : {"personalToken", "oauth"}) {
        CHECK(scopes_of(paths["/user/balance"]["get"], scheme) == std::set<std::string>{"user:balance"});
        CHECK(scopes_of(paths["/{service}/accounts"]["get"], scheme) == std::set<std::string>{"sitesmaker:read", "itemplatform:read"});
    }
    CHECK(paths["/testservice/get"]["get"]["security"][0] == json::object());
    CHECK(paths["/testservice/auth"]["get"]["security"] == json::parse(R"([{"personalToken":[]},{"oauth":[]}])"));

    const auto& schemes = document["components"]["securitySchemes"];
    CHECK(schemes["personalToken"]["scheme"] == "basic");
    const auto& flow = schemes["oauth"]["flows"]["authorizationCode"];
    CHECK(flow["authorizationUrl"] == "https://example.com/en/user/oauth/");
    CHECK(flow["tokenUrl"] == "https://example.com/user/oauth_token/");
    CHECK(flow["scopes"].size() == 5);
}

TEST_CASE("OpenAPI names only what is mounted") {
    auto settings = shop_settings();
    const auto whole = json::parse(tollgate::detail::make_openapi(settings, account_routes()));
    CHECK(whole["externalDocs"]["url"] == "https://example.com/docs/");
    CHECK(whole["info"]["license"]["name"] == "MIT License");

    settings.has_authorization_server = false;
    settings.documentation_url = "https://developers.example.com/accounts.html";
    settings.license = {.name = "Proprietary", .url = "https://example.com/terms"};
    const auto text = tollgate::detail::make_openapi(settings, account_routes());
    const auto alone = json::parse(text);
    CHECK(alone["components"]["securitySchemes"].size() == 1);
    CHECK(alone["paths"]["/testservice/auth"]["get"]["security"] == json::parse(R"([{"personalToken":[]}])"));
    CHECK(scopes_of(alone["paths"]["/user/balance"]["get"], "personalToken") == std::set<std::string>{"user:balance"});
    CHECK(text.find("oauth") == std::string::npos);
    CHECK(text.find("https://example.com/docs") == std::string::npos);
    CHECK(alone["externalDocs"]["url"] == "https://developers.example.com/accounts.html");
    CHECK(alone["info"]["license"] == json::parse(R"({"name":"Proprietary","url":"https://example.com/terms"})"));

    settings.documentation_url = {};
    CHECK_FALSE(json::parse(tollgate::detail::make_openapi(settings, account_routes())).contains("externalDocs"));
}

TEST_CASE("each operation of the test service shows its own response") {
    const auto document = json::parse(tollgate::detail::make_openapi(shop_settings(), account_routes()));
    const auto example = [&](const char* path, const char* method) {
        return document["paths"][path][method]["responses"]["200"]["content"]["application/json"]["example"].dump();
    };
    CHECK(example("/testservice/get", "get") == R"(["hello","from","get"])");
    CHECK(example("/testservice/auth", "get") == R"(["hello","authenticated","caller"])");
    CHECK(example("/testservice/post", "post") == R"(["hello","from","post"])");
}

TEST_CASE("own routes are described like built-in ones") {
    const auto routes = account_routes() +
                        route_table{on_put<"/{service}/{account}/labels/{label}">(
                            write_of_service, [](auto&, const service&, account_id, std::string_view) -> result<void> { return {}; },
                            {.operation = "putLabel", .summary = "Says \"so\".", .success_status = http::status::no_content})};
    const auto document = json::parse(tollgate::detail::make_openapi(shop_settings(), routes));
    check_document(document);
    const auto& put = document["paths"]["/{service}/{account}/labels/{label}"]["put"];
    CHECK(put["summary"] == "Says \"so\".");
    CHECK(put["parameters"][2]["schema"]["type"] == "string");
    CHECK(scopes_of(put, "oauth") == std::set<std::string>{"sitesmaker", "itemplatform"});
}

TEST_CASE("an API without services has a document") {
    account_service_settings settings;
    settings.base_url = "http://127.0.0.1:8080/api/v2";
    settings.auth_url = "http://127.0.0.1:8080";
    const auto document = json::parse(tollgate::detail::make_openapi(settings, account_routes()));
    check_document(document);
    CHECK(document["info"]["version"] == "v2");
    CHECK_FALSE(document["paths"]["/{service}/accounts"]["get"]["parameters"][0]["schema"].contains("enum"));
    CHECK(document["paths"]["/{service}/accounts"]["get"]["security"].empty());

    for (const auto& [base_url, version] : {std::pair{"http://127.0.0.1:8080/api/v2/", "v2"}, std::pair{"https://api.example.com", "v1"}}) {
        settings.base_url = base_url;
        CHECK(json::parse(tollgate::detail::make_openapi(settings, account_routes()))["info"]["version"] == version);
    }
}

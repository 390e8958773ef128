#include <tollgate/pipeline/route_table.hpp>

#include <tollgate/api/account_api.hpp>

#include <support/shop.hpp>

#include <catch2/catch.hpp>

#include <memory>
#include <optional>
#include <string>

using namespace tollgate;
using namespace tollgate::test;
using http::method;
using http::status;

namespace {

// A parameter of one's own: three capital letters.
struct item_code {
    std::string letters;
};

}  // namespace

template <>
struct tollgate::path_parameter<"code"> {
    using type = item_code;
    static std::optional<item_code> parse(std::string_view text) {
        for (char c : text)
            if (c < 'A' || c > 'Z') return std::nullopt;
        return text.size() == 3 ? std::optional{item_code{std::string{text}}} : std::nullopt;
    }
};

TEST_CASE("own routes get authentication, limits, scopes and errors", "[pipeline][route_table]") {
    auto calls = std::make_shared<int>(0);
    auto own = route_table{
        on_get<"/{service}/items/{code}">(read_of_service,
                                          [calls](auto& call, const service& at, const item_code& code) -> result<void> {
                                              ++*calls;
                                              call.json().string(std::string{at.name.view()} + " " + code.letters);
                                              return {};
                                          }),
        on_put<"/{service}/items/{code}">(write_of_service,
                                          [](auto& call, const service&, const item_code&) -> result<void> {
                                              const auto body = call.body();
                                              if (!body) return body.error();
                                              if (body->find("name") == nullptr) return invalid("name is missing.");
                                              call.response().set_status(status::no_content);
                                              return {};
                                          }),
        on_get<"/notes/{name}">(open_to_all,
                                [](auto& call, std::string_view name) -> result<void> {
                                    call.response().add("Content-Type", "text/plain");
                                    call.response().body() = name;
                                    return {};
                                }),
    };
    shop_directory users;
    users.people.insert({ann, {{ann, *decimal::parse("1"), *currency_code::from("EUR")}, {}, {}}});
    memory_store store;
    account_api api{shop_settings(), users, store, default_policies(), account_routes() + own};

    const auto token = [&](std::string_view scopes) {
        static unsigned char next = 0;
        std::array<std::byte, 32> bytes{};
        bytes[0] = static_cast<std::byte>(++next);
        const auto made = make_secret(secret_kind::access_token, bytes);
        static_cast<void>(store.create_access_token(
            {ann, application_id{1}, digest_of(made), *scope_set::parse(scopes), instant{}, instant::max()}));
        return std::string{made.view()};
    };
    const auto ask = [&](sent&& request) { return api.handle(request.asked()); };

    const auto found = ask(std::move(sent{method::get, "/v1/sitesmaker/items/ABC"}.bearer(token("sitesmaker:read"))));
    CHECK(found.body() == "\"sitesmaker ABC\"");
    CHECK(found.find("X-RateLimit-Limit") == "1000");
    CHECK(*calls == 1);
    CHECK(ask(sent{method::get, "/v1/sitesmaker/items/ABC"}).status() == status::unauthorized);
    CHECK(ask(std::move(sent{method::get, "/v1/itemplatform/items/ABC"}.bearer(token("sitesmaker:read")))).status() == status::forbidden);
    CHECK(ask(std::move(sent{method::get, "/v1/sitesmaker/items/abc"}.bearer(token("sitesmaker:read")))).status() == status::not_found);
    CHECK(ask(std::move(sent{method::get, "/v1/nowhere/items/ABC"}.bearer(token("sitesmaker:read")))).status() == status::not_found);
    CHECK(*calls == 1);

    const auto put = [&](std::string_view scopes, std::string body) {
        return ask(std::move(sent{method::put, "/v1/sitesmaker/items/ABC"}.bearer(token(scopes)).body(std::move(body))));
    };
    CHECK(put("sitesmaker:read", "{}").status() == status::forbidden);
    CHECK(put("sitesmaker", "{").status() == status::bad_request);
    CHECK(put("sitesmaker", "{}").status() == status::unprocessable_content);
    CHECK(put("sitesmaker", "{\"name\":1}").status() == status::no_content);

    const auto note = ask(sent{method::get, "/v1/notes/hello"});
    CHECK(note.body() == "hello");
    CHECK(note.find("Content-Type") == "text/plain");
    CHECK(ask(sent{method::delete_, "/v1/sitesmaker/items/ABC"}).find("Allow") == "GET, HEAD, PUT, OPTIONS");
    CHECK(api.openapi().find("/{service}/items/{code}") != std::string::npos);
}

TEST_CASE("tables are concatenated", "[pipeline][route_table]") {
    const auto paths = [](const route_table& table) {
        std::string list;
        for (const route& each : table) list.append(to_text(each.method)).append(" ").append(each.path).append("\n");
        return list;
    };
    CHECK(paths(balance_routes()) == "GET /user/balance\n");
    CHECK(paths(account_list_routes()) == "GET /{service}/accounts\n");
    CHECK(paths(openapi_routes()) == "GET /openapi.json\n");
    const auto parts = balance_routes() + account_list_routes() + hook_routes() + demonstration_routes() + openapi_routes();
    CHECK(paths(account_routes()) == paths(parts));
    CHECK(parts.size() == 9);

    shop_directory users;
    memory_store store;
    account_api without_hooks{shop_settings(), users, store, default_policies(), balance_routes()};
    CHECK(without_hooks.handle(sent{method::get, "/v1/user/balance"}.asked()).status() == status::unauthorized);
    CHECK(without_hooks.handle(sent{method::get, "/v1/testservice/get"}.asked()).status() == status::not_found);
    CHECK(without_hooks.openapi().find("listHooks") == std::string::npos);
}

TEST_CASE("duplicate routes are refused", "[pipeline][route_table]") {
    const auto endpoint = [](auto&, auto&&...) -> result<void> { return {}; };
    shop_directory users;
    memory_store store;
    const auto make = [&](const route_table& more) {
        account_api{shop_settings(), users, store, default_policies(), account_routes() + more};
    };
    CHECK_NOTHROW(make(route_table{on_put<"/{service}/{account}/hooks">(read_of_service, endpoint)}));
    CHECK_NOTHROW(make(route_table{on_get<"/{service}/{account}">(read_of_service, endpoint)}));
    CHECK_THROWS_WITH(make(route_table{on_get<"/{service}/{account}/hooks">(read_of_service, endpoint)}),
                      "tollgate: two routes for GET /{service}/{account}/hooks");
    CHECK_THROWS_WITH(make(route_table{on_get<"/{service}/{shop}/hooks">(read_of_service, endpoint)}),
                      "tollgate: two routes for GET /{service}/{shop}/hooks");
}

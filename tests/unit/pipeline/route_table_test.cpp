#include <tollgate/pipeline/route_table.hpp>

#include <tollgate/api/account_api.hpp>
#include <tollgate/api/routes.hpp>
#include <tollgate/http/json_body.hpp>
#include <tollgate/store/memory_tokens.hpp>

#include <support/shop.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

using namespace tollgate;
using namespace tollgate_test;
using http::method;
using http::status;

namespace {

// A custom parameter type: three capital letters.
struct item_code {
    std::string letters;
};

struct slow_store : memory_store {
    static constexpr bool blocking = true;
};

struct hooks_reader {
    static constexpr bool needs_hooks = true;
    result<void> operator()(api_call&, const std::optional<std::string>&) const { return {}; }
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

template <>
struct tollgate::query_parameter<"page"> : tollgate::integer_parameter<1, 1000> {};
template <>
struct tollgate::query_parameter<"code"> : tollgate::path_parameter<"code"> {};

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
                                              const auto body = http::parse_json_object(call.request().body);
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
    users.people.insert({ann, {{ann, *decimal::parse("1"), "EUR"}, {}, {}}});
    memory_store store;
    account_api api{shop_settings(), users, store, account_routes() + own};

    const auto token = [&](std::string_view scopes) {
        static unsigned char next = 0;
        std::array<std::byte, 32> bytes{};
        bytes[0] = static_cast<std::byte>(++next);
        const auto secret = make_secret(secret_kind::access_token, bytes);
        static_cast<void>(store.create_access_token(
            {ann, application_id{1}, digest_of(secret), *scope_set::parse(scopes), instant{}, instant::max()}));
        return std::string{secret.view()};
    };
    const auto send = [&](test_request&& request) { return api.handle(request.view()); };

    const auto response = send(std::move(test_request{method::get, "/v1/sitesmaker/items/ABC"}.bearer(token("sitesmaker:read"))));
    CHECK(response.body() == "\"sitesmaker ABC\"");
    CHECK(response.find("X-RateLimit-Limit") == "1000");
    CHECK(*calls == 1);
    CHECK(send(test_request{method::get, "/v1/sitesmaker/items/ABC"}).status() == status::unauthorized);
    CHECK(send(std::move(test_request{method::get, "/v1/itemplatform/items/ABC"}.bearer(token("sitesmaker:read")))).status() ==
          status::forbidden);
    CHECK(send(std::move(test_request{method::get, "/v1/sitesmaker/items/abc"}.bearer(token("sitesmaker:read")))).status() ==
          status::not_found);
    CHECK(send(std::move(test_request{method::get, "/v1/nowhere/items/ABC"}.bearer(token("sitesmaker:read")))).status() ==
          status::not_found);
    CHECK(*calls == 1);

    const auto put = [&](std::string_view scopes, std::string body) {
        return send(std::move(test_request{method::put, "/v1/sitesmaker/items/ABC"}.bearer(token(scopes)).body(std::move(body))));
    };
    CHECK(put("sitesmaker:read", "{}").status() == status::forbidden);
    CHECK(put("sitesmaker", "{").status() == status::bad_request);
    CHECK(put("sitesmaker", "{}").status() == status::unprocessable_content);
    CHECK(put("sitesmaker", "{\"name\":1}").status() == status::no_content);

    const auto note = send(test_request{method::get, "/v1/notes/hello"});
    CHECK(note.body() == "hello");
    CHECK(note.find("Content-Type") == "text/plain");
    CHECK(send(test_request{method::delete_, "/v1/sitesmaker/items/ABC"}).find("Allow") == "GET, HEAD, PUT, OPTIONS");
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
    account_api without_hooks{shop_settings(), users, store, balance_routes() + openapi_routes()};
    CHECK(without_hooks.handle(test_request{method::get, "/v1/user/balance"}.view()).status() == status::unauthorized);
    CHECK(without_hooks.handle(test_request{method::get, "/v1/testservice/get"}.view()).status() == status::not_found);
    CHECK(without_hooks.openapi().find("getBalance") != std::string::npos);
    CHECK(without_hooks.openapi().find("listHooks") == std::string::npos);
    CHECK(account_api{shop_settings(), users, store, balance_routes()}.openapi().empty());
}

TEST_CASE("routes of webhooks need a store that has them", "[pipeline][route_table]") {
    shop_directory users;
    memory_token_store store;
    account_api api{shop_settings(), users, store, balance_routes() + account_list_routes() + demonstration_routes() + openapi_routes()};
    CHECK(api.handle(test_request{method::get, "/v1/testservice/get"}.view()).status() == status::ok);
    CHECK_THROWS_WITH((account_api{shop_settings(), users, store, account_routes()}),
                      "tollgate: GET /{service}/{account}/hooks needs a hook_store; read tollgate/contract/hook_store.hpp");
    const auto with_query = [] { return route_table{on_get<"/mine?{q}">(open_to_all, hooks_reader{})}; };
    CHECK_THROWS_WITH((account_api{shop_settings(), users, store, with_query()}),
                      "tollgate: GET /mine needs a hook_store; read tollgate/contract/hook_store.hpp");
    memory_store with_hooks;
    CHECK_NOTHROW((account_api{shop_settings(), users, with_hooks, with_query()}));
}

TEST_CASE("duplicate routes are refused", "[pipeline][route_table]") {
    const auto endpoint = [](auto&, auto&&...) -> result<void> { return {}; };
    shop_directory users;
    memory_store store;
    const auto make = [&](const route_table& more) {
        account_api{shop_settings(), users, store, account_routes() + more};
    };
    CHECK_NOTHROW(make(route_table{on_put<"/{service}/{account}/hooks">(read_of_service, endpoint)}));
    CHECK_NOTHROW(make(route_table{on_get<"/{service}/{account}">(read_of_service, endpoint)}));
    CHECK_THROWS_WITH(make(route_table{on_get<"/{service}/{account}/hooks">(read_of_service, endpoint)}),
                      "tollgate: two routes for GET /{service}/{account}/hooks");
    CHECK_THROWS_WITH(make(route_table{on_get<"/{service}/{shop}/hooks">(read_of_service, endpoint)}),
                      "tollgate: two routes for GET /{service}/{shop}/hooks");
}

TEST_CASE("query parameters have the types of their names", "[pipeline][route_table]") {
    auto calls = std::make_shared<int>(0);
    const auto list = [calls](api_call& call, std::string_view name, const std::optional<std::int64_t>& page,
                              const std::optional<item_code>& code, const std::optional<std::string>& q) -> result<void> {
        ++*calls;
        auto text = std::string{name} + " page " + (page ? std::to_string(*page) : "none") + " code " + (code ? code->letters : "none") +
                    " q " + (q ? "'" + *q + "'" : "none");
        call.response().body() = text;
        return {};
    };
    shop_directory users;
    memory_store store;
    account_api api{shop_settings(), users, store,
                    route_table{on_get<"/notes/{name}?{page}&{code}&{q}">(open_to_all, list, {.operation = "listNotes"})} +
                        openapi_routes()};
    struct {
        const char* query;
        status expected;
        const char* body;  // or a part of it
    } const rows[] = {
        {"", status::ok, "a page none code none q none"},
        {"?", status::ok, "a page none code none q none"},
        {"?page=3", status::ok, "a page 3 code none q none"},
        {"?q=x%20y+z&code=ABC&page=1000&other=1&other=2", status::ok, "a page 1000 code ABC q 'x y z'"},
        {"?q", status::ok, "q ''"},
        {"?q=", status::ok, "q ''"},
        {"?page=0", status::unprocessable_content, "page in the query must be an integer from 1 to 1000."},
        {"?page=1001", status::unprocessable_content, "page in the query"},
        {"?page=", status::unprocessable_content, "page in the query"},
        {"?page=03", status::unprocessable_content, "page in the query"},
        {"?page=1x", status::unprocessable_content, "page in the query"},
        {"?page=99999999999999999999", status::unprocessable_content, "page in the query"},
        {"?code=abc", status::unprocessable_content, "code in the query has an invalid value."},
        {"?page=1&page=1", status::bad_request, "more than one page"},
        {"?q=%zz", status::bad_request, "cannot be decoded"},
        {"?q=%ff", status::bad_request, "cannot be decoded"},
    };
    int accepted = 0;
    for (const auto& row : rows) {
        CAPTURE(row.query);
        const auto response = api.handle(test_request{method::get, "/v1/notes/a" + std::string{row.query}}.view());
        CHECK(response.status() == row.expected);
        CHECK_THAT(std::string{response.body()}, Catch::Contains(row.body));
        accepted += row.expected == status::ok ? 1 : 0;
    }
    CHECK(*calls == accepted);
    CHECK(api.table()[0].path == "/notes/{name}");
    CHECK(api.openapi().find(R"("/notes/{name}":{)") != std::string::npos);
    CHECK(api.openapi().find(R"({"name":"page","in":"query","required":false,"schema":{"type":"integer","format":"int64",)"
                             R"("minimum":1,"maximum":1000}})") != std::string::npos);
    CHECK(api.openapi().find(R"({"name":"q","in":"query","required":false,"schema":{"type":"string"}})") != std::string::npos);

    const auto same_path = [](api_call&) -> result<void> { return {}; };
    CHECK_THROWS_WITH((account_api{shop_settings(), users, store,
                                   route_table{on_get<"/items?{q}">(open_to_all, [](api_call&, const auto&) -> result<void> { return {}; })} +
                                       route_table{on_get<"/items">(open_to_all, same_path)}}),
                      "tollgate: two routes for GET /items");
}

TEST_CASE("a route can have query parameters of its own", "[pipeline][route_table]") {
    using own = parameters<named<"page", described<integer_parameter<7, 9>, "Seven to nine.">>, named<"state", choice_parameter<"open", "paid">>>;
    const auto echo = [](api_call& call, const std::optional<std::int64_t>& page, const std::optional<std::string>& state,
                         const std::optional<std::string>& q) -> result<void> {
        call.response().body() = std::to_string(page.value_or(0)) + state.value_or("-") + q.value_or("-");
        return {};
    };
    shop_directory users = ann_and_bob();
    memory_store store;
    account_api api{shop_settings(), users, store,
                    openapi_routes() + route_table{on_get<"/own?{page}&{state}&{q}", own>(open_to_all, echo, {.description = "Long.", .tag = "Own"}),
                                                   on_get<"/notes?{page}">(open_to_all, [](api_call& call, const auto& page) -> result<void> {
                                                       call.response().body() = std::to_string(page.value_or(0));
                                                       return {};
                                                   })}};
    struct row {
        const char* target;
        status expected;
        const char* body;
    };
    for (const auto& [target, expected, body] : {
             row{"/v1/own", status::ok, "0--"},
             row{"/v1/own?page=9&state=paid&q=x", status::ok, "9paidx"},
             row{"/v1/own?page=10", status::unprocessable_content, "an integer from 7 to 9"},
             row{"/v1/own?state=Paid", status::unprocessable_content, "state in the query must be one of open, paid."},
             row{"/v1/own?state=", status::unprocessable_content, "one of open, paid"},
             row{"/v1/notes?page=10", status::ok, "10"},  // the parameter of the program
         }) {
        CAPTURE(target);
        const auto response = api.handle(test_request{method::get, target}.view());
        CHECK(response.status() == expected);
        CHECK(response.body().find(body) != std::string::npos);
    }
    for (const char* part : {R"({"name":"page","in":"query","required":false,"description":"Seven to nine.","schema":{"type":"integer",)",
                             R"("minimum":7,"maximum":9})", R"("schema":{"type":"string","enum":["open","paid"]})", R"("description":"Long.")",
                             R"("tags":["Own"])"}) {
        CAPTURE(part);
        CHECK(api.openapi().find(part) != std::string::npos);
    }
}

TEST_CASE("an endpoint with query parameters can respond without waiting, and a refusal does not wait", "[pipeline][route_table]") {
    struct cached_notes {
        std::optional<result<void>> respond_without_waiting(api_call& call, const std::optional<std::int64_t>& page) const {
            if (!page) return std::nullopt;
            call.response().body() = "cached";
            return result<void>{};
        }
        result<void> operator()(api_call& call, const std::optional<std::int64_t>&) const {
            call.response().body() = "queried";
            return {};
        }
    };
    shop_directory users;
    slow_store store;
    account_api api{shop_settings(), users, store, route_table{on_get<"/notes?{page}">(open_to_all, cached_notes{})}};
    struct {
        const char* query;
        http::handle_step expected;
        status expected_status;
    } const rows[] = {
        {"?page=3", http::handle_step::done, status::ok},
        {"?page=0", http::handle_step::done, status::unprocessable_content},
        {"", http::handle_step::needs_worker, status::ok},
    };
    for (const auto& row : rows) {
        CAPTURE(row.query);
        test_request request{method::get, "/v1/notes" + std::string{row.query}};
        http::response response;
        http::handler_state state;
        CHECK(api.advance(request.view(), response, state, http::thread_kind::io) == row.expected);
        CHECK(response.status() == row.expected_status);
        CHECK(response.body().empty() == (row.expected == http::handle_step::needs_worker));
        state.clear();
    }
}

TEST_CASE("an endpoint that has waited reads the path where it is now", "[pipeline][route_table]") {
    shop_directory users;
    slow_store store;
    std::string read;
    const auto note = [&read](auto&, const item_code& code) -> result<void> {
        read = code.letters;
        return {};
    };
    account_api api{shop_settings(), users, store, route_table{on_get<"/items/{code}">(open_to_all, note)}};
    std::string path = "/v1/items/ABC";
    const std::string moved_path = path;
    http::request request;
    request.peer = ip_address::v4(192, 0, 2, 1);
    request.fields.add("User-Agent", "test");
    request.target = http::target::from(path);
    http::response response;
    http::handler_state state;
    REQUIRE(api.advance(request, response, state, http::thread_kind::io) == http::handle_step::needs_worker);

    path.assign(path.size(), 'X');
    request.target = http::target::from(moved_path);
    REQUIRE(api.advance(request, response, state, http::thread_kind::worker) == http::handle_step::done);
    CHECK(response.status() == status::ok);
    CHECK(read == "ABC");
}

TEST_CASE("an integer parameter has one spelling and its bounds", "[pipeline][route_table]") {
    using any = integer_parameter<(std::numeric_limits<std::int64_t>::min)(), (std::numeric_limits<std::int64_t>::max)()>;
    CHECK(any::parse("0") == 0);
    CHECK(any::parse("-5") == -5);
    CHECK(any::parse("9223372036854775807") == (std::numeric_limits<std::int64_t>::max)());
    CHECK(any::parse("-9223372036854775807") == -(std::numeric_limits<std::int64_t>::max)());
    CHECK(any::parse("-9223372036854775808") == (std::numeric_limits<std::int64_t>::min)());
    for (const char* bad : {"", "-", "+1", "01", "-0", "-01", "1.0", "1 ", " 1", "0x1", "9223372036854775808", "-9223372036854775809", "99999999999999999999"}) {
        CAPTURE(bad);
        CHECK_FALSE(any::parse(bad));
    }
    CHECK(integer_parameter<-1, 1>::parse("1") == 1);
    CHECK(integer_parameter<-1, 1>::parse("-1") == -1);
    CHECK_FALSE(integer_parameter<-1, 1>::parse("2"));
    CHECK_FALSE(integer_parameter<-1, 1>::parse("-2"));
}

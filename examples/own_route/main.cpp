// Own routes in the same table as the library's get authentication, rate limits, scopes, errors, OpenAPI and
// documentation. The program sends itself requests and returns 0 if the responses are right.
#include <tollgate/tollgate.hpp>

#include <iostream>
#include <string>

using namespace tollgate;

struct shop_directory {
    result<balance> balance_of(user_id user) { return balance{user, "12.50", *currency_code::from("EUR")}; }
    result<std::vector<account>> accounts_of(user_id user, std::string_view service) {
        if (user != user_id{1} || service != "shop") return std::vector<account>{};
        return std::vector{account{account_id{1}, "Corner shop"}};
    }
    result<std::optional<quota>> quota_of(user_id) { return std::optional<quota>{}; }
};

// [parameter]
using invoice_id = id<struct invoice_tag>;

/// The type of `{invoice}` in a path; other text is a 404 before the endpoint is called.
template <>
struct tollgate::path_parameter<"invoice"> {
    using type = invoice_id;
    static std::optional<invoice_id> parse(std::string_view text) { return invoice_id::parse(text); }
};
// [/parameter]

// [routes]
auto shop_routes() {
    return route_table{
        on_get<"/{service}/{account}/invoices/{invoice}">(
            read_of_service,
            [](api_call& call, const service& at, account_id of, invoice_id which) -> result<void> {
                if (auto theirs = require_account(call.users(), call.caller().user, {at.name, of}); !theirs) return theirs;
                auto json = call.json();
                json.begin_object();
                json.member("id").integer(which.value());
                json.member("total").number("99.90");
                json.end_object();
                return {};
            },
            {.operation = "getInvoice",
             .summary = "An invoice of the account.",
             .success_body = {R"({"type":"object"})", R"({"id": 7, "total": 99.90})"}}),
    };
}
// [/routes]

int main() {
    api_settings settings{.base_url = "https://api.example.com/v1", .auth_url = "https://example.com",
                          .services = {{"shop", {"order.paid"}}}};
    shop_directory users;
    memory_store store;
    // [api]
    account_api api{settings, users, store, default_policies(), account_routes() + shop_routes()};
    // [/api]

    const auto scopes = *scope_set::parse("shop:read");
    const auto token = issue_personal_token(store, {user_id{1}, "own_route", scopes}, system_clock{}.now());
    if (!token) return 1;
    const auto credentials =
        "Basic " + base64_encode(std::string{token->username.view()}.append(":").append(token->secret.view()));

    struct {
        std::string_view path;
        bool with_token;
        http::status expected;
    } const cases[] = {
        {"/v1/shop/1/invoices/7", true, http::status::ok},
        {"/v1/shop/1/invoices/7", false, http::status::unauthorized},
        {"/v1/shop/2/invoices/7", true, http::status::not_found},   // another user's account
        {"/v1/shop/1/invoices/07", true, http::status::not_found},  // not an invoice_id
    };
    bool right = api.openapi().find("getInvoice") != std::string::npos;
    for (const auto& each : cases) {
        http::request asked;
        asked.target = http::target::from(each.path);
        asked.fields.add("User-Agent", "own_route");
        if (each.with_token) asked.fields.add("Authorization", credentials);
        const auto answer = api.handle(asked);
        std::cout << each.path << ": " << http::to_number(answer.status()) << ' ' << answer.body() << '\n';
        right = right && answer.status() == each.expected;
    }
    return right ? 0 : 1;
}

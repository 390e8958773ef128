// Own routes in the same table as the library's get authentication, rate limits, scopes, errors, OpenAPI and
// documentation. The program sends itself requests and returns 0 if the responses are right.
#include <tollgate/tollgate.hpp>

#include <iostream>
#include <string>

using namespace tollgate;

struct shop_directory {
    static constexpr bool blocking = false;  // answers at once
    result<balance> balance_of(user_id user) { return balance{user, "12.50", "EUR"}; }
    result<std::vector<account>> accounts_of(user_id user, std::string_view service) {
        if (user != user_id{1} || service != "shop") return {};
        return std::vector{account{account_id{1}, "Corner shop"}};
    }
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

// [query]
/// The types of `?page=` and `?status=`; other text is a 422 before the endpoint is called.
using invoice_query = parameters<named<"page", described<integer_parameter<1, 1000>, "The page, 50 invoices each.">>,
                                 named<"status", choice_parameter<"open", "paid">>>;
// [/query]

// [routes]
auto shop_routes() {
    return route_table{
        on_get<"/{service}/{account}/invoices/{invoice}">(
            read_of_service,
            [](api_call& call, const service& service, account_id account, invoice_id invoice) -> result<void> {
                if (auto allowed = require_account(call.users(), call.caller().user, {service.name, account}); !allowed) return allowed;
                auto json = call.json();
                json.begin_object();
                json.member("id").integer(invoice.value());
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

// [list]
auto list_route() {
    return route_table{
        on_get<"/{service}/{account}/invoices?{page}&{status}", invoice_query>(
            read_of_service,
            [](api_call& call, const service& service, account_id account, const std::optional<std::int64_t>& page,
               const std::optional<std::string>& status) -> result<void> {
                if (auto allowed = require_account(call.users(), call.caller().user, {service.name, account}); !allowed) return allowed;
                call.json()
                    .begin_object()
                    .member("page").integer(page.value_or(1))
                    .member("status").string(status.value_or("open"))
                    .end_object();
                return {};
            },
            {.operation = "listInvoices",
             .summary = "Lists invoices.",
             .success_body = {R"({"type":"object"})"},
             .description = "The newest come first.",
             .tag = "Invoices"}),
    };
}
// [/list]

// [body]
auto refund_route() {
    return route_table{
        on_post<"/shop/{account}/refunds">(
            needs_scope("shop:refund"),
            [](api_call& call, account_id account) -> result<void> {
                const account_ref ref{*service_name::from("shop"), account};
                if (auto allowed = require_account(call.users(), call.caller().user, ref); !allowed) return allowed;
                const auto body = http::parse_json_object(call.request().body);
                if (!body) return body.error();  // 400: not a JSON object
                const auto* order = body->find("order");
                if (order == nullptr || order->kind != http::json_kind::text) return invalid("order is missing or is not a string.");
                if (order->value == "17") return too_many_requests(call.now() + seconds{30}, "Refund one order at a time.");
                call.response().set_status(http::status::created);
                return {};
            },
            {.operation = "createRefund",
             .summary = "Refunds an order.",
             .success_status = http::status::created,
             .request_body = {R"({"type":"object","required":["order"]})", R"({"order": "42"})"},
             .request_body_bytes_max = 1024}),
    };
}
// [/body]

// [publish]
/// Publishes into the store: any dispatcher of it, in this process or another, sends the webhooks.
auto payment_route(event_sink auto& outbox) {
    return route_table{
        on_post<"/{service}/{account}/invoices/{invoice}/payments">(
            write_of_service,
            [&outbox](api_call& call, const service& service, account_id account, invoice_id invoice) -> result<void> {
                const account_ref ref{service.name, account};
                if (auto allowed = require_account(call.users(), call.caller().user, ref); !allowed) return allowed;
                const auto deliveries = publish(outbox, call.settings().services,
                                                {.account = ref,
                                                 .name = "order.paid",
                                                 .data = R"({"invoice": )" + std::to_string(invoice.value()) + "}",
                                                 .at = call.now()},
                                                call.now());
                if (!deliveries && deliveries.error().kind != error_kind::unavailable)
                    return internal_error(deliveries.error().log_text());  // not the client's fault
                if (!deliveries) return deliveries.error();
                call.response().set_status(http::status::no_content);
                return {};
            },
            {.operation = "payInvoice", .summary = "Pays an invoice.", .success_status = http::status::no_content}),
    };
}
// [/publish]

int main() {
    // [scopes]
    account_service_settings settings{.base_url = "https://api.example.com/v1",
                                      .services = {{.name = "shop",
                                                    .events = {"order.paid"},
                                                    .scopes = {{"refund", "Refund your orders"}}}}};
    // [/scopes]
    shop_directory users;
    memory_store store;
    // [api]
    account_api api{settings, users, store,
                    account_routes() + shop_routes() + list_route() + refund_route() + payment_route(store)};
    // [/api]
    // [parts]
    // Without the webhook and demonstration routes. OpenAPI and the documentation change accordingly.
    const auto some_routes = balance_routes() + account_list_routes() + openapi_routes() + shop_routes();
    // [/parts]

    const auto credentials_for = [&](std::string_view scopes) {
        const personal_token_request wanted{user_id{1}, "own_route", *scope_set::parse(scopes)};
        return issue_personal_token(store, wanted, system_clock{}.now()).value().authorization();
    };
    const auto reader = credentials_for("shop:read,shop:refund"), writer = credentials_for("shop");
    const auto hook = issue_hook(store, settings.services,
                                 {.account = {*service_name::from("shop"), account_id{1}},
                                  .event = "order.paid",
                                  .target_url = "https://shop.example/in"},
                                 system_clock{}.now());
    if (!hook) return report(hook.error());

    const auto large = R"({"order": ")" + std::string(1024, '4') + R"("})";
    struct {
        std::string_view path;
        std::string_view credentials;
        http::status expected;
        std::string_view body = {};  // empty: a GET
    } const cases[] = {
        {"/v1/shop/1/invoices/7", reader, http::status::ok},
        {"/v1/shop/1/invoices/7", "", http::status::unauthorized},
        {"/v1/shop/2/invoices/7", reader, http::status::not_found},   // another user's account
        {"/v1/shop/1/invoices/07", reader, http::status::not_found},  // not an invoice_id
        {"/v1/shop/1/invoices", reader, http::status::ok},
        {"/v1/shop/1/invoices?page=2&status=open", reader, http::status::ok},
        {"/v1/shop/1/invoices?page=0", reader, http::status::unprocessable_content},  // not from 1 to 1000
        {"/v1/shop/1/invoices/7/payments", writer, http::status::no_content, "{}"},
        {"/v1/shop/2/invoices/7/payments", writer, http::status::not_found, "{}"},
        {"/v1/shop/1/invoices/7/payments", reader, http::status::forbidden, "{}"},  // needs `shop`
        {"/v1/shop/1/refunds", reader, http::status::created, R"({"order": "42"})"},
        {"/v1/shop/1/refunds", reader, http::status::unprocessable_content, R"({"order": 42})"},
        {"/v1/shop/1/refunds", reader, http::status::too_many_requests, R"({"order": "17"})"},
        {"/v1/shop/1/refunds", reader, http::status::content_too_large, large},
    };
    account_api smaller{settings, users, store, some_routes};
    bool right = api.openapi().find("listHooks") != std::string::npos && smaller.openapi().find("listHooks") == std::string::npos &&
                 api.openapi().find("getInvoice") != std::string::npos;
    for (const auto& each : cases) {
        http::request request;
        request.target = http::target::from(each.path);
        request.fields.add("User-Agent", "own_route");
        if (!each.credentials.empty()) request.fields.add("Authorization", each.credentials);
        if (!each.body.empty()) {
            request.method = http::method::post;
            request.fields.add("Content-Type", "application/json");
            request.body = each.body;
        }
        const auto response = api.handle(request);
        std::cout << each.path << ": " << http::to_number(response.status()) << ' ' << response.body() << '\n';
        right = right && response.status() == each.expected;
    }
    const auto published = store.backlog(system_clock{}.now(), 100);
    return right && published && published->due == 1 ? 0 : 1;
}

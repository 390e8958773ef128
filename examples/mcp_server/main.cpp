// An MCP server (Model Context Protocol): agents find out from a 401 how to be authorized, the user consents in a browser, and tools act
// under the scopes that the user granted. It serves http on 127.0.0.1, for a trial on this machine; anywhere else, give it a certificate.
#include <tollgate/api/sign_in.hpp>
#include <tollgate/tollgate.hpp>
#include <tollgate/web/cookie_sessions.hpp>
#include <tollgate/webhooks/document_fetcher.hpp>

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <cstring>
#include <iostream>

using namespace tollgate;
using nlohmann::json;

struct shop_directory {
    static constexpr bool blocking = false;  // answers at once
    result<balance> balance_of(user_id user) { return balance{user, "12.50", "EUR"}; }
    result<std::vector<account>> accounts_of(user_id user, std::string_view service) {
        if (user != user_id{1} || service != "shop") return {};
        return std::vector{account{account_id{1}, "Corner shop"}};
    }
};

struct shop_passwords {  // a real one compares with a slow hash, such as scrypt
    result<std::optional<user_id>> check_password(std::string_view login, std::string_view password) {
        return login == "ada" && password == "correct horse battery" ? std::optional{user_id{1}} : std::nullopt;
    }
};

// [tools]
/// What the agent calls. A tool whose scope the token lacks is a 403 that names the scope, so that the agent can ask the user for it.
result<json> call_tool(api_call& call, const std::string& name) {
    if (name == "get_balance") {
        if (!call.covers("user:balance")) return insufficient_scope("user:balance");
        const auto found = call.users().balance_of(call.caller().user);
        if (!found) return found.error();
        return json{{"balance", found->amount.text()}, {"currency", found->currency}};
    }
    if (name == "list_accounts") {
        if (!call.covers("shop:read")) return insufficient_scope("shop:read");
        const auto found = call.users().accounts_of(call.caller().user, "shop");
        if (!found) return found.error();
        auto accounts = json::array();
        for (const account& each : *found) accounts.push_back({{"id", each.id.value()}, {"name", each.name}});
        return json{{"accounts", accounts}};
    }
    return not_found();
}
// [/tools]

/// A member that is a text.
std::string text_of(const json& object, const char* name, std::string otherwise = {}) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

json describe_tool(std::string_view name, std::string_view description) {
    return {{"name", name}, {"description", description}, {"inputSchema", {{"type", "object"}}}};
}

/// The `result` of a JSON-RPC request, or empty for a method that this server does not have.
result<std::optional<json>> respond(api_call& call, const std::string& method, const json& parameters) {
    if (method == "initialize")
        return std::optional<json>{{{"protocolVersion", text_of(parameters, "protocolVersion", "2025-06-18")},
                                    {"capabilities", {{"tools", json::object()}}},
                                    {"serverInfo", {{"name", "shop"}, {"version", "1.0"}}}}};
    if (method == "ping") return std::optional<json>{json::object()};
    if (method == "tools/list")
        return std::optional<json>{{{"tools", {describe_tool("get_balance", "The balance of the user's account."),
                                               describe_tool("list_accounts", "The shops of the user.")}}}};
    if (method != "tools/call") return std::optional<json>{};
    const auto found = call_tool(call, text_of(parameters, "name"));
    if (!found && found.error().kind == error_kind::not_found)
        return std::optional<json>{{{"isError", true}, {"content", {{{"type", "text"}, {"text", "There is no such tool."}}}}}};
    if (!found) return found.error();
    return std::optional<json>{{{"content", {{{"type", "text"}, {"text", found->dump()}}}}, {"structuredContent", *found}}};
}

// [endpoint]
/// The protocol's streamable HTTP, with JSON responses: one JSON-RPC message in each request.
struct serve_mcp {
    result<void> operator()(api_call& call) const {
        const auto message = json::parse(call.request().body, nullptr, false);
        if (!message.is_object() || !message.contains("method") || !message["method"].is_string())
            return malformed("The body is not one JSON-RPC request.");
        if (!message.contains("id")) {  // a notification
            call.response().set_status(http::status::accepted);
            return {};
        }
        const auto parameters = message.value("params", json::object());
        const auto outcome = respond(call, message["method"], parameters.is_object() ? parameters : json::object());
        if (!outcome) return outcome.error();
        json response{{"jsonrpc", "2.0"}, {"id", message["id"]}};
        if (*outcome) response["result"] = **outcome;
        else response["error"] = {{"code", -32601}, {"message", "Method not found"}};
        call.response().body() = response.dump(-1, ' ', false, json::error_handler_t::replace);
        return {};
    }
};

auto mcp_routes() {
    return route_table{on_post<"/mcp">(any_caller, serve_mcp{},
                                       {.operation = "callTool", .summary = "A message of the Model Context Protocol."})}
        .as_resource("/mcp", "user:balance");
}
// [/endpoint]

int main(int argc, char** argv) {
    const auto port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 8080);
    const bool is_private = argc > 2 && std::strcmp(argv[2], "--private") == 0;  // documents may be on this machine
    const auto url = "http://127.0.0.1:" + std::to_string(port);
    shop_directory users;
    shop_passwords passwords;
    memory_store store;
    cookie_sessions sessions{{.auth_url = url}, store, passwords};
    // [settings]
    account_service_settings settings{.base_url = url + "/v1", .services = {{"shop", {"order.paid"}}}};
    settings.oauth.registration = dynamic_registration::open;  // agents register themselves,
    auto rules = default_policies().with_target_rule(public_targets{.private_allowed = is_private});
    settings.oauth.fetch_client_document = document_fetcher{rules};  // or their client_id is the URL of a document
    // [/settings]
    account_service service{settings, users, store, sessions, rules, account_routes() + mcp_routes()};

    server server{service, {.port = port}};
    if (const auto started = server.start(); !started) return report(started.error());
    std::cout << "MCP server: " << url << "/v1/mcp (sign in as ada, with the password correct horse battery)" << std::endl;
    server.wait();
}

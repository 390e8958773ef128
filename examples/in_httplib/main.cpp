// Tollgate inside a cpp-httplib server: only `handle`, without `tollgate::server`.
#include <tollgate/account/issue_personal_token.hpp>
#include <tollgate/api/account_api.hpp>
#include <tollgate/api/routes.hpp>
#include <tollgate/store/memory.hpp>

#include <httplib.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>

using namespace tollgate;

struct shop_directory {
    static constexpr bool blocking = false;  // answers at once
    result<balance> balance_of(user_id user) { return balance{user, "12.50", "EUR"}; }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return {}; }
};

// [answer]
/// Converts cpp-httplib's request to Tollgate's, which only consists of views, and Tollgate's response to
/// cpp-httplib's.
template <http::handler Handler>
void answer(Handler& handler, const httplib::Request& from, httplib::Response& to) {
    http::request request;
    request.method_name = from.method;
    request.method = http::to_method(from.method);
    request.target = http::target::from(from.target);  // not `path`, which is already decoded
    request.body = from.body;
    request.peer = ip_address::parse(from.remote_addr).value_or(ip_address{});
    bool fits = true;
    for (const auto& [name, value] : from.headers) fits = fits && request.fields.add(name, value);

    http::response response;
    if (fits)
        handler.handle(request, response);
    else
        handler.handle(http::refusal{http::status::header_fields_too_large, "Too many fields.", request.peer}, response);

    to.status = static_cast<int>(http::to_number(response.status()));
    response.for_each_field([&](std::string_view name, std::string_view value) {
        to.set_header(std::string{name}, std::string{value});
    });
    to.body = std::move(response.body());
}
// [/answer]

int main(int argc, char** argv) {
    account_service_settings settings{.base_url = "http://127.0.0.1:8080/v1", .auth_url = "http://127.0.0.1:8080",
                          .services = {{"shop", {"order.paid"}}}};
    shop_directory users;
    memory_store store;
    account_api api{settings, users, store, account_routes()};

    httplib::Server server;
    const auto everything = [&api](const httplib::Request& from, httplib::Response& to) { answer(api, from, to); };
    server.Get(".*", everything).Post(".*", everything).Put(".*", everything).Patch(".*", everything);
    server.Delete(".*", everything).Options(".*", everything);

    int port = argc > 1 ? std::atoi(argv[1]) : 8080;
    const bool bound = port != 0 ? server.bind_to_port("127.0.0.1", port)
                                 : (port = server.bind_to_any_port("127.0.0.1")) > 0;
    const auto scopes = *scope_set::parse("user:balance");
    const auto token = issue_personal_token(store, {user_id{1}, "in_httplib", scopes}, system_clock{}.now());
    if (!token) return report(token.error());
    if (!bound) return report(internal_error("cannot listen on 127.0.0.1:" + std::to_string(port)));
    std::cout << "curl -u " << token->username.view() << ':' << token->secret.view()
              << " http://127.0.0.1:" << port << "/v1/user/balance" << std::endl;
    return server.listen_after_bind() ? 0 : 1;
}

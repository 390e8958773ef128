// The smallest integrator: your users, a token in memory, a server on http://127.0.0.1:8080.
#include <tollgate/account/issue_personal_token.hpp>
#include <tollgate/api/account_api.hpp>
#include <tollgate/server/server.hpp>
#include <tollgate/store/memory_tokens.hpp>

#include <cstdint>
#include <cstdlib>
#include <iostream>

using namespace tollgate;

// What this process knows about its users.
struct shop_directory {
    static constexpr bool blocking = false;  // answers at once
    result<balance> balance_of(user_id user) { return balance{user, "12.50", "EUR"}; }
    result<std::vector<account>> accounts_of(user_id, std::string_view) {
        return std::vector{account{account_id{1}, "Corner shop"}};
    }
};

int main(int argc, char** argv) {
    shop_directory users;
    memory_token_store store;
    account_api api{{.base_url = "http://127.0.0.1:8080/v1", .services = {{"shop", {"order.paid"}}}}, users, store,
                    balance_routes() + account_list_routes()};
    server server{api, {.port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 8080)}};

    const auto scopes = *scope_set::parse("user:balance shop");
    const auto token = issue_personal_token(store, {user_id{1}, "hello", scopes}, system_clock{}.now());
    if (!token) return report(token.error());
    if (const auto started = server.start(); !started) return report(started.error());
    std::cout << "curl -u " << token->username.view() << ':' << token->secret.view()
              << " http://127.0.0.1:" << server.port() << "/v1/user/balance" << std::endl;
    server.wait();
}

#include <tollgate/store/sqlite.hpp>
#include <tollgate/tollgate.hpp>

#include <cstdlib>
#include <iostream>

using namespace tollgate;

struct shop_directory {  // what this program knows about its users
    static constexpr bool blocking = false;  // answers at once
    result<balance> balance_of(user_id user) { return balance{user, "12.50", "EUR"}; }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return {}; }
};

int main(int argc, char** argv) {
    const auto port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 8443);
    const auto url = "https://127.0.0.1:" + std::to_string(port) + "/v1";
    shop_directory users;
    auto store = sqlite_store::open("tollgate.db");
    if (!store) return report(store.error());
    account_service service{{.base_url = url, .services = {{"shop", {"order.paid", "order.shipped"}}}}, users, *store};

    server server{service, {.port = port, .tls = {"cert.pem", "key.pem"}}};
    if (const auto started = server.start(); !started) return report(started.error());

    const auto tokens = store->personal_tokens_of(user_id{1});
    if (!tokens) return report(tokens.error());
    if (tokens->empty()) {
        const auto token = issue_personal_token(*store, {user_id{1}, "shop", *scope_set::parse("user:balance")}, system_clock{}.now());
        if (!token) return report(token.error());
        std::cout << "curl --cacert cert.pem -u " << token->username.view() << ':' << token->secret.view() << ' ' << url
                  << "/user/balance" << std::endl;
    } else {
        std::cout << "The token that an earlier start printed is still valid." << std::endl;
    }
    server.wait();
}

#include <tollgate/store/sqlite.hpp>
#include <tollgate/tollgate.hpp>

#include <cstdlib>

using namespace tollgate;

struct shop_directory {  // what this process knows about its users
    result<balance> balance_of(user_id user) { return balance{user, "12.50", *currency_code::from("EUR")}; }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return std::vector<account>{}; }
    result<std::optional<quota>> quota_of(user_id) { return std::optional<quota>{}; }
};

int main(int argc, char** argv) {
    const auto port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 8443);
    api_settings settings{.base_url = "https://api.example.com/v1", .auth_url = "https://example.com"};
    if (!settings.services.add("shop", {"order.paid", "order.shipped"})) return 2;
    shop_directory users;
    sqlite_store store{"tollgate.db"};
    account_api api{settings, users, store};
    server server{api, {.port = port, .tls = {"cert.pem", "key.pem"}}};
    return server.run();
}

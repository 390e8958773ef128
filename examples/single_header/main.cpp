// The library as one file, and a program compiled by one line:
//
//     g++ -std=c++20 -I single_include examples/single_header/main.cpp -o single_header -lssl -lcrypto -pthread
#include <tollgate/tollgate.hpp>

#include <iostream>

using namespace tollgate;

struct shop_directory {
    static constexpr bool blocking = false;  // answers at once
    result<balance> balance_of(user_id user) { return balance{user, "12.50", "EUR"}; }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return {}; }
};

int main() {
    account_service_settings settings{.base_url = "https://api.example.com/v1", .auth_url = "https://example.com"};
    shop_directory users;
    memory_store store;
    account_api api{settings, users, store, account_routes()};

    http::request request;
    request.target = http::target::from("/v1/testservice/get");
    request.fields.add("User-Agent", "single_header");
    const auto response = api.handle(request);
    std::cout << http::to_number(response.status()) << ' ' << response.body() << '\n';
    return response.status() == http::status::ok ? 0 : 1;
}

// A program whose store and limiter come from its configuration. It builds each combination that this machine can, sends itself a request,
// and returns 0 if the responses are right.
#include <tollgate/store/sqlite.hpp>
#include <tollgate/tollgate.hpp>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace tollgate;

struct shop_directory {
    static constexpr bool blocking = false;  // answers at once
    result<balance> balance_of(user_id user) { return balance{user, "12.50", "EUR"}; }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return std::vector{account{account_id{1}, "Corner shop"}}; }
};

// [choice]
/// What the program reads from its configuration file.
struct shop_settings {
    std::string database;         // empty: in memory
    bool is_behind_gateway = false;  // which limits requests itself
};

result<any_store> open_store(const shop_settings& settings) {
    if (settings.database.empty()) return memory_store::make_any();
    return sqlite_store::open_any(settings.database);
}

policies choose_policies(const shop_settings& settings) {
    auto chosen = default_policies();
    if (settings.is_behind_gateway) chosen = std::move(chosen).with_limiter(unlimited{});
    return chosen;
}
// [/choice]

int main() {
    const auto file = (std::filesystem::temp_directory_path() / "tollgate_chosen_at_run_time.db").string();
    bool right = true;
    for (const shop_settings& settings : {shop_settings{}, shop_settings{file, false}, shop_settings{file, true}}) {
        shop_directory users;
        auto opened = open_store(settings);
        if (!opened) return report(opened.error());
        any_store& store = *opened;
        account_service service{{.base_url = "https://api.example.com/v1", .services = {{"shop", {"order.paid"}}}}, users, store,
                                choose_policies(settings)};
        const auto token = issue_personal_token(store, {user_id{1}, "my script", *scope_set::parse("user:balance")}, system_clock{}.now());
        if (!token) return report(token.error());
        const auto authorization = token->authorization();
        http::request request;
        request.target = http::target::from("/v1/user/balance");
        request.fields.add("User-Agent", "chosen_at_run_time");
        request.fields.add("Authorization", authorization);
        for (int i = 0; i < 2; ++i) {
            const auto response = service.handle(request);
            const bool is_counted = response.find("X-RateLimit-Remaining") != response.find("X-RateLimit-Limit");
            right = right && response.status() == http::status::ok && is_counted != settings.is_behind_gateway;
        }
    }
    for (const char* each : {"", "-wal", "-shm"}) std::filesystem::remove(file + each);
    std::cout << (right ? "All requests were answered as expected.\n" : "A response was wrong.\n");
    return right ? 0 : 1;
}

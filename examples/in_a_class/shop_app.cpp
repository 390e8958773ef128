#include "shop_app.hpp"

#include <tollgate/account/issue_personal_token.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/store/memory.hpp>
#include <tollgate/store/sqlite.hpp>

using namespace tollgate;

result<balance> shop_directory::balance_of(user_id user) { return balance{user, "12.50", "EUR"}; }

result<std::vector<account>> shop_directory::accounts_of(user_id, std::string_view) {
    return std::vector{account{account_id{1}, "Corner shop"}};
}

// [constructor]
shop_app::shop_app(const std::string& file)
    : store_{file.empty() ? memory_store::make_any() : sqlite_store::open_any(file).value()},
      service_{{.base_url = "http://127.0.0.1/v1", .services = {{"shop", {"order.paid"}}}}, users_, store_},
      server_{service_, {.port = 0}} {}
// [/constructor]

result<std::string> shop_app::new_token(user_id user) {
    const auto token = issue_personal_token(store_, {user, "my script", *scope_set::parse("user:balance")}, system_clock{}.now());
    if (!token) return token.error();
    return token->authorization();
}

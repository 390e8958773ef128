// expect: tollgate: an endpoint takes `auto& call`, one parameter for each name in braces of its path, and one `const std::optional<...>&` for each of its query, and returns result<void>; read tollgate/pipeline/route_table.hpp
#include <tollgate/api/account_api.hpp>
#include <tollgate/api/routes.hpp>
#include <tollgate/store/memory.hpp>

using namespace tollgate;

struct own_directory {
    result<balance> balance_of(user_id) { return not_found(); }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return not_found(); }
    result<std::optional<quota>> quota_of(user_id) { return not_found(); }
};

#if defined(TOLLGATE_MISFIT)
const auto endpoint = [](auto&, const service&, hook_id) -> result<void> { return {}; };  // the path has an account
#else
const auto endpoint = [](auto&, const service&, account_id) -> result<void> { return {}; };
#endif
const route_table routes{on_get<"/{service}/{account}/invoices">(read_of_service, endpoint)};

int main() {
    memory_store store;
    own_directory users;
    account_api api{account_service_settings{.base_url = "http://127.0.0.1/v1", .auth_url = "http://127.0.0.1"}, users, store, account_routes() + routes};
}

// expect: tollgate: an endpoint takes `auto& call` and one parameter for each name in braces of its path, and returns outcome<void>; read tollgate/pipeline/route_table.hpp
#include <tollgate/api/account_api.hpp>
#include <tollgate/store/memory.hpp>

using namespace tollgate;

struct own_directory {
    outcome<balance> balance_of(user_id) { return not_found(); }
    outcome<std::vector<account>> accounts_of(user_id, std::string_view) { return not_found(); }
    outcome<std::optional<quota>> quota_of(user_id) { return not_found(); }
};

#if defined(TOLLGATE_MISFIT)
const auto endpoint = [](auto&, const service&, hook_id) -> outcome<void> { return {}; };  // the path has an account
#else
const auto endpoint = [](auto&, const service&, account_id) -> outcome<void> { return {}; };
#endif
const route_table routes{on_get<"/{service}/{account}/invoices">(read_of_service, endpoint)};

int main() {
    memory_store store;
    own_directory users;
    account_api api{api_settings{.base_url = "http://127.0.0.1/v1", .auth_url = "http://127.0.0.1"}, users, store, default_policies(), account_routes() + routes};
}

// expect: tollgate: this is no user_directory; read tollgate/contract/user_directory.hpp
#include <tollgate/api/account_api.hpp>
#include <tollgate/store/memory.hpp>

using namespace tollgate;

struct own_directory {
    result<balance> balance_of(user_id) { return not_found(); }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return not_found(); }
#if !defined(TOLLGATE_MISFIT)
    result<std::optional<quota>> quota_of(user_id) { return not_found(); }
#endif
};

int main() {
    memory_store store;
    own_directory users;
    account_api api{api_settings{.base_url = "http://127.0.0.1/v1", .auth_url = "http://127.0.0.1"}, users, store};
}

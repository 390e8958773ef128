// expect: tollgate: this is no token_store and hook_store; read tollgate/contract/token_store.hpp and tollgate/contract/hook_store.hpp
#include <tollgate/api/account_api.hpp>
#include <tollgate/store/memory.hpp>

using namespace tollgate;

struct own_directory {
    result<balance> balance_of(user_id) { return not_found(); }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return not_found(); }
    result<std::optional<quota>> quota_of(user_id) { return not_found(); }
};

struct own_store : memory_store {
#if defined(TOLLGATE_MISFIT)
    result<bool> delete_hook(hook_id);  // anybody's: hides the one that asks for the account
#endif
};

int main() {
    own_store store;
    own_directory users;
    account_api api{api_settings{.base_url = "http://127.0.0.1/v1", .auth_url = "http://127.0.0.1"}, users, store};
}

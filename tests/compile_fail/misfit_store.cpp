// expect: tollgate: a member named create_hook, hooks_of or delete_hook exists, but this does not satisfy hook_store; read tollgate/contract/hook_store.hpp
// misfit 1 names delete_hook: tollgate: a member named create_hook, hooks_of or delete_hook exists, but this does not satisfy hook_store; read tollgate/contract/hook_store.hpp
// misfit 2 names find_credential: tollgate: this does not satisfy credential_source; read tollgate/contract/token_store.hpp
// misfit 3 names find_credential: tollgate: this does not satisfy credential_source; read tollgate/contract/token_store.hpp
// misfit 4 names cached_credential: tollgate: a member named cached_credential exists, but this does not satisfy credential_cache; read tollgate/contract/token_store.hpp
// misfit 5 names record_use: tollgate: a member named record_use exists, but this does not satisfy use_recorder; read tollgate/contract/token_store.hpp
#include <tollgate/api/account_api.hpp>
#include <tollgate/api/routes.hpp>
#include <tollgate/store/memory.hpp>

using namespace tollgate;

struct own_directory {
    result<balance> balance_of(user_id) { return not_found(); }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return not_found(); }
    result<std::optional<quota>> quota_of(user_id) { return not_found(); }
};

struct own_store : memory_store {
#if TOLLGATE_MISFIT == 1
    result<bool> delete_hook(hook_id);  // of any account: hides the one that takes the account
#elif TOLLGATE_MISFIT == 2
    std::optional<token_credential> find_credential(const credential_key&);
#elif TOLLGATE_MISFIT == 3
    void find_credential() = delete;  // as if it was misspelled
#elif TOLLGATE_MISFIT == 4
    lookup<token_credential> cached_credential(const credential_key&) const;  // not noexcept
#elif TOLLGATE_MISFIT == 5
    result<void> record_use(const credential_key&, instant);  // without the network
#endif
};

int main() {
    own_store store;
    own_directory users;
    account_api api{account_service_settings{.base_url = "http://127.0.0.1/v1", .auth_url = "http://127.0.0.1"}, users, store, account_routes()};
}

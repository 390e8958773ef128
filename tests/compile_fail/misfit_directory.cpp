// expect: tollgate: this does not satisfy user_directory; read tollgate/contract/user_directory.hpp
// misfit 1 names accounts_of: tollgate: this does not satisfy user_directory; read tollgate/contract/user_directory.hpp
// misfit 2 names balance_of: tollgate: this does not satisfy user_directory; read tollgate/contract/user_directory.hpp
// misfit 3 names quota_of: tollgate: a member named quota_of exists, but this does not satisfy quota_source; read tollgate/contract/user_directory.hpp
// misfit 4 names quota_of: tollgate: a member named quota_of exists, but this does not satisfy quota_source; read tollgate/contract/user_directory.hpp
// misfit 5 names has_account: tollgate: a member named has_account exists, but this does not satisfy account_checker; read tollgate/contract/user_directory.hpp
// misfit 6 names activity_of: tollgate: a member named activity_of exists, but this does not satisfy activity_source; read tollgate/contract/user_directory.hpp
// misfit 7 names may_block: tollgate: may_block is a public const noexcept function that returns bool; read tollgate/base/blocking.hpp
// misfit 8 names has_account: tollgate: a member named has_account exists, but this does not satisfy account_checker; read tollgate/contract/user_directory.hpp
#include <tollgate/api/account_api.hpp>
#include <tollgate/api/routes.hpp>
#include <tollgate/store/memory.hpp>

using namespace tollgate;

struct own_directory {
#if TOLLGATE_MISFIT == 2
    balance balance_of(user_id);
#else
    result<balance> balance_of(user_id) { return not_found(); }
#endif
#if TOLLGATE_MISFIT == 1
    result<std::vector<account>> acounts_of(user_id, std::string_view) { return not_found(); }
#else
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return not_found(); }
#endif
#if TOLLGATE_MISFIT == 3
    std::optional<quota> quota_of(user_id);
#elif TOLLGATE_MISFIT == 4
    result<std::optional<quota>> quota_of(const auto&, user_id);
#elif TOLLGATE_MISFIT == 5
    bool has_account(user_id, const account_ref&);
#elif TOLLGATE_MISFIT == 6
    result<std::vector<activity>> activity_of(user_id);
#elif TOLLGATE_MISFIT == 7
    bool may_block() const;  // not noexcept
#elif TOLLGATE_MISFIT == 8
    result<bool> has_account(user_id);
    result<bool> has_account(const account_ref&);
#endif
};

int main() {
    memory_store store;
    own_directory users;
    account_api api{account_service_settings{.base_url = "http://127.0.0.1/v1", .auth_url = "http://127.0.0.1"}, users, store, account_routes()};
}

// expect: tollgate: this does not satisfy token_store; read tollgate/contract/token_store.hpp
// misfit 1 names revoke: tollgate: this does not satisfy token_store; read tollgate/contract/token_store.hpp
#include <tollgate/pages/account_pages.hpp>
#include <tollgate/store/memory.hpp>

using namespace tollgate;

struct own_directory {
    result<balance> balance_of(user_id) { return not_found(); }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return not_found(); }
};
struct own_sessions {
    result<std::optional<session>> session_of(const http::request&, instant) { return std::optional<session>{}; }
    std::string sign_in_url(std::string_view) const { return "/login"; }
};
struct own_store : memory_store {
#if TOLLGATE_MISFIT == 1
    bool revoke(const revocation&);
#endif
};

int main() {
    own_store store;
    own_directory users;
    own_sessions sessions;
    account_pages pages{account_service_settings{.auth_url = "http://127.0.0.1"}, users, store, sessions};
    http::request request;
    return pages.handle(request).body().empty() ? 1 : 0;
}

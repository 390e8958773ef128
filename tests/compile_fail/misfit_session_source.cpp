// expect: tollgate: this does not satisfy session_source; read tollgate/contract/session_source.hpp
// misfit 1 names sign_in_url: tollgate: this does not satisfy session_source; read tollgate/contract/session_source.hpp
// misfit 2 names session_of: tollgate: this does not satisfy session_source; read tollgate/contract/session_source.hpp
// misfit 3 names is_active: tollgate: a member named is_active exists, but this does not satisfy active_user_source; read tollgate/contract/session_source.hpp
#include <tollgate/api/account_service.hpp>
#include <tollgate/api/sign_in.hpp>
#include <tollgate/pages/account_pages.hpp>
#include <tollgate/store/memory.hpp>

using namespace tollgate;

struct own_directory {
    result<balance> balance_of(user_id) { return not_found(); }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return not_found(); }
    result<std::optional<quota>> quota_of(user_id) { return not_found(); }
};
struct own_sessions {
#if TOLLGATE_MISFIT != 2
    result<std::optional<session>> session_of(const http::request&, instant) { return std::optional<session>{}; }
#else
    std::optional<session> session_of(const http::request&, instant) { return {}; }
#endif
#if TOLLGATE_MISFIT != 1
    std::string sign_in_url(std::string_view) const { return "/login"; }
#endif
#if TOLLGATE_MISFIT == 3
    bool is_active(const auto&) { return true; }
#endif
};

int main() {
    memory_store store;
    own_directory users;
    own_sessions sessions;
#if TOLLGATE_MISFIT < 2
    account_pages pages{account_service_settings{.auth_url = "http://127.0.0.1"}, users, store, sessions};
#else
    account_service pages{{.base_url = "http://127.0.0.1/v1"}, users, store, sessions};
#endif
    http::request request;
    return pages.handle(request).body().empty() ? 1 : 0;
}

// expect: tollgate: this does not satisfy oauth_store; read tollgate/contract/oauth_store.hpp
// misfit 1 names redeem_code: tollgate: this does not satisfy oauth_store; read tollgate/contract/oauth_store.hpp
// misfit 2 names find_application: tollgate: this does not satisfy oauth_store; read tollgate/contract/oauth_store.hpp
#include <tollgate/oauth/authorization_server.hpp>
#include <tollgate/store/memory.hpp>

using namespace tollgate;

struct own_sessions {
    result<std::optional<session>> session_of(const http::request&, instant) { return std::optional<session>{}; }
    std::string sign_in_url(std::string_view) const { return "/login"; }
};
struct own_store : memory_store {
#if TOLLGATE_MISFIT == 1
    redeemed_code redeem_code(const code_redemption&);  // not a result: hides the one that is
#elif TOLLGATE_MISFIT == 2
    void find_application() = delete;  // as if it was misspelled
#endif
};

int main() {
    own_store store;
    own_sessions sessions;
    authorization_server oauth{account_service_settings{.auth_url = "http://127.0.0.1"}, store, sessions};
    http::request request;
    return oauth.handle(request).body().empty() ? 1 : 0;
}

// expect: tollgate: this does not satisfy authenticator; read tollgate/contract/authenticator.hpp
// misfit 1 names challenge: tollgate: this does not satisfy authenticator; read tollgate/contract/authenticator.hpp
// misfit 2 names identify: tollgate: this does not satisfy authenticator; read tollgate/contract/authenticator.hpp
// misfit 4 names field: tollgate: each authenticator with a field has another one, and not Authorization; read tollgate/contract/authenticator.hpp
// misfit 5 names field: tollgate: field of an authenticator is a static constexpr std::string_view; read tollgate/contract/authenticator.hpp
// misfit 3 names read: tollgate: a member named read exists, but this does not satisfy token_authenticator; read tollgate/contract/authenticator.hpp
// misfit 6 names field: tollgate: field of an authenticator is a static constexpr std::string_view; read tollgate/contract/authenticator.hpp
#include <tollgate/api/account_api.hpp>
#include <tollgate/api/routes.hpp>
#include <tollgate/store/memory.hpp>

using namespace tollgate;

struct own_directory {
    result<balance> balance_of(user_id) { return not_found(); }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return not_found(); }
    result<std::optional<quota>> quota_of(user_id) { return not_found(); }
};

struct own_authenticator {
    static constexpr std::string_view scheme = "Guest";
#if TOLLGATE_MISFIT != 1
    static constexpr std::string_view challenge = "Guest";
#endif
#if TOLLGATE_MISFIT == 2
    result<std::optional<caller>> identify(std::string_view, auto&, instant) { return std::optional<caller>{}; }
#else
    result<std::optional<caller>> identify(std::string_view, auto&, instant) const { return std::optional<caller>{}; }
#endif
#if TOLLGATE_MISFIT == 4
    static constexpr std::string_view field = "authorization";
#elif TOLLGATE_MISFIT == 5
    static std::string_view field() { return "X-Api-Key"; }
#endif
#if TOLLGATE_MISFIT == 3
    void read(std::string_view, presented_token&) const {}
#elif TOLLGATE_MISFIT == 6
private:
    static constexpr std::string_view field = "X-Api-Key";
#endif
};

int main() {
    memory_store store;
    own_directory users;
    account_api api{account_service_settings{.base_url = "http://127.0.0.1/v1", .auth_url = "http://127.0.0.1"}, users, store, default_policies().with_authenticators(own_authenticator{}), account_routes()};
}

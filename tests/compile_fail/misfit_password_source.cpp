// expect: tollgate: a member named password_version exists, but this does not satisfy versioned_password_source; read tollgate/contract/session_source.hpp
// misfit 1 names check_password: tollgate: a member named password_version exists, but this does not satisfy versioned_password_source; read tollgate/contract/session_source.hpp
// misfit 2 names password_version: tollgate: a member named password_version exists, but this does not satisfy versioned_password_source; read tollgate/contract/session_source.hpp
// misfit 4 names check_password: tollgate: this does not satisfy password_source; read tollgate/contract/session_source.hpp
// misfit 3 names is_active: tollgate: a member named is_active exists, but this does not satisfy active_user_source; read tollgate/contract/session_source.hpp
// misfit 5 names password_version: tollgate: a member named password_version exists, but this does not satisfy versioned_password_source; read tollgate/contract/session_source.hpp
#include <tollgate/store/memory.hpp>
#include <tollgate/web/cookie_sessions.hpp>

using namespace tollgate;

struct own_passwords {
#if TOLLGATE_MISFIT == 4
    std::optional<user_id> check_password(std::string_view, std::string_view) { return {}; }
#else
    result<std::optional<user_id>> check_password(std::string_view, std::string_view) { return std::optional<user_id>{}; }
#endif
#if TOLLGATE_MISFIT != 1 && TOLLGATE_MISFIT != 4
    result<std::optional<checked_password>> check_password(const sign_in_attempt&) { return std::optional<checked_password>{}; }
#endif
#if TOLLGATE_MISFIT == 4
#elif TOLLGATE_MISFIT == 2
    std::string password_version(std::string_view) { return {}; }
#elif TOLLGATE_MISFIT == 5
    std::string password_version(const auto&) { return {}; }
#else
    result<std::string> password_version(std::string_view) { return std::string{}; }
#endif
#if TOLLGATE_MISFIT == 3
    bool is_active(user_id) { return true; }
#else
    result<bool> is_active(user_id) { return true; }
#endif
#if TOLLGATE_MISFIT != 4
    result<void> set_password(const checked_password&, std::string_view) { return {}; }
#endif
};

int main() {
    memory_store store;
    own_passwords passwords;
    cookie_sessions sessions{session_settings{.auth_url = "http://127.0.0.1"}, store, passwords};
    return sessions.sign_in_url("/").empty() ? 1 : 0;
}

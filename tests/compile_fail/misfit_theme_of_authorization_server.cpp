// expect: tollgate: this does not satisfy page_theme; read tollgate/web/page_theme.hpp
#include <tollgate/oauth/authorization_server.hpp>
#include <tollgate/store/memory.hpp>

using namespace tollgate;

struct own_sessions {
    result<std::optional<session>> session_of(const http::request&, instant) { return std::optional<session>{}; }
    std::string sign_in_url(std::string_view) const { return "/login"; }
};
struct own_theme {
    page_texts page_text;
    std::span<const page_texts> texts() const noexcept { return {&page_text, 1}; }
    std::string scope_text(std::string_view scope, const service_catalog&, const page_texts&) const { return std::string{scope}; }
    std::string style_sheet() const { return {}; }
    void begin_page(html_writer&, const page_frame&) const {}
#if !defined(TOLLGATE_MISFIT)
    void end_page(html_writer&, const page_frame&) const {}
#endif
};

int main() {
    memory_store store;
    own_sessions sessions;
    authorization_server oauth{account_service_settings{.auth_url = "http://127.0.0.1"}, store, sessions, default_policies(),
                               own_theme{}};
    http::request request;
    return oauth.handle(request).body().empty() ? 1 : 0;
}

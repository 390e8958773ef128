// expect: tollgate: this does not satisfy handler; read tollgate/http/handler.hpp
// misfit 1 names handle: tollgate: this does not satisfy handler; read tollgate/http/handler.hpp
// misfit 2 names noexcept: tollgate: this does not satisfy handler; read tollgate/http/handler.hpp
#include <tollgate/server/server.hpp>

using namespace tollgate;

struct own_handler {
#if TOLLGATE_MISFIT + 0 == 2
    void handle(const http::request&, http::response&) {}
#else
    void handle(const http::request&, http::response&) noexcept {}
#endif
#if TOLLGATE_MISFIT + 0 != 1
    void handle(const http::refusal& refused, http::response& response) noexcept { response.set_status(refused.status); }
#endif
};

int main() {
    own_handler handler;
    const server running{handler, {.port = 0}};
}

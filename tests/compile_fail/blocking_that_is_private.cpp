// expect: tollgate: blocking is a public static constexpr bool; read tollgate/http/handler.hpp
// misfit 1 names blocking: tollgate: blocking is a public static constexpr bool; read tollgate/http/handler.hpp
// misfit 2 names blocking: tollgate: blocking is a public static constexpr bool; read tollgate/http/handler.hpp
#include <tollgate/http/handler.hpp>

using namespace tollgate;

class own_directory {
#if TOLLGATE_MISFIT != 1
public:
#endif
#if TOLLGATE_MISFIT == 2
    static bool blocking() { return true; }
#else
    static constexpr bool blocking = true;
#endif
};

int main() { return http::handler_blocks<own_directory>() ? 0 : 1; }

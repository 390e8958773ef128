// expect: tollgate: blocking is a public static constexpr bool; read tollgate/http/handler.hpp
// misfit 1 names blocking: tollgate: blocking is a public static constexpr bool; read tollgate/http/handler.hpp
// misfit 2 names blocking: tollgate: blocking is a public static constexpr bool; read tollgate/http/handler.hpp
// misfit 3 names blocking: tollgate: blocking is a public static constexpr bool; read tollgate/http/handler.hpp
// misfit 4 names blocking: tollgate: blocking is a public static constexpr bool; read tollgate/http/handler.hpp
#include <tollgate/http/handler.hpp>

using namespace tollgate;

#if TOLLGATE_MISFIT == 4
class own_directory final {
#else
class own_directory {
#endif
#if TOLLGATE_MISFIT != 1
public:
#endif
#if TOLLGATE_MISFIT == 2 || TOLLGATE_MISFIT == 4
    static bool blocking() { return true; }
#elif TOLLGATE_MISFIT == 3
    template <class T>
    static bool blocking(T) { return true; }
#else
    static constexpr bool blocking = true;
#endif
};

int main() { return http::handler_blocks<own_directory>() ? 0 : 1; }

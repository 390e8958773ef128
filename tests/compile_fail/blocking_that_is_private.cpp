// expect: tollgate: blocking is a public static constexpr bool; read tollgate/base/blocking.hpp
// misfit 1 names blocking: tollgate: blocking is a public static constexpr bool; read tollgate/base/blocking.hpp
// misfit 2 names blocking: tollgate: blocking is a public static constexpr bool; read tollgate/base/blocking.hpp
// misfit 3 names blocking: tollgate: blocking is a public static constexpr bool; read tollgate/base/blocking.hpp
// misfit 4 names blocking: tollgate: blocking is a public static constexpr bool; read tollgate/base/blocking.hpp
#include <tollgate/base/blocking.hpp>

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

int main() { return may_block(own_directory{}) ? 0 : 1; }

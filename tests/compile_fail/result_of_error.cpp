// expect: the value of a result is not an error; use result<void>
// (GCC then also reports two constructors with the same parameter.)
#include <tollgate/policy/default_policies.hpp>

using namespace tollgate;

#if defined(TOLLGATE_MISFIT)
using failed = result<error>;
#else
using failed = result<void>;
#endif

int main() {
    const failed last{not_found()};
    return last ? 0 : 1;
}

// expect: tollgate: this does not satisfy time_source; read tollgate/contract/sources.hpp
// misfit 1 names now: tollgate: this does not satisfy time_source; read tollgate/contract/sources.hpp
// misfit 2 names steady_now: tollgate: steady_now of a clock is const, noexcept and returns std::chrono::nanoseconds; read tollgate/contract/sources.hpp
// misfit 3 names steady_now: tollgate: steady_now of a clock is const, noexcept and returns std::chrono::nanoseconds; read tollgate/contract/sources.hpp
#include <tollgate/policy/default_policies.hpp>

using namespace tollgate;

struct own_clock {
#if TOLLGATE_MISFIT == 1
    std::chrono::system_clock::time_point now() const noexcept { return {}; }
#else
    instant now() const noexcept { return {}; }
#endif
#if TOLLGATE_MISFIT == 2
    std::chrono::nanoseconds steady_now() const { return {}; }
#elif TOLLGATE_MISFIT == 3
private:
    std::chrono::nanoseconds steady_now() const noexcept { return {}; }
#else
    std::chrono::nanoseconds steady_now() const noexcept { return {}; }
#endif
};

int main() {
    [[maybe_unused]] const auto policies = default_policies().with_clock(own_clock{});
}

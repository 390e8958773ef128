// expect: tollgate: this does not satisfy time_source; read tollgate/contract/sources.hpp
#include <tollgate/policy/default_policies.hpp>

using namespace tollgate;

struct own_clock {
#if defined(TOLLGATE_MISFIT)
    std::chrono::system_clock::time_point now() const noexcept { return {}; }
#else
    instant now() const noexcept { return {}; }
#endif
};

int main() {
    [[maybe_unused]] const auto policies = default_policies().with_clock(own_clock{});
}

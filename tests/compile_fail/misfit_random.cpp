// expect: tollgate: this does not satisfy random_source; read tollgate/contract/sources.hpp
#include <tollgate/policy/default_policies.hpp>

using namespace tollgate;

struct own_random {
#if defined(TOLLGATE_MISFIT)
    void fill(std::span<std::byte>) const noexcept {}  // cannot report a failure
#else
    bool fill(std::span<std::byte>) const noexcept { return false; }
#endif
};

int main() {
    [[maybe_unused]] const auto policies = default_policies().with_random(own_random{});
}

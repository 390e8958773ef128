// expect: tollgate: this does not satisfy observer; read tollgate/contract/observer.hpp
#include <tollgate/policy/default_policies.hpp>

using namespace tollgate;

struct own_observer {
    void on_request(const request_record&) const noexcept {}
    void on_refusal(const refusal_record&) const noexcept {}
#if !defined(TOLLGATE_MISFIT)
    void on_problem(const problem_record&) const noexcept {}
#endif
};

int main() {
    [[maybe_unused]] const auto policies = default_policies().with_observer(own_observer{});
}

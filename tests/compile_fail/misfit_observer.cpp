// expect: tollgate: this does not satisfy observer; read tollgate/contract/observer.hpp
// misfit 1 names on_problem: tollgate: this does not satisfy observer; read tollgate/contract/observer.hpp
// misfit 2 names on_attempt: tollgate: a member named on_attempt exists, but this does not satisfy delivery_observer; read tollgate/contract/observer.hpp
// misfit 3 names on_activity: tollgate: a member named on_activity exists, but this does not satisfy activity_observer; read tollgate/contract/observer.hpp
// misfit 4 names on_attempt: tollgate: a member named on_attempt exists, but this does not satisfy delivery_observer; read tollgate/contract/observer.hpp
// misfit 5 names on_activity: tollgate: a member named on_activity exists, but this does not satisfy activity_observer; read tollgate/contract/observer.hpp
#include <tollgate/policy/default_policies.hpp>

using namespace tollgate;

struct own_observer {
    void on_request(const request_record&) const noexcept {}
    void on_refusal(const refusal_record&) const noexcept {}
#if TOLLGATE_MISFIT != 1
    void on_problem(const problem_record&) const noexcept {}
#endif
#if TOLLGATE_MISFIT == 2
    void on_attempt(const delivery_record&) const {}
#elif TOLLGATE_MISFIT == 4
    void on_attempt(const auto&) const {}
#else
    void on_attempt(const delivery_record&) const noexcept {}
#endif
#if TOLLGATE_MISFIT == 3
    void on_activity(const activity&) noexcept {}
#elif TOLLGATE_MISFIT == 5
    void on_activity(activity_kind) const noexcept {}
    void on_activity(user_id) const noexcept {}
#else
    void on_activity(const activity&) const noexcept {}
#endif
};

int main() {
    [[maybe_unused]] const auto policies = default_policies().with_observer(own_observer{});
}

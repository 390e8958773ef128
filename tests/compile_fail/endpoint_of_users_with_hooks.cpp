// expect: tollgate: an endpoint that needs hooks waits for the store: its `work` is not `users`; read tollgate/pipeline/route_table.hpp
#include <tollgate/pipeline/route_table.hpp>

using namespace tollgate;

struct count_hooks {
    static constexpr bool needs_hooks = true;
#if defined(TOLLGATE_MISFIT)
    static constexpr http::work_kind work = http::work_kind::users;
#endif
    result<void> operator()(api_call&) const { return {}; }
};

int main() {
    [[maybe_unused]] const route_table table{on_get<"/hooks/count">(any_caller, count_hooks{})};
}

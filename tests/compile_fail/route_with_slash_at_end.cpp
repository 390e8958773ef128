// expect: tollgate: a path pattern begins with '/' and does not end in one, has at most 12 segments and no empty one, and each parameter is a whole segment, {name}; query parameters follow as ?{name}&{name}; read tollgate/pipeline/route_table.hpp
#include <tollgate/pipeline/route_table.hpp>

using namespace tollgate;

int main() {
    const auto endpoint = [](auto&) -> result<void> { return {}; };
#if defined(TOLLGATE_MISFIT)
    [[maybe_unused]] const route_table table{on_get<"/invoices/">(any_caller, endpoint)};
#else
    [[maybe_unused]] const route_table table{on_get<"/invoices">(any_caller, endpoint)};
#endif
}

// expect: tollgate: parameters<named<...>, ...> names query parameters of the pattern; read tollgate/pipeline/route_table.hpp
#include <tollgate/pipeline/route_table.hpp>

using namespace tollgate;

int main() {
    using own = parameters<named<"page", integer_parameter<1, 9>>>;
    const auto endpoint = [](auto&, const auto&) -> result<void> { return {}; };
#if defined(TOLLGATE_MISFIT)
    [[maybe_unused]] const route_table table{on_get<"/invoices?{pages}", own>(any_caller, endpoint)};
#else
    [[maybe_unused]] const route_table table{on_get<"/invoices?{page}", own>(any_caller, endpoint)};
#endif
}

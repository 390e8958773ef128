// expect: tollgate: a route names who may call it, before its endpoint: open_to_all, any_caller, needs_scope(...), read_of_service or write_of_service; read tollgate/pipeline/route_table.hpp
#include <tollgate/pipeline/route_table.hpp>

using namespace tollgate;

int main() {
    const auto endpoint = [](auto&) -> result<void> { return {}; };
#if defined(TOLLGATE_MISFIT)
    [[maybe_unused]] const route_table table{on_get<"/invoices">(endpoint, {.operation = "listInvoices"})};
#else
    [[maybe_unused]] const route_table table{on_get<"/invoices">(any_caller, endpoint, {.operation = "listInvoices"})};
#endif
}

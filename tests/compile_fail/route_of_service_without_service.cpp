// expect: tollgate: read_of_service and write_of_service are for paths with a {service}; read tollgate/pipeline/route_table.hpp
#include <tollgate/pipeline/route_table.hpp>

using namespace tollgate;

int main() {
    const auto endpoint = [](auto&, auto&&...) -> result<void> { return {}; };
#if defined(TOLLGATE_MISFIT)
    [[maybe_unused]] const route_table table{on_get<"/invoices">(read_of_service, endpoint)};
#else
    [[maybe_unused]] const route_table table{on_get<"/{service}/invoices">(read_of_service, endpoint)};
#endif
}

// expect: tollgate: two routes of a table have the same method and match the same paths; read tollgate/pipeline/route_table.hpp
#include <tollgate/pipeline/route_table.hpp>

using namespace tollgate;

int main() {
    const auto endpoint = [](api_call&, std::string_view) -> result<void> { return {}; };
#if defined(TOLLGATE_MISFIT)
    [[maybe_unused]] const route_table table{on_get<"/notes/{name}">(any_caller, endpoint),
                                             on_get<"/notes/{title}">(any_caller, endpoint)};
#else
    [[maybe_unused]] const route_table table{on_get<"/notes/{name}">(any_caller, endpoint),
                                             on_put<"/notes/{title}">(any_caller, endpoint)};
#endif
}

#include "expect.hpp"
#include "serve_from.hpp"
#include "serve_on.hpp"
#include "sqlite_directory.hpp"

#include <tollgate/base/system_sources.hpp>
#include <tollgate/store/sqlite.hpp>

#include <optional>

namespace reference {

void serve_on_sqlite(const settings& with, const tollgate::service_catalog& services, const signals& told) {
    const auto file = with.store_location().file;
    auto users = expect(sqlite_directory::open(file), "--store: cannot open the database");
    auto store = expect(tollgate::sqlite_store::open(file.string()), "--store: cannot open the database");
    const kept_in kept{users, store, tollgate::system_clock{}};
    std::optional<demo> shown;
    if (with.demo) shown = kept_demo(kept, with, services);
    serve_from(kept, shown, with, services, told);
}

}  // namespace reference

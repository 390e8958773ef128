#include "data_directory.hpp"
#include "failure.hpp"
#include "serve_from.hpp"
#include "sqlite_directory.hpp"

#include <tollgate/base/system_sources.hpp>
#include <tollgate/store/sqlite.hpp>

#include <optional>

namespace reference {

void serve_on_sqlite(const settings& with, const tollgate::service_catalog& services, const signals& stop_signals) {
    const auto file = with.store_location().file;
    tollgate::sqlite_settings kept_as;
    kept_as.owner_query = sqlite_directory::owner_query;
    kept_as.hook_secret_keys = read_secret_keys(with.secret_key_file);
    auto users = expect(sqlite_directory::open(file), "--store: cannot open the database");
    auto store = expect(tollgate::sqlite_store::open(file.string(), kept_as), "--store: cannot open the database");
    const stored_data data{users, store, tollgate::system_clock{}};
    std::optional<demo> shown;
    if (with.demo) shown = kept_demo(data, with, services);
    serve_from(data, shown, with, services, stop_signals);
}

}  // namespace reference

#include "data_directory.hpp"
#include "failure.hpp"
#include "serve_from.hpp"
#include "sqlite_directory.hpp"
#include "wal_watch.hpp"

#include <tollgate/base/system_sources.hpp>
#include <tollgate/store/sqlite.hpp>

#include <sqlite3.h>

#include <optional>

namespace reference {

void serve_on_sqlite(const settings& settings, const tollgate::service_catalog& services, const signals& stop_signals) {
    // Nothing reads SQLite's statistics of its memory, and to count, each of its allocations takes a lock of the whole process.
    ::sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    const auto file = settings.store_location().file;
    tollgate::sqlite_settings store_settings;
    store_settings.owner_query = sqlite_directory::owner_query;
    store_settings.hook_secret_keys = read_secret_keys(settings.secret_key_file);
    auto users = expect(sqlite_directory::open(file), "--store: cannot open the database");
    expect(users.check_writable(), "--store: cannot write to '" + file.string() + "'");
    auto store = expect(tollgate::sqlite_store::open(file.string(), store_settings), "--store: cannot open the database");
    const stored_data data{users, store, tollgate::system_clock{}};
    std::optional<demo> shown;
    if (settings.demo) shown = kept_demo(data, settings, services);
    wal_watch wal{file};
    serve_from(data, shown, settings, services, stop_signals, &wal);
}

}  // namespace reference

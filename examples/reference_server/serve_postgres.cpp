#include "data_directory.hpp"
#include "failure.hpp"
#include "postgres_directory.hpp"
#include "serve_from.hpp"

#include <tollgate/store/postgres.hpp>

#include <optional>

namespace reference {

void serve_on_postgres(const settings& settings, const tollgate::service_catalog& services, const signals& stop_signals) {
    const auto to = settings.store_location().connection_string;
    const auto for_users = settings.store_connections / 2;  // a request uses one at a time of either
    tollgate::postgres_settings store_settings;
    store_settings.hook_secret_keys = read_secret_keys(settings.secret_key_file);
    auto users = expect(postgres_directory::open(to, for_users), "--store: cannot open the database");

    store_settings.connections_max = settings.store_connections - for_users;
    store_settings.callers_clock = nullptr;  // all callers use the store's clock
    if (settings.cached_for > tollgate::milliseconds{0}) {
        store_settings.cached_credentials_max = 16'384;  // of each kind: 20 MB, if all are used
        store_settings.cached_for = settings.cached_for;
    }
    store_settings.owner_query = postgres_directory::owner_query;
    auto store = expect(tollgate::postgres_store::open(to, store_settings), "--store: cannot open the database");

    const stored_data data{users, store, store.clock()};
    std::optional<demo> shown;
    if (settings.demo) shown = kept_demo(data, settings, services);
    serve_from(data, shown, settings, services, stop_signals);
}

}  // namespace reference

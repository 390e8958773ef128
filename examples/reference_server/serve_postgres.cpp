#include "data_directory.hpp"
#include "failure.hpp"
#include "postgres_directory.hpp"
#include "serve_from.hpp"

#include <tollgate/store/postgres.hpp>

#include <optional>

namespace reference {

void serve_on_postgres(const settings& with, const tollgate::service_catalog& services, const signals& stop_signals) {
    const auto to = with.store_location().connection_string;
    const auto for_users = with.store_connections / 2;  // a request uses one at a time of either
    tollgate::postgres_settings kept_as;
    kept_as.hook_secret_keys = read_secret_keys(with.secret_key_file);
    auto users = expect(postgres_directory::open(to, for_users), "--store: cannot open the database");

    kept_as.connections_max = with.store_connections - for_users;
    kept_as.callers_clock = nullptr;  // all callers use the store's clock
    if (with.remembered_for > tollgate::milliseconds{0}) {
        kept_as.cached_credentials_max = 16'384;  // of each kind: 20 MB, if all are used
        kept_as.cached_for = with.remembered_for;
    }
    kept_as.owner_query = postgres_directory::owner_query;
    auto store = expect(tollgate::postgres_store::open(to, kept_as), "--store: cannot open the database");

    const stored_data data{users, store, store.clock()};
    std::optional<demo> shown;
    if (with.demo) shown = kept_demo(data, with, services);
    serve_from(data, shown, with, services, stop_signals);
}

}  // namespace reference

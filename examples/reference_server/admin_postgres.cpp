#include "administer.hpp"
#include "postgres_directory.hpp"

#include <tollgate/store/postgres.hpp>

#include <variant>

namespace reference {

namespace {

struct postgres_place {
    const settings& with;

    [[nodiscard]] postgres_directory users() const {
        return expect(postgres_directory::open(with.store_location().connection_string, 1),
                      "--store: cannot open the database");
    }
    [[nodiscard]] tollgate::postgres_store store() const {
        tollgate::postgres_settings one;
        one.connections_max = 1;
        one.callers_clock = nullptr;
        return expect(tollgate::postgres_store::open(with.store_location().connection_string, one),
                      "--store: cannot open the database");
    }
    /// The server's, as for those who serve.
    [[nodiscard]] static tollgate::instant now(const tollgate::postgres_store& store) { return store.clock().now(); }
};

}  // namespace

nlohmann::ordered_json administer_on_postgres(const command& wanted, const settings& with) {
    return std::visit(administration{postgres_place{with}}, wanted);
}

}  // namespace reference

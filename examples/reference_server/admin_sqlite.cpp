#include "administer.hpp"
#include "data_directory.hpp"
#include "sqlite_directory.hpp"

#include <tollgate/base/system_sources.hpp>
#include <tollgate/store/sqlite.hpp>

#include <variant>

namespace reference {

namespace {

struct sqlite_place {
    const settings& with;

    /// The file, in a directory that is there.
    [[nodiscard]] std::string file() const {
        if (!with.store) make_private_directory(with.data);
        return with.store_location().file.string();
    }
    [[nodiscard]] sqlite_directory users() const {
        return expect(sqlite_directory::open(file()), "--store: cannot open the database");
    }
    [[nodiscard]] tollgate::sqlite_store store() const {
        return expect(tollgate::sqlite_store::open(file()), "--store: cannot open the database");
    }
    [[nodiscard]] static tollgate::instant now(const tollgate::sqlite_store&) { return tollgate::system_clock{}.now(); }
};

}  // namespace

nlohmann::ordered_json administer_on_sqlite(const command& wanted, const settings& with) {
    return std::visit(administration{sqlite_place{with}}, wanted);
}

}  // namespace reference

#include "administer.hpp"
#include "data_directory.hpp"
#include "sqlite_directory.hpp"

#include <tollgate/base/system_sources.hpp>
#include <tollgate/store/sqlite.hpp>

#include <filesystem>
#include <system_error>
#include <variant>

namespace reference {

namespace {

struct sqlite_place {
    const settings& with;
    bool may_create;

    /// The database's file. A mistyped path must not become a new, empty database, except for the first user.
    [[nodiscard]] std::string file() const {
        const auto file = with.store_location().file;
        if (std::error_code ignored; !may_create && !std::filesystem::exists(file, ignored))
            throw run_error{"--store: there is no database at '" + file.string() + "'."};
        if (!with.store) make_private_directory(with.data);
        return file.string();
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
    return std::visit(administration{sqlite_place{with, std::holds_alternative<add_user>(wanted)}}, wanted);
}

}  // namespace reference

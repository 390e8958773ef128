#include "administer.hpp"
#include "check.hpp"
#include "data_directory.hpp"
#include "sqlite_directory.hpp"

#include <tollgate/base/system_sources.hpp>
#include <tollgate/store/sqlite.hpp>
#include <tollgate/store/sqlite_database.hpp>

#include <variant>

namespace reference {

namespace {

struct sqlite_access {
    const reference::settings& settings;
    bool may_create;

    /// The database's file, which exists and has the tables unless the command may create them.
    [[nodiscard]] std::string file() const {
        const auto file = settings.store_location().file;
        if (!may_create && !file_exists(file, "--store"))
            throw run_error{"--store: there is no database at '" + file.string() +
                            "'. Give the --store or --data of the server that made it."};
        if (!may_create && schema().is_empty())
            throw run_error{"--store: '" + file.string() + "' contains no Tollgate tables."};
        if (!settings.store) make_private_directory(settings.data);
        return file.string();
    }
    [[nodiscard]] store_schema schema() const {
        const auto file = settings.store_location().file;
        return {expect(tollgate::sqlite_store::check_schema(file.string()), "--store: cannot read the database"),
                expect(sqlite_directory::check_schema(file), "--store: cannot read the database")};
    }
    [[nodiscard]] sqlite_directory users() const {
        return expect(sqlite_directory::open(file()), "--store: cannot open the database");
    }
    [[nodiscard]] tollgate::sqlite_store store() const {
        return expect(tollgate::sqlite_store::open(file()), "--store: cannot open the database");
    }
    /// Reads the whole file in a read transaction, which does not block a running server.
    void check_integrity() const {
        auto opened = expect(tollgate::sqlite_database::open(file()), "cannot open the database");
        expect(opened.read([](tollgate::sqlite::database& on) -> tollgate::result<void> {
            const auto faults = tollgate::sql::read_all(on.prepare("PRAGMA integrity_check(1)"),
                                                        [](std::string& fault) { return std::move(fault); });
            if (!faults) return faults.error();
            if (faults->size() != 1 || faults->front() != "ok")
                return tollgate::internal_error(faults->empty() ? "no answer" : faults->front());
            const auto orphan = tollgate::sql::read_value<std::string>(
                on.prepare("SELECT \"table\" FROM pragma_foreign_key_check LIMIT 1"));
            if (!orphan) return orphan.error();
            if (*orphan) return tollgate::internal_error("a row of " + **orphan + " refers to one that does not exist");
            return {};
        }), "the database is damaged");
        expect(sqlite_directory::check_writable(opened), "the database cannot be written");
    }
    [[nodiscard]] std::vector<std::string> one_secret_of_each_key() const {
        auto opened = expect(tollgate::sqlite_database::open(file()), "cannot open the database");
        return expect(opened.read([](tollgate::sqlite::database& on) {
            return tollgate::sql::read_all(on.prepare(select_one_secret_of_each_key),
                                           [](std::string& secret) { return std::move(secret); });
        }), "cannot read the webhooks");
    }
    [[nodiscard]] static tollgate::instant now(const tollgate::sqlite_store&) { return tollgate::system_clock{}.now(); }
};

}  // namespace

nlohmann::ordered_json administer_on_sqlite(const command& chosen, const settings& settings) {
    return std::visit(administration{sqlite_access{settings, may_create_tables(chosen)}}, chosen);
}

}  // namespace reference

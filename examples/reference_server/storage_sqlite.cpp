#include "data_directory.hpp"
#include "output.hpp"
#include "sqlite_directory.hpp"
#include "storage.hpp"

#include <tollgate/store/sqlite.hpp>
#include <tollgate/store/sqlite_database.hpp>

#include <sqlite3.h>

namespace reference {

namespace {

class sqlite_file final : public database {
public:
    sqlite_file(const settings& settings, bool may_create) : settings_{settings}, may_create_{may_create} {}

    [[nodiscard]] storage_schema schema() const override {
        const auto file = settings_.store_location().file;
        return {expect(tollgate::sqlite_store::check_schema(file.string()), "--store: cannot read the database"),
                expect(sqlite_directory::check_schema(file), "--store: cannot read the database")};
    }
    [[nodiscard]] std::unique_ptr<database_directory> users() const override {
        return std::make_unique<sqlite_directory>(expect(sqlite_directory::open(file()), "--store: cannot open the database"));
    }
    [[nodiscard]] tollgate::any_store store(const std::optional<tollgate::secret_keys>& keys) const override {
        tollgate::sqlite_settings with_keys;
        with_keys.hook_secret_keys = keys;
        return expect(tollgate::sqlite_store::open_any(file(), with_keys), "--store: cannot open the database");
    }
    /// Reads the whole file in a read transaction, which does not block a running server.
    void check_integrity() const override {
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
    [[nodiscard]] std::vector<std::string> one_secret_of_each_key() const override {
        auto opened = expect(tollgate::sqlite_database::open(file()), "cannot open the database");
        return expect(opened.read([](tollgate::sqlite::database& on) {
            return tollgate::sql::read_all(on.prepare(select_one_secret_of_each_key),
                                           [](std::string& secret) { return std::move(secret); });
        }), "cannot read the webhooks");
    }

    [[nodiscard]] std::unique_ptr<record_reader> reader() const override {
        update_tables();
        return open_sqlite_reader(settings_);
    }
    [[nodiscard]] std::unique_ptr<record_writer> writer() const override {
        update_tables();
        return open_sqlite_writer(settings_);
    }

private:
    /// The database's file, which exists and has the tables unless the command may create them.
    [[nodiscard]] std::string file() const {
        const auto file = settings_.store_location().file;
        if (!may_create_ && !file_exists(file, "--store"))
            throw run_error{"--store: there is no database at '" + file.string() +
                            "'. Give the --store or --data of the server that made it."};
        if (!may_create_ && schema().is_empty())
            throw run_error{"--store: '" + file.string() + "' contains no Tollgate tables."};
        if (!settings_.store) make_private_directory(settings_.data);
        return file.string();
    }

    const settings& settings_;
    bool may_create_;
};

}  // namespace

storage open_sqlite_storage(const settings& settings) {
    // Nothing reads SQLite's statistics of its memory, and to count, each of its allocations takes a lock of the whole process.
    ::sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    const auto file = settings.store_location().file;
    tollgate::sqlite_settings store_settings;
    store_settings.owner_query = sqlite_directory::owner_query;
    store_settings.hook_secret_keys = read_secret_keys(settings.secret_key_file);
    auto users = expect(sqlite_directory::open(file), "--store: cannot open the database");
    expect(users.check_writable(), "--store: cannot write to '" + file.string() + "'");
    auto store = expect(tollgate::sqlite_store::open_any(file.string(), store_settings), "--store: cannot open the database");
    return {std::make_unique<sqlite_directory>(std::move(users)), std::move(store)};
}

std::unique_ptr<database> sqlite_database_of(const settings& settings, bool may_create) {
    return std::make_unique<sqlite_file>(settings, may_create);
}

}  // namespace reference

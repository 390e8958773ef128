#include "output.hpp"
#include "transfer_sql.hpp"
#include "transfer_store.hpp"

#include <tollgate/store/sqlite_database.hpp>

#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace reference {

namespace {

using tollgate::sql::statement_text;

tollgate::sqlite_database open_file(const settings& settings) {
    return expect(tollgate::sqlite_database::open(settings.store_location().file.string()), "--store: cannot open the database");
}

int digit_of(unsigned char character) {
    if (character >= '0' && character <= '9') return character - '0';
    return character >= 'a' && character <= 'f' ? character - 'a' + 10 : -1;
}

/// The SQL function `from_hex`: the bytes of a text of lower-case hexadecimal digits. SQLite 3.41 has one, `unhex`.
void from_hex(sqlite3_context* call, int, sqlite3_value** arguments) {
    const auto* const text = sqlite3_value_text(arguments[0]);
    if (text == nullptr) return sqlite3_result_null(call);
    std::string bytes;
    for (std::size_t i = 0, size = static_cast<std::size_t>(sqlite3_value_bytes(arguments[0])); i + 1 < size; i += 2)
        bytes.push_back(static_cast<char>(digit_of(text[i]) * 16 + digit_of(text[i + 1])));
    sqlite3_result_blob64(call, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
}

/// A connection with the statements. Its transaction ends with it.
class sqlite_records {
protected:
    sqlite_records(tollgate::sqlite_database database, tollgate::result<tollgate::sqlite_database::lease> taken, statement_text begin)
        : database_{std::move(database)}, lease_{expect(std::move(taken), "--store: cannot open the database")} {
        expect(on().run(begin), "--store: cannot begin a transaction");
    }
    ~sqlite_records() { static_cast<void>(on().run("ROLLBACK")); }  // an error if it is committed

    [[nodiscard]] tollgate::sqlite::database& on() { return *lease_; }
    [[nodiscard]] const record_statements& of(const record_type& type) const {
        return statements_[static_cast<std::size_t>(&type - record_types().data())];
    }

private:
    const std::vector<record_statements> statements_ = make_record_statements(database_kind::sqlite);
    tollgate::sqlite_database database_;
    tollgate::sqlite_database::lease lease_;
};

class sqlite_reader final : public record_reader, private sqlite_records {
public:
    explicit sqlite_reader(tollgate::sqlite_database database, tollgate::result<tollgate::sqlite_database::lease> reader)
        : sqlite_records{std::move(database), std::move(reader), "BEGIN"} {}

    void read_all(const record_type& type, const std::function<void(const std::string&)>& take) override {
        expect(tollgate::sql::for_each_row(on().prepare(statement_text::composed(of(type).select_all)),
                                           [&](std::string& object) { take(object); }),
               "--store: cannot read the records");
    }
    [[nodiscard]] std::int64_t last_id(const record_type& type) override {
        const auto largest = std::string{"SELECT coalesce(max(id), 0) FROM "}.append(type.table);
        const auto counted = type.name == "account" ? std::string{"SELECT id FROM directory_last_account"}
                                                    : "SELECT seq FROM sqlite_sequence WHERE name = '" + std::string{type.table} + "'";
        return (std::max)(number(largest), number(counted));
    }

private:
    /// Not prepared: the text need not outlive the connection.
    std::int64_t number(const std::string& query) {
        std::int64_t found = 0;
        const auto take = [](void* into, int, char** values, char**) {
            *static_cast<std::int64_t*>(into) = values[0] == nullptr ? 0 : std::atoll(values[0]);
            return 0;
        };
        if (sqlite3_exec(on().handle(), query.c_str(), take, &found, nullptr) != SQLITE_OK)
            throw run_error{"--store: cannot read the last id."};
        return found;
    }
};

class sqlite_writer final : public record_writer, private sqlite_records {
public:
    explicit sqlite_writer(tollgate::sqlite_database database, tollgate::result<tollgate::sqlite_database::lease> writer)
        : sqlite_records{std::move(database), std::move(writer), "BEGIN IMMEDIATE"} {
        sqlite3_create_function_v2(on().handle(), "from_hex", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nullptr, &from_hex,
                                   nullptr, nullptr, nullptr);
    }

    [[nodiscard]] bool has_rows(const record_type& type) override {
        return expect(tollgate::sql::read_value<std::int64_t>(on().prepare(statement_text::composed(of(type).select_one))),
                      "--store: cannot read the tables")
            .has_value();
    }
    [[nodiscard]] std::optional<dangling_reference> find_dangling(const record_type& type, const std::string& rows) override {
        if (of(type).find_dangling.empty()) return std::nullopt;
        return expect(tollgate::sql::read_one(on().prepare(statement_text::composed(of(type).find_dangling), rows),
                                              [](std::int64_t line, std::string& member) {
                                                  return dangling_reference{line, std::move(member)};
                                              }),
                      "--store: cannot check the references");
    }
    [[nodiscard]] tollgate::result<void> insert(const record_type& type, const std::string& rows) override {
        return on().run(statement_text::composed(of(type).insert), rows);
    }
    void commit(std::span<const last_id> last_ids) override {
        const auto run = [this](statement_text text, const auto&... values) {
            expect(on().run(text, values...), "--store: cannot write the records");
        };
        for (const auto& each : last_ids) {
            if (each.type->name == "account") run("UPDATE directory_last_account SET id = ?", each.id);
            // There is a row for a table with AUTOINCREMENT that has ever had a row.
            run("INSERT INTO sqlite_sequence (name, seq) SELECT ?1, 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1) "
                "AND EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1 AND sql LIKE '%AUTOINCREMENT%')",
                each.type->table);
            run("UPDATE sqlite_sequence SET seq = ?2 WHERE name = ?1", each.type->table, each.id);
        }
        run("UPDATE tollgate_hooks SET ready_at = (SELECT min(at) FROM tollgate_deliveries "
            "WHERE hook_id = tollgate_hooks.id AND state = 0)");
        run("COMMIT");
    }
};

}  // namespace

std::unique_ptr<record_reader> open_sqlite_reader(const settings& settings) {
    auto database = open_file(settings);
    auto reader = database.reader();
    return std::make_unique<sqlite_reader>(std::move(database), std::move(reader));
}

std::unique_ptr<record_writer> open_sqlite_writer(const settings& settings) {
    auto database = open_file(settings);
    auto writer = database.writer();
    return std::make_unique<sqlite_writer>(std::move(database), std::move(writer));
}

}  // namespace reference

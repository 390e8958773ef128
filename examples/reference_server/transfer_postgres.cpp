#include "output.hpp"
#include "transfer_sql.hpp"
#include "transfer_store.hpp"

#include <tollgate/store/postgres_database.hpp>

#include <chrono>
#include <utility>
#include <vector>

namespace reference {

namespace {

using tollgate::postgres::statement_text;

/// Statements on whole tables take long, and so may writing the file between two of them.
constexpr std::chrono::minutes response_wait_max{10};

tollgate::postgres_database open_database(const settings& settings) {
    tollgate::postgres_database_settings one{.connections_max = 1, .callers_clock = nullptr};
    one.each.response_wait_max = response_wait_max;
    return expect(tollgate::postgres_database::open(settings.store_location().connection_string, one),
                  "--store: cannot open the database");
}

/// A transaction with the statements, which outlive the connection that prepares them. Without `commit`, it is rolled back.
class postgres_records {
protected:
    postgres_records(tollgate::postgres_database database, statement_text begin)
        : database_{std::move(database)}, on_{expect(database_.begin(), "--store: cannot begin a transaction")} {
        run("--store: cannot begin a transaction", begin);
    }

    template <class... Values>
    [[nodiscard]] tollgate::result<tollgate::postgres::rows> try_run(statement_text text, const Values&... values) {
        auto single = database_.make_batch();
        single.add(text, values...);
        auto done = on_.run(single);
        if (!done) return std::move(done).error();
        return std::move(done->front());
    }
    template <class... Values>
    tollgate::postgres::rows run(const char* failed, statement_text text, const Values&... values) {
        return expect(try_run(text, values...), failed);
    }
    [[nodiscard]] const record_statements& of(const record_type& type) const {
        return statements_[static_cast<std::size_t>(&type - record_types().data())];
    }
    void end_transaction() {
        static_cast<void>(expect(on_.commit(database_.make_batch()), "--store: cannot write the records"));
    }

private:
    const std::vector<record_statements> statements_ = make_record_statements(database_kind::postgres);
    tollgate::postgres_database database_;
    tollgate::postgres::transaction on_;
};

class postgres_reader final : public record_reader, private postgres_records {
public:
    explicit postgres_reader(const settings& settings)
        : postgres_records{open_database(settings), "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"} {}

    void read_all(const record_type& type, const std::function<void(const std::string&)>& take) override {
        constexpr const char* failed = "--store: cannot read the records";
        run(failed, statement_text::composed(of(type).select_all));
        for (bool at_end = false; !at_end;) {
            auto rows = run(failed, "FETCH 1000 FROM records");
            at_end = rows.count() == 0;
            expect(tollgate::sql::for_each_row(rows, [&](std::string& object) { take(object); }), failed);
        }
        run(failed, "CLOSE records");
    }
    [[nodiscard]] std::int64_t last_id(const record_type& type) override {
        constexpr const char* failed = "--store: cannot read the last id";
        auto read = run(failed, "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence($1, 'id')::regclass), 0)", type.table);
        return expect(tollgate::sql::read_value<std::int64_t>(read), failed).value_or(0);
    }
};

class postgres_writer final : public record_writer, private postgres_records {
public:
    explicit postgres_writer(const settings& settings) : postgres_records{open_database(settings), "BEGIN"} {
        // Against other imports, and new users.
        run("--store: cannot lock the users", "LOCK TABLE directory_users IN SHARE ROW EXCLUSIVE MODE");
    }

    [[nodiscard]] bool has_rows(const record_type& type) override {
        return run("--store: cannot read the tables", statement_text::composed(of(type).select_one)).count() > 0;
    }
    [[nodiscard]] std::optional<dangling_reference> find_dangling(const record_type& type, const std::string& rows) override {
        if (of(type).find_dangling.empty()) return std::nullopt;
        constexpr const char* failed = "--store: cannot check the references";
        auto found = run(failed, statement_text::composed(of(type).find_dangling), rows);
        return expect(tollgate::sql::read_one(found, [](std::int64_t line, std::string& member) {
            return dangling_reference{line, std::move(member)};
        }), failed);
    }
    [[nodiscard]] tollgate::result<void> insert(const record_type& type, const std::string& rows) override {
        run("--store: cannot write the records", "SAVEPOINT rows");
        if (type.has_hosts())
            run("--store: cannot write the records",
                "INSERT INTO tollgate_hosts (name) SELECT DISTINCT host FROM json_to_recordset($1::json) AS given (host text) "
                "ON CONFLICT (name) DO NOTHING",
                rows);
        auto inserted = try_run(statement_text::composed(of(type).insert), rows);
        if (!inserted) {
            run("--store: cannot continue the transaction", "ROLLBACK TO SAVEPOINT rows");
            return std::move(inserted).error();
        }
        run("--store: cannot write the records", "RELEASE SAVEPOINT rows");
        return {};
    }
    /// A sequence keeps its new value if the transaction fails: the next import sets it again.
    void commit(std::span<const last_id> last_ids) override {
        constexpr const char* failed = "--store: cannot write the records";
        for (const auto& each : last_ids)
            run(failed, "SELECT setval(pg_get_serial_sequence($1, 'id'), greatest($2, 1), $2 > 0)", each.type->table, each.id);
        run(failed,
            "UPDATE tollgate_hooks AS hooks SET ready_at = first_at FROM (SELECT hook_id, min(at) AS first_at FROM tollgate_deliveries "
            "WHERE state = 0 GROUP BY hook_id) AS earliest WHERE hooks.id = hook_id");
        end_transaction();
    }
};

}  // namespace

std::unique_ptr<record_reader> open_postgres_reader(const settings& settings) { return std::make_unique<postgres_reader>(settings); }

std::unique_ptr<record_writer> open_postgres_writer(const settings& settings) { return std::make_unique<postgres_writer>(settings); }

}  // namespace reference

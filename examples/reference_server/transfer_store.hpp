#pragma once

#include "settings.hpp"
#include "transfer_records.hpp"

#include <tollgate/base/result.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

/// How records get out of a database and into another one. Each function throws `run_error`.
namespace reference {

/// The records of a database, all as they were at one time.
class record_reader {
public:
    virtual ~record_reader() = default;
    record_reader(const record_reader&) = delete;
    record_reader& operator=(const record_reader&) = delete;

    /// Calls `take` with each record, a JSON object as in `transfer_sql.hpp`, in the order of the keys.
    virtual void read_all(const record_type& type, const std::function<void(const std::string& object)>& take) = 0;
    /// The largest id that a record ever had, or larger; 0 if there never was one.
    [[nodiscard]] virtual std::int64_t last_id(const record_type& type) = 0;

protected:
    record_reader() = default;
};

/// A reference to a record that does not exist.
struct dangling_reference {
    std::int64_t line;
    std::string member;
};

/// Ids that are in use, or have been.
struct last_id {
    const record_type* type;
    std::int64_t id;
};

/// Writes records in one transaction, which `commit` ends. Without it, nothing is changed.
class record_writer {
public:
    virtual ~record_writer() = default;
    record_writer(const record_writer&) = delete;
    record_writer& operator=(const record_writer&) = delete;

    /// Whether the table has a row. Nobody else adds a user until the end of the transaction.
    [[nodiscard]] virtual bool has_rows(const record_type& type) = 0;
    /// The first of the rows that refers to a missing record. `rows`: a JSON array as in `transfer_sql.hpp`.
    [[nodiscard]] virtual std::optional<dangling_reference> find_dangling(const record_type& type, const std::string& rows) = 0;
    /// After an error, none of these rows is inserted, and others can be.
    [[nodiscard]] virtual tollgate::result<void> insert(const record_type& type, const std::string& rows) = 0;
    /// New records get ids above these.
    virtual void commit(std::span<const last_id> last_ids) = 0;

protected:
    record_writer() = default;
};

// For each kind of database; those of PostgreSQL only in a build with libpq. Precondition: the tables exist and are up to date.
[[nodiscard]] std::unique_ptr<record_reader> open_sqlite_reader(const settings& settings);
[[nodiscard]] std::unique_ptr<record_writer> open_sqlite_writer(const settings& settings);
[[nodiscard]] std::unique_ptr<record_reader> open_postgres_reader(const settings& settings);
[[nodiscard]] std::unique_ptr<record_writer> open_postgres_writer(const settings& settings);

}  // namespace reference

#pragma once

#include "directory.hpp"
#include "settings.hpp"
#include "transfer_store.hpp"

#include <tollgate/base/result.hpp>
#include <tollgate/base/secret_keys.hpp>
#include <tollgate/store/any_store.hpp>
#include <tollgate/store/sqlite_database.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// What `--store` chooses: memory, SQLite or PostgreSQL. Users and everything else are in the same place.
namespace reference {

/// The users, and the store of everything else.
struct storage {
    std::unique_ptr<directory> users;
    tollgate::any_store store;
};

/// Opens the storage for `serve`; creates tables, and brings older ones up to date. Throws `run_error`.
[[nodiscard]] storage open_storage(const settings& settings);

/// Reads what requests read, so that a missing table, privilege or connection shows: tokens, and users with their accounts.
[[nodiscard]] tollgate::result<void> try_request_reads(directory& users, const tollgate::any_store& store);

/// The versions of the two components of a database.
struct storage_schema {
    tollgate::schema_status store;
    tollgate::schema_status directory;

    [[nodiscard]] bool is_empty() const { return store.version == 0 && directory.version == 0; }
    [[nodiscard]] bool needs_migration() const { return store.version < store.newest || directory.version < directory.newest; }
};

/// A database for one administrative command, beside servers that use it. Each function opens it; each throws `run_error`.
class database {
public:
    virtual ~database() = default;
    database(const database&) = delete;
    database& operator=(const database&) = delete;

    /// The users, and the store of everything else. Both bring older tables up to date.
    [[nodiscard]] virtual std::unique_ptr<database_directory> users() const = 0;
    /// With keys, the store encrypts webhook secrets as that of `serve` does. Without, the caller reads and stores none.
    [[nodiscard]] virtual tollgate::any_store store(const std::optional<tollgate::secret_keys>& keys = {}) const = 0;

    /// The records of both, for `export` and `import`. They bring older tables up to date, too.
    [[nodiscard]] virtual std::unique_ptr<record_reader> reader() const = 0;
    [[nodiscard]] virtual std::unique_ptr<record_writer> writer() const = 0;

    /// The versions of the tables, without changing them.
    [[nodiscard]] virtual storage_schema schema() const = 0;
    /// Throws if the database is damaged, or this process cannot change it.
    virtual void check_integrity() const = 0;
    /// One of the webhook secrets that are encrypted with each key. Precondition: the tables are up to date.
    [[nodiscard]] virtual std::vector<std::string> one_secret_of_each_key() const = 0;

protected:
    database() = default;
    /// Opens both components once, which updates their tables.
    void update_tables() const {
        static_cast<void>(store());
        static_cast<void>(users());
    }
    static constexpr const char* select_one_secret_of_each_key =
        "SELECT min(secret) FROM (SELECT secret FROM tollgate_hooks UNION ALL SELECT secret FROM tollgate_hook_secrets) AS secrets "
        "WHERE secret LIKE 'aes256gcm.%' GROUP BY substr(secret, 1, 18)";
};

/// The database of `--store`. If it does not exist, or has no tables, its functions throw, unless `may_create`. Precondition: the store is
/// not `memory:`.
[[nodiscard]] std::unique_ptr<database> database_of(const settings& settings, bool may_create);

// For each kind of database; those of PostgreSQL only in a build with libpq.
[[nodiscard]] storage open_sqlite_storage(const settings& settings);
[[nodiscard]] storage open_postgres_storage(const settings& settings);
[[nodiscard]] std::unique_ptr<database> sqlite_database_of(const settings& settings, bool may_create);
[[nodiscard]] std::unique_ptr<database> postgres_database_of(const settings& settings, bool may_create);

}  // namespace reference

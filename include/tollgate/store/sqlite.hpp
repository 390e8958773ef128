#pragma once
#ifndef TOLLGATE_STORE_SQLITE_HPP
#define TOLLGATE_STORE_SQLITE_HPP

#include <tollgate/base/backend_statistics.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/secret_keys.hpp>
#include <tollgate/store/any_store.hpp>
#include <tollgate/store/schema_status.hpp>
#include <tollgate/store/store_error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// Connections, bounds and caches of a sqlite_store.
struct sqlite_settings {
    /// Connections that read at the same time; a further connection writes. A read takes microseconds, so more than one connection per core
    /// gains nothing.
    std::size_t readers_max = 8;
    /// The time for which a verb waits in total, for a connection and for other processes that write, before it fails (unavailable).
    /// A `hook_enabling`, which updates 1,000 deliveries at a time, also stops after this time; another call continues from there.
    milliseconds busy_wait_max{2000};
    /// Credentials of each kind to cache, valid exactly until the next commit of any process; 0: no cache. A credential takes 1.2 kB,
    /// allocated on first use.
    std::size_t cached_credentials_max = 4096;
    /// If the directory's users are in this file: a query for a user, whose row is then read, and cached, together with their credential.
    /// Its parameter is the user's id. It returns the results of `quota_of` and `balance_of`, which are then not called, in four columns:
    /// the number of requests, NULL for the default quota; the window in seconds; the balance as text and its currency, NULL to call
    /// `balance_of`. Without a row, the directory is called.
    ///     SELECT requests_per_day, 86400, balance, currency FROM shop_users WHERE id = ?
    ///
    /// The tables must exist when the store is opened. Empty: the directory is called for each request.
    std::string owner_query{};
    /// The virtual file system that SQLite uses. Empty: the default of the system.
    std::string vfs{};
    /// Keys that encrypt webhook secrets in the database; `secret_keys{}` has none. Set this where webhooks are delivered: opening the
    /// store then encrypts plain secrets with the first key, and fails (unavailable) if the key of an encrypted secret is missing. If it is
    /// not set, secrets are stored in plain text, and opening does not read them; deliveries whose secret is encrypted wait.
    std::optional<secret_keys> hook_secret_keys{};
};

namespace sqlite_detail {
class store;
}

/// The store on SQLite: one file and its log. When a verb returns, its effect survives kill -9 and power failures. Any
/// number of processes may use the file at the same time and see each other's changes at once.
///
/// Only the owner of a new file can read and write it. Tables are named `tollgate_...` and are updated when the file is opened. The file
/// may also contain an integrator's own tables.
///
/// The verbs are those of `any_store`, and the contracts document them. Copies share the store.
///
/// Thread rule: any thread. Calls block. A moved-from store may only be destroyed or assigned to. Errors: only the constructor throws;
/// unavailable for conditions that may pass (busy for too long, full disk), internal for a damaged file.
class sqlite_store : public any_store {
public:
    /// Calls may wait for the database.
    static constexpr bool blocking = true;

    /// Opens the store, creates the file if it does not exist, and updates the tables. Throws store_error.
    explicit TOLLGATE_DECL sqlite_store(const std::string& path, const sqlite_settings& settings = {});
    /// Opens the store like the constructor, but returns an error instead of throwing.
    [[nodiscard]] static TOLLGATE_DECL result<sqlite_store> open(const std::string& path, const sqlite_settings& settings = {}) noexcept;
    /// Like `open`, as a store that a program can choose at run time: the caller compiles nothing of this class.
    [[nodiscard]] static TOLLGATE_DECL result<any_store> open_any(const std::string& path, const sqlite_settings& settings = {}) noexcept;

    /// Compares the version of the store's tables in a file with the version that this release needs. Changes nothing; opening the store
    /// updates the tables. The version is 0 if there is no file.
    [[nodiscard]] static TOLLGATE_DECL result<schema_status> check_schema(const std::string& path,
                                                                          const sqlite_settings& settings = {}) noexcept;

private:
    explicit TOLLGATE_DECL sqlite_store(std::shared_ptr<sqlite_detail::store> opened) noexcept;
};

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/sqlite.ipp>
#endif

#endif  // TOLLGATE_STORE_SQLITE_HPP

#pragma once
#ifndef TOLLGATE_STORE_POSTGRES_HPP
#define TOLLGATE_STORE_POSTGRES_HPP

#include <tollgate/base/backend_statistics.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/secret_keys.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/store/any_store.hpp>
#include <tollgate/store/cache_invalidation_feed.hpp>
#include <tollgate/store/detail/postgres/server_clock.hpp>
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

/// Connections, bounds and caches of a postgres_store.
struct postgres_settings {
    /// Connections per store, above zero, opened on demand. Each is a process on the server. More than about two per core make the server
    /// no faster, and by default it allows 100 for all nodes (max_connections).
    std::size_t connections_max = 8;
    /// The time for which a verb waits for a connection before it fails (unavailable).
    milliseconds connection_wait_max{1000};
    // The next three durations are above zero and at most an hour.
    /// Time limit for connecting to a server, including the lookup of its name, TLS and authentication.
    milliseconds connect_wait_max{3000};
    /// Time limit for a response; `delete_application` has 60 s. The server cancels a statement after three quarters of it
    /// (statement_timeout). A connection without any response is closed, and so are all other connections that have been waiting for more
    /// than 100 ms. After this time, a `hook_enabling` starts no further step; another call continues from there.
    milliseconds response_wait_max{3000};
    /// The time for which a statement waits for a lock (lock_timeout).
    milliseconds lock_wait_max{1000};
    /// The clock that the store's callers use, by default this machine's clock. Null: the store's own `clock()`.
    instant (*callers_clock)() noexcept = &postgres::server_clock::node_now;
    /// If the directory's users are in this database: a query for a user, whose row is then read together with their credential instead of
    /// in further round trips. In the query, `owner.id` is the user's id. It returns the results of `quota_of` and `balance_of`, which are
    /// then not called, in four columns: the number of requests, NULL for the default quota; the window in seconds; the balance and its
    /// currency, NULL to call `balance_of`. Without a row, the directory is called.
    ///     SELECT requests_per_day, 86400, balance, currency FROM shop_users WHERE shop_users.id = owner.id
    ///
    /// The tables must exist when the store is opened. Empty: the directory is called for each request.
    std::string owner_query = {};
    /// Credentials of each kind to cache, so that requests need no query; 0: no cache. A credential takes 1.2 kB, allocated on first use.
    std::size_t cached_credentials_max = 0;
    /// The time for which a cached credential is used, if no change of it is announced.
    milliseconds cached_for{30'000};
    /// Keys that encrypt webhook secrets in the database; `secret_keys{}` has none. Set this where webhooks are delivered: opening the
    /// store then encrypts plain secrets with the first key, and fails (unavailable) if the key of an encrypted secret is missing. If it is
    /// not set, secrets are stored in plain text, and opening does not read them; deliveries whose secret is encrypted wait.
    std::optional<secret_keys> hook_secret_keys{};
};

/// The time of a `postgres_store`'s server, without a round trip. Nodes that use it agree, even if their own clocks differ. It may outlive
/// its store.
class postgres_clock {
public:
    /// Constructs a clock of a store. Use `postgres_store::clock`.
    explicit postgres_clock(std::shared_ptr<const postgres::server_clock> clock) noexcept : clock_{std::move(clock)} {}
    /// See `time_source`.
    [[nodiscard]] instant now() const noexcept { return clock_->now(); }
    /// Returns the difference that is added to times of the callers' clock.
    [[nodiscard]] milliseconds shift() const noexcept { return clock_->shift(); }

private:
    std::shared_ptr<const postgres::server_clock> clock_;
};

static_assert(time_source<postgres_clock>);

namespace postgres_detail {
class store;
}

/// The store on PostgreSQL, 13 or later: any number of nodes share a database and see each other's changes at once. When a verb returns,
/// its effect is as durable as the server's commits (even if the server's default is synchronous_commit=off).
///
/// Tables are named `tollgate_...`, are created in the first schema of the connection's search_path, and may share a database with an
/// integrator's own tables. The newest node updates them when it starts, while older nodes continue to work.
///
/// Every verb is one transaction (READ COMMITTED, with locks on the rows that it counts or removes) and one round trip, except for
/// `create_code`, `redeem_code` and `refresh_access_token`, which take two, and for `complete`, `due_hooks`, `delete_hook`, `change_hook`
/// and sweeps. Reads are repeated when a connection breaks. Writes are not, because the first try may have taken effect: they return an
/// error (unavailable), and the caller checks, or repeats them where that is harmless. Only a transaction that the server itself rolled
/// back because of a concurrent transaction is tried again.
///
/// **Time.** All times are stored by the server's clock. If this machine's clock is more than two seconds off, times are shifted by the
/// difference in both directions, so that codes, tokens, sessions and leases last as long for this node as for the others. The difference
/// is measured with each new connection and once a minute. Values that a node reports by its own clock (`X-RateLimit-Reset`,
/// `webhook-timestamp`) are not shifted; for these, pass the store's `clock()` to the policies and `callers_clock = nullptr` to the store.
///
/// **Caching.** Nothing is cached unless `cached_credentials_max` is set. Then credentials are returned without a round trip until a change
/// arrives: changes of this store when the verb returns, changes of others within one second in every case and usually within milliseconds
/// (see `postgres::listener`), because triggers in the database notify the listeners. Caching takes a thread and a further connection.
/// `last_used_at` may be older, and a credential that did not exist is looked up again after half a second.
///
/// **TLS** is configured in the connection string: `sslmode=verify-full sslrootcert=...` for a server across a network
/// (libpq's default, `prefer`, falls back to plain text). A pooler must use session pooling, because statements are
/// prepared.
///
/// The verbs are those of `any_store`, and the contracts document them. Copies share the store.
///
/// Thread rule: any thread. Calls block. A moved-from store may only be destroyed or assigned to. Errors: only the constructor throws;
/// unavailable for conditions that may pass (no connection, no response in time, a server that stops), internal for the rest.
class postgres_store : public any_store {
public:
    /// Calls may wait for the database.
    static constexpr bool blocking = true;

    /// Opens the store and updates its tables. `connection_string` is libpq's: `host=... dbname=...` or `postgresql://...`; of several
    /// hosts, the host that accepts writes is used. Throws store_error.
    explicit TOLLGATE_DECL postgres_store(const std::string& connection_string, const postgres_settings& settings = {});
    /// Opens the store like the constructor, but returns an error instead of throwing.
    [[nodiscard]] static TOLLGATE_DECL result<postgres_store> open(const std::string& connection_string,
                                                                   const postgres_settings& settings = {}) noexcept;
    /// Like `open`, as a store that a program can choose at run time: the caller compiles nothing of this class.
    [[nodiscard]] static TOLLGATE_DECL result<any_store> open_any(const std::string& connection_string,
                                                                  const postgres_settings& settings = {}) noexcept;

    /// Compares the version of the store's tables in this database with the version that this release needs. Changes nothing; opening the
    /// store updates the tables.
    [[nodiscard]] static TOLLGATE_DECL result<schema_status> check_schema(const std::string& connection_string,
                                                                          const postgres_settings& settings = {}) noexcept;

    /// Returns a clock with the time of the database server.
    [[nodiscard]] TOLLGATE_DECL postgres_clock clock() const noexcept;
    /// Returns the changes to users' rows that this store has received, for an adapter that caches rows of its own tables
    /// (`postgres_row_cache`). Report changes of these tables to it, and let a trigger report them to `tollgate_changes`. Without
    /// `cached_credentials_max`, row caches never return a row. The result may outlive the store.
    [[nodiscard]] TOLLGATE_DECL const std::shared_ptr<cache_invalidation_feed>& changes() const noexcept;

private:
    explicit TOLLGATE_DECL postgres_store(std::shared_ptr<postgres_detail::store> opened) noexcept;

    std::shared_ptr<postgres_detail::store> store_;
};

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/postgres.ipp>
#endif

#endif  // TOLLGATE_STORE_POSTGRES_HPP

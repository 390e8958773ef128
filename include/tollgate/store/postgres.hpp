#pragma once
#ifndef TOLLGATE_STORE_POSTGRES_HPP
#define TOLLGATE_STORE_POSTGRES_HPP

#include <tollgate/base/backend_statistics.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/secret_keys.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/outbox.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/contract/token_store.hpp>
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

class any_store;

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
/// Thread rule: any thread. Calls block. Movable; a moved-from store may only be destroyed or assigned to. Errors: only the constructor
/// throws; unavailable for conditions that may pass (no connection, no response in time, a server that stops), internal for the rest.
class postgres_store {
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

    /// Movable, not copyable.
    TOLLGATE_DECL postgres_store(postgres_store&&) noexcept;
    TOLLGATE_DECL postgres_store& operator=(postgres_store&&) noexcept;
    TOLLGATE_DECL ~postgres_store();

    /// Returns a clock with the time of the database server.
    [[nodiscard]] TOLLGATE_DECL postgres_clock clock() const noexcept;
    /// Returns the changes to users' rows that this store has received, for an adapter that caches rows of its own tables
    /// (`postgres_row_cache`). Report changes of these tables to it, and let a trigger report them to `tollgate_changes`. Without
    /// `cached_credentials_max`, row caches never return a row. The result may outlive the store.
    [[nodiscard]] TOLLGATE_DECL const std::shared_ptr<cache_invalidation_feed>& changes() const noexcept;

    /// See `credential_source`.
    TOLLGATE_DECL result<std::optional<token_credential>> find_credential(const credential_key& key) noexcept;
    /// See `credential_cache`.
    TOLLGATE_DECL lookup<token_credential> cached_credential(const credential_key& key) const noexcept;
    /// See `use_recorder`.
    TOLLGATE_DECL result<void> record_use(const credential_key& key, instant now, std::string_view from) noexcept;
    /// See `token_store`.
    TOLLGATE_DECL result<token_id> create_personal_token(const new_personal_token& token, std::size_t tokens_per_user_max) noexcept;
    TOLLGATE_DECL result<std::vector<personal_token>> personal_tokens_of(user_id user) noexcept;
    TOLLGATE_DECL result<bool> renew_personal_token(user_id user, token_id id,
                                                    const personal_token_renewal& renewed) noexcept;
    /// See `token_store` and `access_token_store`.
    TOLLGATE_DECL result<bool> revoke(const revocation& revoked) noexcept;
    /// See `access_token_store`.
    TOLLGATE_DECL result<bool> create_access_token(const new_access_token& token) noexcept;

    /// See `hook_store`.
    TOLLGATE_DECL result<hook_id> create_hook(const new_hook& hook, std::size_t hooks_per_event_max) noexcept;
    TOLLGATE_DECL result<std::vector<hook>> hooks_of(const account_ref& account) noexcept;
    TOLLGATE_DECL result<std::optional<account_ref>> account_of_hook(const service_name& service, hook_id id) noexcept;
    TOLLGATE_DECL result<bool> change_hook(const account_ref& account, hook_id id, const hook_change& change) noexcept;
    TOLLGATE_DECL result<bool> delete_hook(const account_ref& account, hook_id id) noexcept;

    /// See `application_store`.
    TOLLGATE_DECL result<application_id> create_application(const new_application& application,
                                                            std::size_t applications_per_user_max) noexcept;
    TOLLGATE_DECL result<std::optional<application>> find_application(std::string_view client_id) noexcept;
    TOLLGATE_DECL result<std::vector<application>> applications_of(user_id owner) noexcept;
    TOLLGATE_DECL result<bool> change_application(const std::optional<user_id>& changed_by, application_id id,
                                                  const application_change& change) noexcept;
    TOLLGATE_DECL result<bool> delete_application(user_id owner, application_id id) noexcept;

    /// See `grant_store`.
    TOLLGATE_DECL result<code_result> create_code(const new_authorization_code& code) noexcept;
    TOLLGATE_DECL result<redeemed_code> redeem_code(const code_redemption& shown) noexcept;
    TOLLGATE_DECL result<refreshed_token> refresh_access_token(const token_refresh& shown) noexcept;
    TOLLGATE_DECL result<std::optional<oauth_token>> find_oauth_token(const digest& token) noexcept;
    TOLLGATE_DECL result<void> create_device_code(const new_device_code& code) noexcept;
    TOLLGATE_DECL result<std::optional<device_code>> find_device_code(const digest& code) noexcept;
    TOLLGATE_DECL result<std::optional<device_answer>> answer_device_code(const device_decision& decision) noexcept;
    TOLLGATE_DECL result<std::vector<grant>> grants_of(user_id user) noexcept;

    /// See `session_store`.
    TOLLGATE_DECL result<void> create_session(const stored_session& session) noexcept;
    TOLLGATE_DECL result<std::optional<stored_session>> find_session(const digest& cookie) noexcept;
    TOLLGATE_DECL result<void> touch_session(const digest& cookie, instant now) noexcept;
    TOLLGATE_DECL result<std::vector<stored_session>> sessions_of(user_id user) noexcept;
    TOLLGATE_DECL result<bool> end_sessions(const session_selection& ended) noexcept;

    /// See `event_sink`.
    TOLLGATE_DECL result<std::size_t> append_event(const event& reported, const message_seed& seed, instant now,
                                                   std::optional<hook_id> only_to = {}) noexcept;
    /// See `outbox`.
    TOLLGATE_DECL result<due_hook_page> due_hooks(instant now, std::size_t rows_max) noexcept;
    /// See `backlog_source`.
    TOLLGATE_DECL result<delivery_backlog> backlog(instant now, std::size_t rows_max) noexcept;
    /// See `outbox`.
    TOLLGATE_DECL result<std::vector<due_delivery>> lease(std::span<const lease_request> requests,
                                                          const lease_time& lease) noexcept;
    TOLLGATE_DECL result<std::vector<completion>> complete(std::span<const attempt_result> ended, instant now) noexcept;
    TOLLGATE_DECL result<std::vector<listed_delivery>> deliveries_of(const account_ref& account, const delivery_query& query) noexcept;
    TOLLGATE_DECL result<std::size_t> resend(const account_ref& account, const resend_request& resent, instant now) noexcept;
    /// See `grant_store`, `outbox` and `session_store`.
    TOLLGATE_DECL result<std::size_t> sweep(const sweep_request& request) noexcept;
    /// See `shared_outbox`. Takes a few nanoseconds. The first call starts a thread with a further connection, which receives (LISTEN) the
    /// events of all nodes.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::uint64_t> changes_seen() const noexcept;

    /// Returns the counts of the connections and caches, for `metrics::watch_backend`.
    [[nodiscard]] TOLLGATE_DECL backend_statistics statistics() const noexcept;

private:
    struct impl;
    explicit postgres_store(std::unique_ptr<impl> opened) noexcept;
    static TOLLGATE_DECL result<std::unique_ptr<impl>> open_impl(const std::string& connection_string, const postgres_settings& settings);

    std::unique_ptr<impl> impl_;
};

static_assert(token_store<postgres_store> && access_token_store<postgres_store>);
static_assert(credential_cache<postgres_store> && use_recorder<postgres_store>);
static_assert(hook_store<postgres_store>);
static_assert(oauth_store<postgres_store>);
static_assert(session_store<postgres_store>);
static_assert(outbox<postgres_store> && shared_outbox<postgres_store> && backlog_source<postgres_store>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/access_tokens.ipp>
#include <tollgate/store/detail/postgres/applications.ipp>
#include <tollgate/store/detail/postgres/completions.ipp>
#include <tollgate/store/detail/postgres/credentials.ipp>
#include <tollgate/store/detail/postgres/delivery_history.ipp>
#include <tollgate/store/detail/postgres/device_codes.ipp>
#include <tollgate/store/detail/postgres/grants.ipp>
#include <tollgate/store/detail/postgres/hooks.ipp>
#include <tollgate/store/detail/postgres/leases.ipp>
#include <tollgate/store/detail/postgres/outbox.ipp>
#include <tollgate/store/detail/postgres/personal_tokens.ipp>
#include <tollgate/store/detail/postgres/sessions.ipp>
#include <tollgate/store/postgres.ipp>
#endif

#endif  // TOLLGATE_STORE_POSTGRES_HPP

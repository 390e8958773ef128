#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/outbox.hpp>
#include <tollgate/contract/session_store.hpp>
#include <tollgate/contract/time_source.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/store/detail/cache_invalidation_feed.hpp>
#include <tollgate/store/detail/postgres/server_clock.hpp>
#include <tollgate/store/detail/errors.hpp>
#include <tollgate/store/detail/sql/schema_status.hpp>

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
    /// Connections of one store, opened as they are needed. Each is a process at the server, which stops getting faster
    /// at about twice its cores, and has 100 for all nodes by default (max_connections).
    std::size_t connections_max = 8;
    /// How long a verb waits for one of them before it is a problem (unavailable).
    milliseconds connection_wait_max{2000};
    /// How long connecting to one server may take, TLS and password included.
    milliseconds connect_wait_max{3000};
    /// How long an answer may take. The server gives a statement up after three quarters of it; a connection that says
    /// nothing is given up.
    milliseconds answer_wait_max{4000};
    /// By what clock the store's callers tell the time: this machine's, unless told otherwise. Null: by the store's own
    /// `clock()`.
    instant (*callers_clock)() noexcept = &postgres::server_clock::node_now;
    /// Where the directory's users are in this database: a query of your own for the quota of one of them, which is then
    /// looked up together with their credential instead of with a round trip of its own. `owner.id` in it is the
    /// user's id; its columns are the requests, NULL for a user without a quota of their own, and the seconds that they
    /// count for. No row: the directory is asked. It says what `quota_of` says, for that is not asked besides.
    ///
    ///     SELECT requests_per_day, 86400 FROM shop_users WHERE shop_users.id = owner.id
    ///
    /// Its tables must be there when the store is opened. Empty: the directory is asked for each request.
    std::string owner_quota_query = {};
    /// Credentials of each kind that are remembered, so that a request need not ask for them; 0: none. One takes 1.2 kB,
    /// when it is first used.
    std::size_t cached_credentials_max = 0;
    /// For how long one is given out again where no change of it is heard.
    milliseconds cached_for{30'000};
};

/// What time it is at the server of a `postgres_store`, without asking it. Nodes that judge by it agree, whatever their
/// own clocks say. Outlives its store.
class postgres_clock {
public:
    /// A clock of this store.
    explicit postgres_clock(std::shared_ptr<const postgres::server_clock> of) noexcept : of_{std::move(of)} {}
    /// See `time_source`.
    [[nodiscard]] instant now() const noexcept { return of_->now(); }
    /// What is added to moments by the clock of the store's callers.
    [[nodiscard]] milliseconds shift() const noexcept { return of_->shift(); }

private:
    std::shared_ptr<const postgres::server_clock> of_;
};

static_assert(time_source<postgres_clock>);

/// The store on PostgreSQL, 13 or later: any number of nodes share a database, and see each other's changes at once.
/// Durable when a verb returns, as far as the server is (a server with synchronous_commit=off is told to wait all the
/// same).
///
/// Tables are named `tollgate_...`, are made in the first schema of the connection's search_path, and may live beside
/// an integrator's own. The newest node brings them up to date when it starts, while older ones go on working.
///
/// Every verb is one transaction, and, but for `complete` and `sweep_deliveries`, one round trip: READ
/// COMMITTED, with locks on what it counts or takes away. What is read is asked again when a connection broke. What
/// changes something never is, for the first time may have been the one that counted: it is a problem (unavailable),
/// and whoever called looks, or calls again where that does no harm. Only what the server itself rolled back, because
/// two got into each other's way, is tried again.
///
/// **Whose time it is.** All moments are kept by the server's clock. Where this machine's is more than two seconds off,
/// moments are shifted by the difference as they pass in either direction: codes, tokens, sessions and leases last as
/// long for this node as for the others, who need not know. The difference is measured with each new connection and
/// once a minute. What a node shows to others by its own clock (`X-RateLimit-Reset`, `webhook-timestamp`) is its own
/// affair; one that is to be right there, too, gives the store's `clock()` to its policies, and `callers_clock =
/// nullptr` to the store.
///
/// **What is remembered.** Nothing, unless `cached_credentials_max` says so. Then the credentials that requests carry are
/// given out again without a round trip, until a change is heard of: by a verb of this store, when it returns; by
/// anybody else, within a second in every case, mostly within milliseconds (see `postgres::listener`), because triggers
/// in the database tell those who listen. It takes a thread and a connection beside the others. `last_used_at` may be
/// older, and a credential that did not exist is asked for again after half a second.
///
/// **TLS** is libpq's, and the connection string's: `sslmode=verify-full sslrootcert=...` for a server across a network
/// (libpq's own default, `prefer`, does without where the server does). A pooler must give out whole sessions:
/// statements are prepared.
///
/// Thread rule: any thread. Blocking. Movable; a store that was moved from can only be destroyed or assigned to.
/// Errors: nothing is thrown except by the constructor; unavailable for what may pass (no connection, no answer in
/// time, a server that stops), internal for the rest.
class postgres_store {
public:
    /// Calls may wait for the database.
    static constexpr bool blocking = true;

    /// libpq's: `host=... dbname=...` or `postgresql://...`; of several hosts, the one that takes writes. Throws
    /// store_error.
    explicit TOLLGATE_DECL postgres_store(const std::string& connection_string, const postgres_settings& settings = {});
    /// The same without exceptions.
    [[nodiscard]] static TOLLGATE_DECL result<postgres_store> open(const std::string& connection_string,
                                                                    const postgres_settings& settings = {}) noexcept;

    /// How far the tables of the store in this database are; opening it brings them to the newest version. Changes nothing.
    [[nodiscard]] static TOLLGATE_DECL result<schema_status> check_schema(const std::string& connection_string,
                                                                          const postgres_settings& settings = {}) noexcept;

    /// Opens the store; throws if that fails.
    TOLLGATE_DECL postgres_store(postgres_store&&) noexcept;
    /// Movable, not copyable.
    TOLLGATE_DECL postgres_store& operator=(postgres_store&&) noexcept;
    TOLLGATE_DECL ~postgres_store();

    /// The time of the database, for limiters and tests.
    [[nodiscard]] TOLLGATE_DECL postgres_clock clock() const noexcept;
    /// What this store hears of changes to users' rows, for an adapter that remembers rows of its own tables
    /// (`row_cache`): a change of theirs is told to it, and by a trigger to `tollgate_changes`. Nothing can be relied on
    /// where nothing is remembered. Outlives its store.
    [[nodiscard]] TOLLGATE_DECL const std::shared_ptr<cache_invalidation_feed>& changes() const noexcept;

    /// See `credential_source`.
    TOLLGATE_DECL result<std::optional<token_credential>> find_personal_token(std::string_view username) noexcept;
    /// See `token_store`.
    TOLLGATE_DECL result<token_id> create_personal_token(const new_personal_token& made,
                                                          std::size_t tokens_per_user_max) noexcept;
    /// See `token_store`.
    TOLLGATE_DECL result<std::vector<personal_token>> personal_tokens_of(user_id user) noexcept;
    /// See `token_store`.
    TOLLGATE_DECL result<bool> revoke_personal_token(token_id id) noexcept;
    /// See `use_recorder`.
    TOLLGATE_DECL result<void> record_personal_token_use(std::string_view username, instant now) noexcept;

    /// See `credential_source`.
    TOLLGATE_DECL result<std::optional<token_credential>> find_access_token(const digest& token) noexcept;
    /// See `token_store`.
    TOLLGATE_DECL result<void> create_access_token(const new_access_token& made) noexcept;
    /// See `token_store`.
    TOLLGATE_DECL result<bool> revoke_access_token(const digest& token) noexcept;
    /// See `use_recorder`.
    TOLLGATE_DECL result<void> record_access_token_use(const digest& token, instant now) noexcept;
    // The contract `credential_cache`.
    TOLLGATE_DECL lookup<token_credential> cached_personal_token(std::string_view username) const noexcept;
    TOLLGATE_DECL lookup<token_credential> cached_access_token(const digest& token) const noexcept;

    /// See `hook_store`.
    TOLLGATE_DECL result<hook_id> create_hook(const new_hook& made, std::size_t hooks_per_event_max) noexcept;
    /// See `hook_store`.
    TOLLGATE_DECL result<std::vector<hook>> hooks_of(const account_ref& account) noexcept;
    /// See `hook_store`.
    TOLLGATE_DECL result<std::optional<account_ref>> account_of_hook(const service_name& service, hook_id id) noexcept;
    /// See `hook_store`.
    TOLLGATE_DECL result<bool> replace_hook_secret(const account_ref& account, hook_id id, const std::string& secret,
                                                    instant old_valid_until) noexcept;
    /// See `hook_store`.
    TOLLGATE_DECL result<bool> delete_hook(const account_ref& account, hook_id id) noexcept;

    /// See `application_store`.
    TOLLGATE_DECL result<application_id> create_application(const new_application& made,
                                                             std::size_t applications_per_user_max) noexcept;
    /// See `application_store`.
    TOLLGATE_DECL result<std::optional<application>> find_application(std::string_view client_id) noexcept;
    /// See `application_store`.
    TOLLGATE_DECL result<std::vector<application>> applications_of(user_id owner) noexcept;
    /// See `application_store`.
    TOLLGATE_DECL result<bool> replace_client_secret(user_id owner, application_id id, const digest& secret) noexcept;
    /// See `application_store`.
    TOLLGATE_DECL result<bool> delete_application(user_id owner, application_id id) noexcept;

    /// See `grant_store`.
    TOLLGATE_DECL result<std::optional<scope_set>> granted_scopes(user_id user, application_id application) noexcept;
    /// See `grant_store`.
    TOLLGATE_DECL result<code_result> create_code(const new_authorization_code& made) noexcept;
    /// See `grant_store`.
    TOLLGATE_DECL result<redeemed_code> redeem_code(const code_redemption& shown) noexcept;
    /// See `grant_store`.
    TOLLGATE_DECL result<refreshed_token> refresh_access_token(const token_refresh& shown) noexcept;
    /// See `grant_store`.
    TOLLGATE_DECL result<void> revoke_oauth_token(application_id application, const digest& token) noexcept;
    /// See `grant_store`.
    TOLLGATE_DECL result<std::vector<grant>> grants_of(user_id user) noexcept;
    /// See `grant_store`.
    TOLLGATE_DECL result<bool> revoke_grant(user_id user, application_id application) noexcept;
    /// See `grant_store`.
    TOLLGATE_DECL result<std::size_t> sweep_expired(instant now, std::size_t rows_max) noexcept;

    /// See `session_store`.
    TOLLGATE_DECL result<void> create_session(const stored_session& made) noexcept;
    /// See `session_store`.
    TOLLGATE_DECL result<std::optional<stored_session>> find_session(const digest& cookie) noexcept;
    /// See `session_store`.
    TOLLGATE_DECL result<void> touch_session(const digest& cookie, instant now) noexcept;
    /// See `session_store`.
    TOLLGATE_DECL result<bool> end_session(const digest& cookie) noexcept;
    /// See `session_store`.
    TOLLGATE_DECL result<void> end_sessions_of(user_id user) noexcept;
    /// See `session_store`.
    TOLLGATE_DECL result<std::size_t> sweep_sessions(instant created_before, instant seen_before,
                                                      std::size_t rows_max) noexcept;

    /// See `event_sink`.
    TOLLGATE_DECL result<std::size_t> append_event(const event& happened, const message_seed& seed,
                                                    instant now) noexcept;
    /// See `outbox`.
    TOLLGATE_DECL result<due_hook_page> due_hooks(instant now, std::size_t rows_max) noexcept;
    /// See `outbox`.
    TOLLGATE_DECL result<std::vector<due_delivery>> lease(std::span<const lease_request> requests,
                                                          const lease_time& lease) noexcept;
    /// See `outbox`.
    TOLLGATE_DECL result<std::vector<completion>> complete(std::span<const attempt_result> ended, instant now) noexcept;
    /// See `outbox`.
    TOLLGATE_DECL result<std::vector<delivery>> deliveries_of(const account_ref& account, hook_id hook,
                                                               std::size_t rows_max,
                                                               std::optional<delivery_id> before) noexcept;
    /// See `outbox`.
    TOLLGATE_DECL result<std::vector<recorded_attempt>> attempts_of(const account_ref& account, hook_id hook,
                                                                     std::size_t rows_max,
                                                                     std::optional<delivery_id> made_for) noexcept;
    /// See `outbox`.
    TOLLGATE_DECL result<bool> resend(const account_ref& account, delivery_id id, instant now) noexcept;
    /// See `outbox`.
    TOLLGATE_DECL result<bool> enable_hook(const account_ref& account, hook_id hook, instant now) noexcept;
    /// See `outbox`.
    TOLLGATE_DECL result<std::size_t> sweep_deliveries(instant ended_before, std::size_t rows_max) noexcept;
    /// See `shared_outbox`. A few nanoseconds; the first call starts a thread, with a connection beside the others,
    /// that hears (LISTEN) what any node reports.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::uint64_t> changes_seen() const noexcept;

private:
    struct impl;
    explicit postgres_store(std::unique_ptr<impl> opened) noexcept;
    static TOLLGATE_DECL result<std::unique_ptr<impl>> open_impl(const std::string& connection_string,
                                                                  const postgres_settings& settings);

    std::unique_ptr<impl> impl_;
};

static_assert(token_store<postgres_store> && credential_cache<postgres_store> && use_recorder<postgres_store>);
static_assert(hook_store<postgres_store>);
static_assert(oauth_store<postgres_store>);
static_assert(session_store<postgres_store>);
static_assert(outbox<postgres_store> && shared_outbox<postgres_store>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/access_tokens.ipp>
#include <tollgate/store/detail/postgres/applications.ipp>
#include <tollgate/store/detail/postgres/grants.ipp>
#include <tollgate/store/detail/postgres/hooks.ipp>
#include <tollgate/store/detail/postgres/personal_tokens.ipp>
#include <tollgate/store/detail/postgres/sessions.ipp>
#include <tollgate/store/postgres.ipp>
#endif

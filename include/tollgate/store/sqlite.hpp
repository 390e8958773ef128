#pragma once
#ifndef TOLLGATE_STORE_SQLITE_HPP
#define TOLLGATE_STORE_SQLITE_HPP

#include <tollgate/base/backend_statistics.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/secret_keys.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/outbox.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/contract/token_store.hpp>
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

class any_store;

/// The store on SQLite: one file and its log. When a verb returns, its effect survives kill -9 and power failures. Any
/// number of processes may use the file at the same time and see each other's changes at once.
///
/// Only the owner of a new file can read and write it. Tables are named `tollgate_...` and are updated when the file is opened. The file
/// may also contain an integrator's own tables.
///
/// Thread rule: any thread. Calls block. Movable; a moved-from store may only be destroyed or assigned to. Errors: only the constructor
/// throws; unavailable for conditions that may pass (busy for too long, full disk), internal for a damaged file.
class sqlite_store {
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

    /// Movable, not copyable.
    TOLLGATE_DECL sqlite_store(sqlite_store&&) noexcept;
    TOLLGATE_DECL sqlite_store& operator=(sqlite_store&&) noexcept;
    TOLLGATE_DECL ~sqlite_store();

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
    /// See `shared_outbox`. Takes a few nanoseconds. Any commit of any process counts as a change.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::uint64_t> changes_seen() const noexcept;

    /// Returns the counts of the connections and caches, for `metrics::watch_backend`.
    [[nodiscard]] TOLLGATE_DECL backend_statistics statistics() const noexcept;

private:
    struct impl;
    explicit sqlite_store(std::unique_ptr<impl> opened) noexcept;
    static TOLLGATE_DECL result<std::unique_ptr<impl>> open_impl(const std::string& path, const sqlite_settings& settings);

    std::unique_ptr<impl> impl_;
};

static_assert(token_store<sqlite_store> && access_token_store<sqlite_store>);
static_assert(credential_cache<sqlite_store> && use_recorder<sqlite_store>);
static_assert(hook_store<sqlite_store>);
static_assert(oauth_store<sqlite_store>);
static_assert(session_store<sqlite_store>);
static_assert(outbox<sqlite_store> && shared_outbox<sqlite_store> && backlog_source<sqlite_store>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/access_tokens.ipp>
#include <tollgate/store/detail/sqlite/applications.ipp>
#include <tollgate/store/detail/sqlite/completions.ipp>
#include <tollgate/store/detail/sqlite/credentials.ipp>
#include <tollgate/store/detail/sqlite/delivery_history.ipp>
#include <tollgate/store/detail/sqlite/device_codes.ipp>
#include <tollgate/store/detail/sqlite/grants.ipp>
#include <tollgate/store/detail/sqlite/hooks.ipp>
#include <tollgate/store/detail/sqlite/leases.ipp>
#include <tollgate/store/detail/sqlite/outbox.ipp>
#include <tollgate/store/detail/sqlite/personal_tokens.ipp>
#include <tollgate/store/detail/sqlite/sessions.ipp>
#include <tollgate/store/sqlite.ipp>
#endif

#endif  // TOLLGATE_STORE_SQLITE_HPP

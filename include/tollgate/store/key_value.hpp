#pragma once
#ifndef TOLLGATE_STORE_KEY_VALUE_HPP
#define TOLLGATE_STORE_KEY_VALUE_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/secret_keys.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/key_value_store.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/outbox.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/store/detail/key_value/bounded_store_ref.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// The settings of a `record_store`.
struct record_store_settings {
    /// Keys that encrypt webhook secrets in the database; see `record_store::encrypt_secrets`. If it is not set, secrets are stored in
    /// plain text, and deliveries whose secret is encrypted wait.
    std::optional<secret_keys> hook_secret_keys{};
};

/// The store on a database of keys and values. It implements all contracts of stores on the four functions of a `key_value_store`:
///
///     lmdb_database database{"tollgate.db"};
///     record_store store{database};
///     account_service service{settings, users, store, sessions};
///
/// The effect of a verb is as durable as the database. Any number of processes may use the database at the same time if it allows that. If
/// it then is no `shared_key_value_store`, events that other processes append are sent seconds later.
///
/// Verbs whose work has no bound run in several transactions: the deletion or suspension of an application with many tokens, and the
/// enabling or disabling of a webhook with many deliveries. The first transaction decides. After a failure, a worker or a sweep does what
/// is left; until then, access tokens of the application may still be valid.
///
/// docs/stores.md lists keys and records.
///
/// Thread rule: any thread. A call blocks if the database does. Errors: those of the database; internal for a damaged record; the
/// constructor throws nothing.
class record_store {
public:
    /// Constructs a store on `database`, which must outlive it. It may have rows of a previous store.
    TOLLGATE_DECL explicit record_store(key_value_store_ref database, const record_store_settings& settings = {});
    TOLLGATE_DECL ~record_store();
    record_store(const record_store&) = delete;
    record_store& operator=(const record_store&) = delete;

    /// Returns true if the database may block; see `tollgate::may_block`.
    [[nodiscard]] bool may_block() const noexcept { return database_.may_block(); }

    /// Encrypts the webhook secrets that are not encrypted with the first of `hook_secret_keys`, a page at a time. Call it before the first
    /// delivery where webhooks are delivered. Errors: unavailable if the key of an encrypted secret is missing. Secrets that are damaged
    /// stay as they are.
    TOLLGATE_DECL result<void> encrypt_secrets() noexcept;

    /// See `credential_source`.
    TOLLGATE_DECL result<std::optional<token_credential>> find_credential(const credential_key& named) noexcept;
    /// See `token_store`.
    TOLLGATE_DECL result<token_id> create_personal_token(const new_personal_token& token, std::size_t tokens_per_user_max) noexcept;
    TOLLGATE_DECL result<std::vector<personal_token>> personal_tokens_of(user_id user) noexcept;
    TOLLGATE_DECL result<bool> renew_personal_token(user_id user, token_id id, const personal_token_renewal& renewed) noexcept;
    TOLLGATE_DECL result<bool> revoke(const revocation& revoked) noexcept;
    /// See `access_token_store`.
    TOLLGATE_DECL result<bool> create_access_token(const new_access_token& token) noexcept;
    /// See `use_recorder`.
    TOLLGATE_DECL result<void> record_use(const credential_key& named, instant now, std::string_view from) noexcept;

    /// See `application_store`.
    TOLLGATE_DECL result<application_id> create_application(const new_application& created, std::size_t applications_per_user_max) noexcept;
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
    TOLLGATE_DECL result<bool> end_sessions(const session_selection& ended) noexcept;
    TOLLGATE_DECL result<std::vector<stored_session>> sessions_of(user_id user) noexcept;

    /// See `hook_store`.
    TOLLGATE_DECL result<hook_id> create_hook(const new_hook& hook, std::size_t hooks_per_event_max) noexcept;
    TOLLGATE_DECL result<std::vector<hook>> hooks_of(const account_ref& account) noexcept;
    TOLLGATE_DECL result<std::optional<account_ref>> account_of_hook(const service_name& service, hook_id id) noexcept;
    TOLLGATE_DECL result<bool> change_hook(const account_ref& account, hook_id id, const hook_change& change) noexcept;
    TOLLGATE_DECL result<bool> delete_hook(const account_ref& account, hook_id id) noexcept;

    /// See `event_sink` and `outbox`. A call with the seed of an event that was appended already adds nothing.
    TOLLGATE_DECL result<std::size_t> append_event(const event& reported, const message_seed& seed, instant now,
                                                   std::optional<hook_id> only_to = {}) noexcept;
    /// See `outbox`.
    TOLLGATE_DECL result<due_hook_page> due_hooks(instant now, std::size_t rows_max) noexcept;
    TOLLGATE_DECL result<std::vector<due_delivery>> lease(std::span<const lease_request> requests, const lease_time& time) noexcept;
    TOLLGATE_DECL result<std::vector<completion>> complete(std::span<const attempt_result> ended, instant now) noexcept;
    TOLLGATE_DECL result<std::vector<listed_delivery>> deliveries_of(const account_ref& account, const delivery_query& query) noexcept;
    TOLLGATE_DECL result<std::size_t> resend(const account_ref& account, const resend_request& resent, instant now) noexcept;
    /// See `backlog_source`.
    TOLLGATE_DECL result<delivery_backlog> backlog(instant now, std::size_t rows_max) noexcept;
    /// See `shared_outbox`. The number is that of `shared_key_value_store`; of another database, the number of events that this object has
    /// appended.
    [[nodiscard]] std::optional<std::uint64_t> changes_seen() const noexcept {
        return database_.tells_commits() ? database_.commits_seen() : std::optional{appended_.load(std::memory_order_relaxed)};
    }

    /// See `grant_store`, `outbox` and `session_store`.
    TOLLGATE_DECL result<std::size_t> sweep(const sweep_request& request) noexcept;

protected:
    /// Constructs a store whose rows are bounded, and counted from the first one on. The database is empty.
    TOLLGATE_DECL record_store(key_value_store_ref database, const memory_settings& bounds);

private:
    key_value_detail::bounded_store_ref database_;
    std::optional<secret_keys> hook_secret_keys_;
    std::atomic<std::uint64_t> appended_{0};
};

static_assert(token_store<record_store> && access_token_store<record_store> && use_recorder<record_store>);
static_assert(hook_store<record_store>);
static_assert(oauth_store<record_store>);
static_assert(session_store<record_store>);
static_assert(outbox<record_store> && shared_outbox<record_store> && backlog_source<record_store>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/key_value/applications.ipp>
#include <tollgate/store/detail/key_value/delivery_history.ipp>
#include <tollgate/store/detail/key_value/device_codes.ipp>
#include <tollgate/store/detail/key_value/grants.ipp>
#include <tollgate/store/detail/key_value/hooks.ipp>
#include <tollgate/store/detail/key_value/outbox.ipp>
#include <tollgate/store/detail/key_value/sessions.ipp>
#include <tollgate/store/detail/key_value/tokens.ipp>
#include <tollgate/store/key_value.ipp>
#endif

#endif  // TOLLGATE_STORE_KEY_VALUE_HPP

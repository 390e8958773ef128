#pragma once

#include "delivery_tables.hpp"

#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/outbox.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/contract/token_store.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace own_store {

/// An adapter as one would write it for an existing database. Maps and a mutex replace the database: holding the mutex
/// is being in a transaction. Each verb is one transaction, never a read followed by a write.
///
/// The verbs are defined in tokens.cpp (with those of sessions), oauth.cpp and webhooks.cpp.
class table_store {
public:
    // This store never waits. An adapter that waits for a disk or a network declares true and is called on worker
    // threads.
    static constexpr bool blocking = false;

    // token_store
    result<std::optional<token_credential>> find_credential(const credential_key& key);
    result<token_id> create_personal_token(const new_personal_token& token, std::size_t tokens_per_user_max);
    result<std::vector<personal_token>> personal_tokens_of(user_id user);
    result<bool> renew_personal_token(user_id user, token_id id, const personal_token_renewal& renewed);
    result<bool> revoke(const revocation& revoked);

    // application_store
    result<application_id> create_application(const new_application& registered, std::size_t applications_per_user_max);
    result<std::optional<application>> find_application(std::string_view client_id);
    result<std::vector<application>> applications_of(user_id owner);
    result<bool> change_application(const std::optional<user_id>& changed_by, application_id id, const application_change& change);
    result<bool> delete_application(user_id owner, application_id id);

    // grant_store
    result<code_result> create_code(const new_authorization_code& code);
    result<redeemed_code> redeem_code(const code_redemption& redemption);
    result<refreshed_token> refresh_access_token(const token_refresh& refresh);
    result<std::optional<oauth_token>> find_oauth_token(const digest& token);
    result<bool> create_access_token(const new_access_token& token);
    result<void> create_device_code(const new_device_code& code);
    result<std::optional<device_code>> find_device_code(const digest& code);
    result<std::optional<device_answer>> answer_device_code(const device_decision& decision);
    result<std::vector<grant>> grants_of(user_id user);

    // hook_store
    result<hook_id> create_hook(const new_hook& hook, std::size_t hooks_per_event_max);
    result<std::vector<hook>> hooks_of(const account_ref& account);
    result<std::optional<account_ref>> account_of_hook(const service_name& service, hook_id id);
    result<bool> change_hook(const account_ref& account, hook_id id, const hook_change& change);
    result<bool> delete_hook(const account_ref& account, hook_id id);

    // outbox
    result<std::size_t> append_event(const event& reported, const message_seed& seed, instant now, std::optional<hook_id> only_to = {});
    result<due_hook_page> due_hooks(instant now, std::size_t rows_max);
    result<std::vector<due_delivery>> lease(std::span<const lease_request> requests, const lease_time& time);
    result<std::vector<completion>> complete(std::span<const attempt_result> ended, instant now);
    result<std::vector<listed_delivery>> deliveries_of(const account_ref& account, const delivery_query& query);
    result<std::size_t> resend(const account_ref& account, const resend_request& resent, instant now);

    // grant_store, outbox and session_store
    result<std::size_t> sweep(const sweep_request& request);

    // session_store
    result<void> create_session(const stored_session& session);
    result<std::optional<stored_session>> find_session(const digest& cookie);
    result<void> touch_session(const digest& cookie, instant now);
    result<std::vector<stored_session>> sessions_of(user_id user);
    result<bool> end_sessions(const session_selection& ended);

private:
    using digest_bytes = std::array<std::uint8_t, digest::size_bytes>;

    struct access_row {
        new_access_token token;
        std::optional<std::int64_t> refresh_token;  // the id of the one that it was issued with
    };
    struct refresh_row {
        std::int64_t id = 0;  // remains when its use replaces the token
        user_id user;
        application_id application;
        scope_set scopes;
        instant expires_at;
        instant ends_at;
        // Of the last replacement.
        std::optional<digest> family = {};
        digest replaced = {};
        instant replaced_at = {};
        digest successor_seed = {};
    };
    struct device_row {
        digest user_digest;
        device_code code;
    };
    struct code_row {
        new_authorization_code code;
        std::optional<std::int64_t> refresh_token;  // made from it when it was redeemed
        std::optional<instant> redeemed_at = {};
    };

    // Of these, the caller holds the mutex.
    result<code_result> add_code(const new_authorization_code& code);
    hook_row* find_hook(const account_ref& account, hook_id id);
    result<bool> set_fields(hook_id id, hook_row& to, const hook_fields& fields);
    std::size_t sweep_expired(instant now, std::size_t rows_max);
    std::size_t sweep_sessions(const session_ends& ends, std::size_t rows_max);
    std::map<digest_bytes, device_row>::iterator find_device(const digest& code);
    std::map<digest_bytes, refresh_row>::iterator find_family(const digest& family);
    bool revoke_oauth_token(const oauth_token_revocation& revoked);
    bool revoke_refresh_token(std::int64_t id);  // and the access tokens made with it; whether there were any
    bool may_get_tokens(application_id id) const;  // it exists and is not suspended
    bool revoke_all_of(user_id user, application_id application);
    /// Deletes the codes and tokens for which `chosen` returns true.
    template <class Chosen>
    void forget_of(Chosen chosen);

    std::mutex mutex_;
    std::int64_t last_token_ = 0;
    std::int64_t last_application_ = 0;
    std::int64_t last_grant_ = 0;
    std::int64_t last_refresh_token_ = 0;
    std::int64_t last_hook_ = 0;
    std::map<token_id, new_personal_token> personal_tokens_;
    std::map<digest_bytes, access_row> access_tokens_;
    std::map<application_id, application> applications_;
    std::map<grant_id, grant> grants_;
    std::map<digest_bytes, code_row> codes_;
    std::map<digest_bytes, refresh_row> refresh_tokens_;
    std::map<digest_bytes, device_row> device_codes_;
    std::map<hook_id, hook_row> hooks_;
    delivery_tables deliveries_{hooks_};
    std::map<digest_bytes, stored_session> sessions_;
};

}  // namespace own_store

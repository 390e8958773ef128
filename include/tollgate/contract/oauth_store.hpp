#pragma once
#ifndef TOLLGATE_CONTRACT_OAUTH_STORE_HPP
#define TOLLGATE_CONTRACT_OAUTH_STORE_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/contract/detail/reference.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/model/grant.hpp>
#include <tollgate/model/personal_token.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// Stores OAuth applications.
///
/// Thread rule, for both contracts of this file: callable from many threads at once. Blocking: allowed. A store that does not block
/// declares `static constexpr bool blocking = false`; see `may_block`. Errors: an `error`; nothing is thrown. Every verb is atomic. When it
/// returns, its effect is as durable as the store.
template <class S>
concept application_store = requires(S& s, const new_application& created, std::string_view client_id, user_id owner,
                                     application_id id, const digest& secret, const std::optional<digest>& replaced,
                                     const application_change& changed, const std::optional<suspension>& suspended,
                                     std::size_t applications_per_user_max) {
    // Creates an application with a new id. error_kind::conflict if the client_id is taken, invalid if the owner already has
    // `applications_per_user_max` applications.
    { s.create_application(created, applications_per_user_max) } -> std::same_as<result<application_id>>;
    // Returns the application with this client_id, or an empty optional if there is none.
    { s.find_application(client_id) } -> std::same_as<result<std::optional<application>>>;
    // Returns the owner's applications, oldest first, each with the number of its users.
    { s.applications_of(owner) } -> std::same_as<result<std::vector<application>>>;
    // Changes an application. Returns true if the owner has such an application. If the application may no longer act for its owner, its
    // tokens from `create_owner_token` are revoked.
    { s.update_application(owner, id, changed) } -> std::same_as<result<bool>>;
    // Adds a secret. Returns true if the owner has such an application and, unless `replaced` is empty, its newest secret has the digest
    // `replaced`. The previous secret stays valid beside the new secret. A secret before the previous one is invalid as soon as the call
    // returns.
    { s.add_client_secret(owner, id, secret, replaced) } -> std::same_as<result<bool>>;
    // Removes the older of two secrets, which is invalid as soon as the call returns. Returns true if the owner has such an application
    // with an older secret.
    { s.remove_older_secret(owner, id) } -> std::same_as<result<bool>>;
    // Suspends an application, changes the reason, or resumes the application (empty). Returns true if there is such an application.
    // Suspending revokes all its access tokens. While it is suspended it gets neither access tokens nor codes: `create_code` returns
    // `suspended`, `answer_device_code` approves nothing, `redeem_code` and `refresh_access_token` return `unknown`, and
    // `create_owner_token` creates nothing, also in calls that overlap. Its grants and refresh tokens stay.
    { s.set_suspension(id, suspended) } -> std::same_as<result<bool>>;
    // Deletes an application, with its codes, grants, access and refresh tokens. Returns true if the owner had the application.
    { s.delete_application(owner, id) } -> std::same_as<result<bool>>;
};

/// Stores grants, and the codes and tokens issued for them. A code or token is already invalid at the time at which it expires.
///
/// A user and an application cannot fill a store. Beyond `limits::codes_per_grant_max` and `limits::refresh_tokens_per_grant_max`, a store
/// may delete the oldest codes and the least recently used refresh tokens. It deletes no valid access token. Instead, a verb that would
/// exceed `limits::access_tokens_per_grant_max` may change nothing and return error_kind::too_many_requests, with the time at which there
/// is room as `retry_at`. The stores of this library do both.
template <class S>
concept grant_store = requires(S& s, const new_authorization_code& code, const code_redemption& redemption,
                               const token_refresh& refresh, const digest& token, user_id user, application_id application,
                               const new_access_token& access, const new_device_code& device, const device_decision& decision,
                               instant now, std::size_t rows_max) {
    // Returns the scopes that this user has granted this application, or an empty optional if there is no grant, or it was revoked.
    { s.granted_scopes(user, application) } -> std::same_as<result<std::optional<scope_set>>>;
    // Stores the code and adds its scopes to the grant, in one step. If the same code already exists and was not redeemed, it is replaced
    // if the new code `replaces` the end of the existing code. Changes nothing if the digest exists in any other case, if the application
    // is suspended, or if the code is `only_if_granted` and would add a scope, so that a concurrent revocation is not undone.
    // error_kind::not_found if the application does not exist, invalid if the user's scopes would exceed a scope_set.
    { s.create_code(code) } -> std::same_as<result<code_result>>;
    // Redeems a code once: of N simultaneous calls, from any number of threads and processes, exactly one returns `redeemed`, and its
    // tokens exist when it returns. A failure leaves the code unchanged. A redeemed code is kept for `limits::spent_code_seconds` after its
    // expiry, so that reuse is detected. If its application uses the code again, later than `grace` after the redemption, the refresh token
    // that was created from the code and the access tokens of the code and of that refresh token are revoked; the result names the user if
    // there were any. error_kind::conflict if one of the new digests exists.
    { s.redeem_code(redemption) } -> std::same_as<result<redeemed_code>>;
    // Creates an access token from a refresh token, which remains valid; parallel calls all succeed. The refresh token must have the
    // `covering` scopes. The access token gets the `narrowed` scopes, also if the refresh token does not have them by name. With a
    // `rotation`, a successor replaces the refresh token and keeps its end, access tokens and code. During the grace period, the replaced
    // token returns the same successor, even in parallel calls. After that, its use is `reused`, like the use of all tokens of the family
    // that were replaced earlier. Reuse revokes the grant, and the result names its user. error_kind::conflict if a new digest exists.
    { s.refresh_access_token(refresh) } -> std::same_as<result<refreshed_token>>;
    // Revokes an access or refresh token of this application (RFC 7009). A refresh token is found by its own digest or its family's digest.
    // The access tokens that were created with it are revoked, too. The result does not reveal if the token existed.
    { s.revoke_oauth_token(application, token) } -> std::same_as<result<void>>;
    // Returns the access or refresh token with this digest, expired or not, or an empty optional if there is none. A refresh token is also
    // found by its family's digest.
    { s.find_oauth_token(token) } -> std::same_as<result<std::optional<oauth_token>>>;
    // Creates an access token for the accounts of an application's owner, but only if the application is confidential and may act for its
    // owner, and the owner is the user. Returns true if the token was created. error_kind::conflict if the digest exists.
    { s.create_owner_token(access) } -> std::same_as<result<bool>>;
    // Stores a device's request. error_kind::not_found if the application does not exist, conflict if another request has the same
    // `device_digest` or the same `user_digest`. If either digest equals the other digest of another request, a store may report a
    // conflict, or not. Beyond `limits::device_codes_per_application_max`, a store may delete the oldest requests.
    { s.create_device_code(device) } -> std::same_as<result<void>>;
    // Returns the request with this digest of the device's code or of the user's code, expired or not.
    { s.find_device_code(token) } -> std::same_as<result<std::optional<device_code>>>;
    // Answers the request with this digest of the user's code, in one step: of N simultaneous calls, exactly one result `is_new`, and all
    // others are the same answer. A new approval also creates the code that the device redeems (`code_of`), as `create_code` does. Returns
    // an empty optional and changes nothing if there is no such request, if it has expired, or if the code was not created, as for a
    // suspended application. An error of `create_code` also leaves everything unchanged. `judge_answer` decides.
    { s.answer_device_code(decision) } -> std::same_as<result<std::optional<device_answer>>>;
    // Returns the user's grants, oldest first.
    { s.grants_of(user) } -> std::same_as<result<std::vector<grant>>>;
    // Revokes a grant, and deletes its codes, access and refresh tokens. Returns true if there was a grant.
    { s.revoke_grant(user, application) } -> std::same_as<result<bool>>;
    // Deletes at most `rows_max` codes, device codes and tokens that are no longer of use at `now`, and returns the number of deleted rows.
    // A device code is of use for `limits::expired_device_code_seconds` after its expiry. Nothing is deleted before its end has passed,
    // however far ahead the end is.
    { s.sweep_expired(now, rows_max) } -> std::same_as<result<std::size_t>>;
};

/// Stores applications, grants, codes and tokens. Exemplars: `memory_store`, `sqlite_store`, `postgres_store`. An adapter is correct if it
/// passes `tollgate/testing/store_suite.hpp`.
template <class S>
concept oauth_store = application_store<S> && grant_store<S>;

namespace detail {

struct oauth_store_calls {
    result<application_id> (*create_application)(void*, const new_application&, std::size_t);
    result<std::optional<application>> (*find_application)(void*, std::string_view);
    result<std::vector<application>> (*applications_of)(void*, user_id);
    result<bool> (*update_application)(void*, user_id, application_id, const application_change&);
    result<bool> (*add_client_secret)(void*, user_id, application_id, const digest&, const std::optional<digest>&);
    result<bool> (*remove_older_secret)(void*, user_id, application_id);
    result<bool> (*set_suspension)(void*, application_id, const std::optional<suspension>&);
    result<bool> (*delete_application)(void*, user_id, application_id);
    result<std::optional<scope_set>> (*granted_scopes)(void*, user_id, application_id);
    result<code_result> (*create_code)(void*, const new_authorization_code&);
    result<redeemed_code> (*redeem_code)(void*, const code_redemption&);
    result<refreshed_token> (*refresh_access_token)(void*, const token_refresh&);
    result<void> (*revoke_oauth_token)(void*, application_id, const digest&);
    result<std::optional<oauth_token>> (*find_oauth_token)(void*, const digest&);
    result<bool> (*create_owner_token)(void*, const new_access_token&);
    result<void> (*create_device_code)(void*, const new_device_code&);
    result<std::optional<device_code>> (*find_device_code)(void*, const digest&);
    result<std::optional<device_answer>> (*answer_device_code)(void*, const device_decision&);
    result<std::vector<grant>> (*grants_of)(void*, user_id);
    result<bool> (*revoke_grant)(void*, user_id, application_id);
    result<std::size_t> (*sweep_expired)(void*, instant, std::size_t);
};

template <class T>
struct calls_of_oauth_store {
    static result<application_id> create_application(void* object, const new_application& created, std::size_t applications_per_user_max) {
        return object_at<T>(object).create_application(created, applications_per_user_max);
    }
    static result<std::optional<application>> find_application(void* object, std::string_view client_id) {
        return object_at<T>(object).find_application(client_id);
    }
    static result<std::vector<application>> applications_of(void* object, user_id owner) {
        return object_at<T>(object).applications_of(owner);
    }
    static result<bool> update_application(void* object, user_id owner, application_id id, const application_change& changed) {
        return object_at<T>(object).update_application(owner, id, changed);
    }
    static result<bool> add_client_secret(void* object, user_id owner, application_id id, const digest& secret,
                                          const std::optional<digest>& replaced) {
        return object_at<T>(object).add_client_secret(owner, id, secret, replaced);
    }
    static result<bool> remove_older_secret(void* object, user_id owner, application_id id) {
        return object_at<T>(object).remove_older_secret(owner, id);
    }
    static result<bool> set_suspension(void* object, application_id id, const std::optional<suspension>& suspended) {
        return object_at<T>(object).set_suspension(id, suspended);
    }
    static result<bool> delete_application(void* object, user_id owner, application_id id) {
        return object_at<T>(object).delete_application(owner, id);
    }
    static result<std::optional<scope_set>> granted_scopes(void* object, user_id user, application_id application) {
        return object_at<T>(object).granted_scopes(user, application);
    }
    static result<code_result> create_code(void* object, const new_authorization_code& code) {
        return object_at<T>(object).create_code(code);
    }
    static result<redeemed_code> redeem_code(void* object, const code_redemption& redemption) {
        return object_at<T>(object).redeem_code(redemption);
    }
    static result<refreshed_token> refresh_access_token(void* object, const token_refresh& refresh) {
        return object_at<T>(object).refresh_access_token(refresh);
    }
    static result<void> revoke_oauth_token(void* object, application_id application, const digest& token) {
        return object_at<T>(object).revoke_oauth_token(application, token);
    }
    static result<std::optional<oauth_token>> find_oauth_token(void* object, const digest& token) {
        return object_at<T>(object).find_oauth_token(token);
    }
    static result<bool> create_owner_token(void* object, const new_access_token& access) {
        return object_at<T>(object).create_owner_token(access);
    }
    static result<void> create_device_code(void* object, const new_device_code& device) {
        return object_at<T>(object).create_device_code(device);
    }
    static result<std::optional<device_code>> find_device_code(void* object, const digest& token) {
        return object_at<T>(object).find_device_code(token);
    }
    static result<std::optional<device_answer>> answer_device_code(void* object, const device_decision& decision) {
        return object_at<T>(object).answer_device_code(decision);
    }
    static result<std::vector<grant>> grants_of(void* object, user_id user) { return object_at<T>(object).grants_of(user); }
    static result<bool> revoke_grant(void* object, user_id user, application_id application) {
        return object_at<T>(object).revoke_grant(user, application);
    }
    static result<std::size_t> sweep_expired(void* object, instant now, std::size_t rows_max) {
        return object_at<T>(object).sweep_expired(now, rows_max);
    }

    static constexpr oauth_store_calls table{
            &create_application, &find_application, &applications_of, &update_application, &add_client_secret, &remove_older_secret,
            &set_suspension, &delete_application, &granted_scopes, &create_code, &redeem_code, &refresh_access_token, &revoke_oauth_token,
            &find_oauth_token, &create_owner_token, &create_device_code, &find_device_code, &answer_device_code, &grants_of, &revoke_grant,
            &sweep_expired};
};

}  // namespace detail

/// A reference to an `oauth_store` of any class, or to no object. The object must outlive the reference. The contract states the thread
/// rule and the errors.
class oauth_store_ref : public detail::reference<detail::oauth_store_calls> {
public:
    oauth_store_ref() noexcept = default;
    /// Constructs a reference to `object`.
    template <class T>
        requires detail::is_erasable<T, oauth_store_ref>
    oauth_store_ref(T& object) noexcept {
        static_assert(oauth_store<T>, "tollgate: this does not satisfy oauth_store; read tollgate/contract/oauth_store.hpp");
        if constexpr (oauth_store<T>) refer_to(object, detail::calls_of_oauth_store<T>::table);
    }

    /// Each calls the object's function of this name; see `oauth_store`.
    [[nodiscard]] result<application_id> create_application(const new_application& created, std::size_t applications_per_user_max) const {
        return calls_->create_application(object_, created, applications_per_user_max);
    }
    [[nodiscard]] result<std::optional<application>> find_application(std::string_view client_id) const {
        return calls_->find_application(object_, client_id);
    }
    [[nodiscard]] result<std::vector<application>> applications_of(user_id owner) const { return calls_->applications_of(object_, owner); }
    [[nodiscard]] result<bool> update_application(user_id owner, application_id id, const application_change& changed) const {
        return calls_->update_application(object_, owner, id, changed);
    }
    [[nodiscard]] result<bool> add_client_secret(user_id owner, application_id id, const digest& secret,
                                                 const std::optional<digest>& replaced) const {
        return calls_->add_client_secret(object_, owner, id, secret, replaced);
    }
    [[nodiscard]] result<bool> remove_older_secret(user_id owner, application_id id) const {
        return calls_->remove_older_secret(object_, owner, id);
    }
    [[nodiscard]] result<bool> set_suspension(application_id id, const std::optional<suspension>& suspended) const {
        return calls_->set_suspension(object_, id, suspended);
    }
    [[nodiscard]] result<bool> delete_application(user_id owner, application_id id) const {
        return calls_->delete_application(object_, owner, id);
    }
    [[nodiscard]] result<std::optional<scope_set>> granted_scopes(user_id user, application_id application) const {
        return calls_->granted_scopes(object_, user, application);
    }
    [[nodiscard]] result<code_result> create_code(const new_authorization_code& code) const { return calls_->create_code(object_, code); }
    [[nodiscard]] result<redeemed_code> redeem_code(const code_redemption& redemption) const {
        return calls_->redeem_code(object_, redemption);
    }
    [[nodiscard]] result<refreshed_token> refresh_access_token(const token_refresh& refresh) const {
        return calls_->refresh_access_token(object_, refresh);
    }
    [[nodiscard]] result<void> revoke_oauth_token(application_id application, const digest& token) const {
        return calls_->revoke_oauth_token(object_, application, token);
    }
    [[nodiscard]] result<std::optional<oauth_token>> find_oauth_token(const digest& token) const {
        return calls_->find_oauth_token(object_, token);
    }
    [[nodiscard]] result<bool> create_owner_token(const new_access_token& access) const {
        return calls_->create_owner_token(object_, access);
    }
    [[nodiscard]] result<void> create_device_code(const new_device_code& device) const {
        return calls_->create_device_code(object_, device);
    }
    [[nodiscard]] result<std::optional<device_code>> find_device_code(const digest& token) const {
        return calls_->find_device_code(object_, token);
    }
    [[nodiscard]] result<std::optional<device_answer>> answer_device_code(const device_decision& decision) const {
        return calls_->answer_device_code(object_, decision);
    }
    [[nodiscard]] result<std::vector<grant>> grants_of(user_id user) const { return calls_->grants_of(object_, user); }
    [[nodiscard]] result<bool> revoke_grant(user_id user, application_id application) const {
        return calls_->revoke_grant(object_, user, application);
    }
    [[nodiscard]] result<std::size_t> sweep_expired(instant now, std::size_t rows_max) const {
        return calls_->sweep_expired(object_, now, rows_max);
    }
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_OAUTH_STORE_HPP

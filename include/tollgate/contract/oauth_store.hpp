#pragma once
#ifndef TOLLGATE_CONTRACT_OAUTH_STORE_HPP
#define TOLLGATE_CONTRACT_OAUTH_STORE_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/contract/detail/reference.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/model/grant.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/model/sweep.hpp>

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
concept application_store = requires(S& s, const new_application& created, std::string_view client_id, user_id owner, application_id id,
                                     const std::optional<user_id>& changed_by, const application_change& change,
                                     std::size_t applications_per_user_max) {
    // Creates an application with a new id. error_kind::conflict if the client_id is taken (by another application than the same owner's
    // with the same secret), invalid if the owner already has `applications_per_user_max` applications.
    { s.create_application(created, applications_per_user_max) } -> std::same_as<result<application_id>>;
    // Returns the application with this client_id, or an empty optional if there is none.
    { s.find_application(client_id) } -> std::same_as<result<std::optional<application>>>;
    // Returns the owner's applications, oldest first, each with the number of its users.
    { s.applications_of(owner) } -> std::same_as<result<std::vector<application>>>;
    // Changes an application in one step. Returns true if there is such an application, if it belongs to the user `changed_by` (empty: to
    // any user, for the operator), and:
    // - `client_secret_addition`: unless `replaced` is empty, the newest secret has the digest `replaced`, or is already the added secret;
    // - `older_secret_removal`: it has an older secret.
    // While an application is suspended it gets neither access tokens nor codes: `create_code` returns `suspended`, `answer_device_code`
    // approves nothing, `redeem_code` and `refresh_access_token` return `unknown`, and `create_access_token` creates no token `for_owner`,
    // also in calls that overlap. Its grants and refresh tokens stay.
    { s.change_application(changed_by, id, change) } -> std::same_as<result<bool>>;
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
concept grant_store = access_token_store<S> &&
                      requires(S& s, const new_authorization_code& code, const code_redemption& redemption, const token_refresh& refresh,
                               const digest& token, user_id user, const new_device_code& device, const device_decision& decision,
                               const sweep_request& sweep) {
    // Stores the code and adds its scopes to the grant, in one step. If the same code already exists and was not redeemed, it is replaced
    // if the new code `replaces` the end of the existing code. Changes nothing if the digest exists in any other case, if the application
    // is suspended, or if the code is `only_if_granted` and would add a scope, so that a concurrent revocation is not undone.
    // error_kind::not_found if the application does not exist, invalid if the user's scopes would exceed a scope_set.
    { s.create_code(code) } -> std::same_as<result<code_result>>;
    // Redeems a code once: of N simultaneous calls, from any number of threads and processes, exactly one returns `redeemed`, and its
    // tokens exist when it returns. A failure leaves the code unchanged. A redeemed code is kept for `limits::spent_code_seconds` after its
    // expiry, so that reuse is detected. If its application uses the code again, later than `grace` after the redemption, the refresh token
    // that was created from the code and the access tokens of the code and of that refresh token are revoked; the result names the user if
    // there were any. error_kind::conflict if one of the new digests exists. A call that was repeated with the same digests returns
    // `redeemed` again and changes nothing, also after the grace.
    { s.redeem_code(redemption) } -> std::same_as<result<redeemed_code>>;
    // Creates an access token from a refresh token, which remains valid; parallel calls all succeed. The refresh token must have the
    // `covering` scopes. The access token gets the `narrowed` scopes, also if the refresh token does not have them by name. With a
    // `rotation`, a successor replaces the refresh token and keeps its end, access tokens and code. During the grace period, the replaced
    // token returns the same successor, even in parallel calls. After that, its use is `reused`, like the use of all tokens of the family
    // that were replaced earlier. Reuse revokes the grant, and the result names its user. error_kind::conflict if a new digest exists. A
    // call that was repeated with the same digests returns its result again and changes nothing, also after the grace.
    { s.refresh_access_token(refresh) } -> std::same_as<result<refreshed_token>>;
    // Returns the access or refresh token with this digest, expired or not, or an empty optional if there is none. A refresh token is also
    // found by its family's digest.
    { s.find_oauth_token(token) } -> std::same_as<result<std::optional<oauth_token>>>;
    // Stores a device's request. error_kind::not_found if the application does not exist, conflict if another request has the same
    // `device_digest` or the same `user_digest` (and is not the same request). If either digest equals the other digest of another request,
    // a store may report a conflict, or not. Beyond `limits::device_codes_per_application_max`, a store may delete the oldest requests.
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
    // Deletes rows that are no longer of use, and returns their number; see `sweep_request::expired_at`.
    { s.sweep(sweep) } -> std::same_as<result<std::size_t>>;
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
    result<bool> (*change_application)(void*, const std::optional<user_id>&, application_id, const application_change&);
    result<bool> (*delete_application)(void*, user_id, application_id);
    result<code_result> (*create_code)(void*, const new_authorization_code&);
    result<redeemed_code> (*redeem_code)(void*, const code_redemption&);
    result<refreshed_token> (*refresh_access_token)(void*, const token_refresh&);
    result<std::optional<oauth_token>> (*find_oauth_token)(void*, const digest&);
    result<bool> (*create_access_token)(void*, const new_access_token&);
    result<bool> (*revoke)(void*, const revocation&);
    result<void> (*create_device_code)(void*, const new_device_code&);
    result<std::optional<device_code>> (*find_device_code)(void*, const digest&);
    result<std::optional<device_answer>> (*answer_device_code)(void*, const device_decision&);
    result<std::vector<grant>> (*grants_of)(void*, user_id);
    result<std::size_t> (*sweep)(void*, const sweep_request&);
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
    static result<bool> change_application(void* object, const std::optional<user_id>& changed_by, application_id id,
                                           const application_change& change) {
        return object_at<T>(object).change_application(changed_by, id, change);
    }
    static result<bool> delete_application(void* object, user_id owner, application_id id) {
        return object_at<T>(object).delete_application(owner, id);
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
    static result<std::optional<oauth_token>> find_oauth_token(void* object, const digest& token) {
        return object_at<T>(object).find_oauth_token(token);
    }
    static result<bool> create_access_token(void* object, const new_access_token& created) {
        return object_at<T>(object).create_access_token(created);
    }
    static result<bool> revoke(void* object, const revocation& revoked) { return object_at<T>(object).revoke(revoked); }
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
    static result<std::size_t> sweep(void* object, const sweep_request& request) { return object_at<T>(object).sweep(request); }

    static constexpr oauth_store_calls table{
            &create_application, &find_application, &applications_of, &change_application, &delete_application, &create_code, &redeem_code,
            &refresh_access_token, &find_oauth_token, &create_access_token, &revoke, &create_device_code, &find_device_code,
            &answer_device_code, &grants_of, &sweep};
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
    [[nodiscard]] result<bool> change_application(const std::optional<user_id>& changed_by, application_id id,
                                                  const application_change& change) const {
        return calls_->change_application(object_, changed_by, id, change);
    }
    [[nodiscard]] result<bool> delete_application(user_id owner, application_id id) const {
        return calls_->delete_application(object_, owner, id);
    }
    [[nodiscard]] result<code_result> create_code(const new_authorization_code& code) const { return calls_->create_code(object_, code); }
    [[nodiscard]] result<redeemed_code> redeem_code(const code_redemption& redemption) const {
        return calls_->redeem_code(object_, redemption);
    }
    [[nodiscard]] result<refreshed_token> refresh_access_token(const token_refresh& refresh) const {
        return calls_->refresh_access_token(object_, refresh);
    }
    [[nodiscard]] result<std::optional<oauth_token>> find_oauth_token(const digest& token) const {
        return calls_->find_oauth_token(object_, token);
    }
    [[nodiscard]] result<bool> create_access_token(const new_access_token& created) const {
        return calls_->create_access_token(object_, created);
    }
    [[nodiscard]] result<bool> revoke(const revocation& revoked) const { return calls_->revoke(object_, revoked); }
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
    [[nodiscard]] result<std::size_t> sweep(const sweep_request& request) const { return calls_->sweep(object_, request); }
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_OAUTH_STORE_HPP

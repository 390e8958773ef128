#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_CLIENT_ENDPOINTS_HPP
#define TOLLGATE_OAUTH_DETAIL_CLIENT_ENDPOINTS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/oauth/detail/authorization_request.hpp>
#include <tollgate/oauth/detail/device_codes.hpp>
#include <tollgate/oauth/detail/failure.hpp>
#include <tollgate/oauth/detail/parameters.hpp>
#include <tollgate/oauth/detail/paths.hpp>
#include <tollgate/oauth/detail/token_endpoint.hpp>
#include <tollgate/oauth/detail/token_response.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/policy/policies.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tollgate::inline v0::oauth {

/// Client credentials (RFC 6749 section 2.3.1). A public client sends its client_id alone (section 3.2.1).
struct client_credentials {
    std::string client_id;
    std::string client_secret = {};

    friend bool operator==(const client_credentials&, const client_credentials&) = default;
};

/// A request that cannot be read, and the status of its response.
struct refused_request {
    failure reason;
    http::status status = http::status::bad_request;
};

/// Reads the credentials from the Authorization field, where both parts are form-encoded, or from the body. Both are
/// accepted if they are equal. Refuses a request without a client_id, and says where it should be.
[[nodiscard]] TOLLGATE_DECL std::variant<client_credentials, refused_request> read_client_credentials(
    const http::request& request, const parameters& sent);

/// Returns true if the Authorization field is repeated or is not Basic, so that the request fails whatever its body says. Other credentials
/// in it may contradict those in the body, which is another error.
[[nodiscard]] TOLLGATE_DECL bool has_unusable_authorization(const http::request& request);

/// Returns true if the credentials can be valid.
[[nodiscard]] TOLLGATE_DECL bool are_well_formed(const client_credentials& credentials) noexcept;

/// The reason why a client is not authenticated. Only `wrong_secret` may be a guess, so only it is counted.
enum class client_fault : std::uint8_t {
    unknown_client,  ///< no secret was sent, and there is no such application
    missing_secret,  ///< the application has a secret
    needless_secret,  ///< a public client sent a secret
    needs_secret,  ///< a public client, at an endpoint for clients with a secret
    wrong_secret,  ///< or there is no such application, which is not revealed to those who sent a secret
};
[[nodiscard]] TOLLGATE_DECL failure to_failure(client_fault fault);

/// The application with these credentials: of a confidential client with its secret, of a public one without any.
[[nodiscard]] inline result<std::variant<application, client_fault>> authenticate_client(const client_credentials& credentials,
                                                                                         const oauth_store_ref& applications) {
    const bool has_secret = !credentials.client_secret.empty();
    const auto unknown = has_secret ? client_fault::wrong_secret : client_fault::unknown_client;
    if (!is_client_id_text(credentials.client_id)) return unknown;
    auto found = applications.find_application(credentials.client_id);
    if (!found) return std::move(found).error();
    if (!*found) return unknown;
    application& client = **found;
    if (client.type == client_type::public_client) {
        if (has_secret) return client_fault::needless_secret;
        return std::move(client);
    }
    if (!has_secret) return client_fault::missing_secret;
    const auto presented = digest_of(credentials.client_secret);
    if (client.secret_digest != presented && client.older_secret_digest != presented) return client_fault::wrong_secret;
    return std::move(client);
}

/// A request to an endpoint for applications, parsed but not authenticated.
struct client_request {
    parameters sent;
    client_credentials credentials;
};

/// Refuses a malformed body, a repeated parameter, and credentials that are missing, malformed or contradictory.
[[nodiscard]] TOLLGATE_DECL std::variant<client_request, refused_request> read_client_request(const http::request& request);

/// Returns true if this is a refresh with a well-formed token.
[[nodiscard]] TOLLGATE_DECL bool is_refresh(const parameters& sent);

/// 401, or 429 if the request was counted and the address has used up its window (RFC 6749 section 5.2). The challenge is sent only
/// to clients that used the Authorization field.
TOLLGATE_DECL void respond_invalid_client(const http::request& request, const request_state& context, client_fault fault,
                                          http::response& response, std::string_view documentation_url);

/// The challenge of a 401 (RFC 6749 section 5.2).
TOLLGATE_DECL void add_client_challenge(const http::request& request, http::response& response);

/// 429 with Retry-After, where failures have used up the window of the client's address.
TOLLGATE_DECL void write_rate_limited(http::response& response, const failure& failed, const limit_decision& window, instant now,
                                      std::string_view documentation_url);

/// 429, and when the client may try again.
TOLLGATE_DECL void respond_too_many(instant retry_at, instant now, http::response& response, std::string_view documentation_url,
                                    std::string_view description);

/// The introspection response for a token (RFC 7662 section 2.2). `token`: null unless the caller may ask about it.
TOLLGATE_DECL void write_introspection(http::response& response, const oauth_token* token, std::string_view issuer);

/// The endpoints that applications call: token (RFC 6749 section 3.2), revocation (RFC 7009), introspection (RFC 7662) and
/// device authorization (RFC 8628). Refers to members of an authorization server, for the duration of a call.
struct client_endpoints {
    const account_service_settings& settings;
    const oauth_store_ref& store;
    const tollgate::policies& policies;
    window_limiter& grant_limiter;  ///< limiter of refreshes and of polls
    window_limiter& device_limiter;
    std::string_view documentation_url;
    pipeline::observed_request observed;
    request_state& state;  ///< gets the client_id and the error code, for the observer

    /// `is_active(user)`: whether a user may have tokens, `result<bool>`.
    template <class IsActive>
    void respond_token(const http::request& request, request_state& context, http::response& response,
                       const IsActive& is_active) const {
        const auto read = authenticate(request, context, response, endpoint::token, is_active);
        if (!read) return;
        std::optional<oauth_token> refresh_token;
        if (is_refresh(read->sent)) {
            const auto found = find_refresh_token(*read);
            if (!found) return respond_error(found.error(), response);
            refresh_token = *found;
            if (refresh_token && !admit_refresh(*read, *refresh_token, context, response, is_active)) return;
        }
        if (read->sent.find("grant_type") == "client_credentials" && read->client.type == client_type::confidential &&
            (!admit_token(*read, read->client.owner, context, response) || !admit_client(*read, context, response)))
            return;
        if (read->sent.find("grant_type") == device_grant_type && polls_too_soon(*read, context.now()))
            return fail({error_code::slow_down, "The device polls too often. Wait 5 seconds longer each time."}, response);
        const exchange_context exchange{read->client, settings, context.now(), refresh_token ? &refresh_token->scopes : nullptr};
        auto judged = oauth::issue_tokens(read->sent, exchange, store, policies.random(), policies.scope_checker());
        if (!judged && judged.error().kind == error_kind::too_many_requests)
            return refuse_for_now(judged.error().retry_at, response, judged.error().message);
        if (!judged) return respond_error(judged.error(), response);
        if (const auto* error = std::get_if<failure>(&*judged)) return refuse_exchange(*read, *error, response);
        if (const auto* reused = std::get_if<reused_secret>(&*judged)) {
            if (reused->user)
                policies.observer().on_activity({activity_kind::access_revoked_after_reuse, *reused->user,
                                                 read->client.name, context.client, context.now()});
            return refuse_exchange(*read, reused->reason, response);
        }
        const auto& issued = std::get<token_response>(*judged);
        if (issued.new_user) {
            const auto revoked = revoke_if_disabled(read->client.id, issued, is_active);
            if (!revoked) return respond_error(revoked.error(), response);
            if (*revoked) return fail({error_code::invalid_grant, "The user's account is disabled."}, response);
        }
        write_tokens(response, issued);
        const std::size_t rows_added = issued.refresh_token ? 2 : 1;
        oauth::remove_expired(store, policies.observer(), context.now(), rows_added);
    }

    /// 200 whether the token exists or not (section 2.2); token_type_hint is ignored (section 2.1). Suspended applications may revoke.
    template <class IsActive>
    void respond_revocation(const http::request& request, request_state& context, http::response& response,
                            const IsActive& is_active) const {
        const auto read = authenticate(request, context, response, endpoint::revocation, is_active);
        if (!read) return;
        const auto token = read->sent.find("token");
        if (!token) return fail(missing_parameter("token"), response);
        const bool is_refresh_token = is_well_formed(secret_kind::refresh_token, *token);
        result<bool> done = false;
        if (is_refresh_token || is_well_formed(secret_kind::access_token, *token))
            done = revoke(read->client.id, *token);
        // A token that was replaced is also accepted: its response may have been lost.
        if (done && !*done && is_refresh_token) done = revoke(read->client.id, family_of(*token));
        if (!done) return respond_error(done.error(), response);
        // The content is ignored (section 2.2), but some clients expect JSON.
        response.add_prepared_lines(pipeline::json_field_lines);
        response.body() = "{}";
    }

    /// Reports a token as not active unless it is valid and either the client's own, or an access token and the client is a
    /// resource server.
    /// `is_active(user)`: whether the tokens of a user count, `result<bool>`.
    template <class IsActive>
    void respond_introspection(const http::request& request, request_state& context, http::response& response,
                               const IsActive& is_active) const {
        const auto read = authenticate(request, context, response, endpoint::introspection, is_active);
        if (!read) return;
        const auto token = read->sent.find("token");
        if (!token) return fail(missing_parameter("token"), response);
        if (!is_well_formed(secret_kind::access_token, *token) && !is_well_formed(secret_kind::refresh_token, *token))
            return write_introspection(response, nullptr, settings.auth_url);
        const auto found = store.find_oauth_token(digest_of(*token));
        if (!found) return respond_error(found.error(), response);
        const bool may_introspect = *found && context.now() < (*found)->expires_at &&
                                    ((*found)->application == read->client.id ||
                                     (read->client.type == client_type::resource_server && !(*found)->is_refresh_token));
        if (!may_introspect) return write_introspection(response, nullptr, settings.auth_url);
        const auto active = is_active((*found)->user);
        if (!active) return respond_error(active.error(), response);
        write_introspection(response, *active ? &**found : nullptr, settings.auth_url);
    }

    /// RFC 8628 section 3.1. Public clients prove nothing here, so requests are counted by address.
    template <class IsActive>
    void respond_device_authorization(const http::request& request, request_state& context, http::response& response,
                                      const IsActive& is_active) const {
        const auto read = authenticate(request, context, response, endpoint::device_authorization, is_active);
        if (!read) return;
        const auto window = take_device_request(context.client, context.now());
        if (!window.admitted)
            return refuse_for_now(window.resets_at, response, "Too many device codes were requested from this address.");
        const auto requested = read_device_request(read->sent, read->client, settings.services);
        if (const auto* error = std::get_if<failure>(&requested)) return fail(*error, response);

        // A user's code is short enough to be drawn twice.
        constexpr int draws_max = 3;
        for (int draws = 1;; ++draws) {
            const auto device = tollgate::new_secret(secret_kind::device_code, policies.random());
            const auto user = oauth::new_user_code(policies.random());
            if (!device || !user) return respond_error(random_source_error(), response);
            const auto created = store.create_device_code({.device_digest = digest_of(*device),
                                                           .user_digest = digest_of_user_code(*user),
                                                           .application = read->client.id,
                                                           .scopes = std::get<scope_set>(requested),
                                                           .requested_from = context.client.to_text(),
                                                           .created_at = context.now(),
                                                           .expires_at = context.now() + settings.oauth.device_code_lifetime});
            if (!created && created.error().kind == error_kind::conflict && draws < draws_max) continue;
            if (!created) return respond_error(created.error(), response);
            write_device_response(response, {.device_code = *device, .user_code = *user, .settings = settings});
            break;
        }
        oauth::remove_expired(store, policies.observer(), context.now(), 1);
    }

private:
    /// Revokes the tokens of a disabled user and returns true. The user is known only after the code was redeemed, which
    /// cannot be undone. If the lookup fails, the tokens are kept: the API checks the user again with each request.
    template <class IsActive>
    [[nodiscard]] result<bool> revoke_if_disabled(application_id client, const token_response& issued,
                                                  const IsActive& is_active) const {
        const auto active = is_active(*issued.new_user);
        if (!active) observed.report(policies, active.error());
        if (!active || *active) return false;
        if (auto done = revoke(client, issued.access_token); !done) return std::move(done).error();
        if (!issued.refresh_token) return true;
        if (auto done = revoke(client, *issued.refresh_token); !done) return std::move(done).error();
        return true;
    }

    [[nodiscard]] limit_decision take_device_request(const ip_address& client, instant now) const {
        auto window = device_limiter.take(limit_key::of(client), settings.oauth.device_requests, now);
        if (client.is_v4() || !window.admitted) return window;
        const auto site = limit_key::of(tollgate::detail::first_of_network(client, 7)).in("/56");
        window = device_limiter.take(site, settings.oauth.device_requests_of_site, now);
        if (!window.admitted) return window;
        const auto network = limit_key::of(tollgate::detail::first_of_network(client, 6)).in("/48");
        return device_limiter.take(network, settings.oauth.device_requests_of_network, now);
    }

    struct authenticated {
        parameters sent;
        application client;
    };

    /// Revokes an access or refresh token of the client. Returns true if there was one.
    [[nodiscard]] result<bool> revoke(application_id client, std::string_view token) const {
        return store.revoke(oauth_token_revocation{digest_of(token), client});
    }

    /// The refresh token of the request, if it is one of the application's. Another application's attempt, which will fail, is not
    /// counted against the grant.
    [[nodiscard]] result<std::optional<oauth_token>> find_refresh_token(const authenticated& refresh) const {
        const auto sent = refresh.sent.find("refresh_token").value_or("");
        auto token = store.find_oauth_token(digest_of(sent));
        // A token that was replaced still gets access tokens during its grace period.
        if (token && !*token) token = store.find_oauth_token(digest_of(family_of(sent)));
        if (token && *token && (*token)->application != refresh.client.id) return std::optional<oauth_token>{};
        return token;
    }

    /// Returns false if the request has been answered: there were too many refreshes, or the user is not active.
    template <class IsActive>
    [[nodiscard]] bool admit_refresh(const authenticated& refresh, const oauth_token& token, request_state& context,
                                     http::response& response, const IsActive& is_active) const {
        if (!admit_token(refresh, token.user, context, response) || !admit_client(refresh, context, response)) return false;
        const auto active = is_active(token.user);
        if (!active) respond_error(active.error(), response);
        else if (!*active) fail(invalid_refresh_token(), response);
        return active && *active;
    }

    /// Counts a request for an access token of this user. By the grant: neither a rotated token nor another authorization begins a new
    /// window. False if it has been answered.
    [[nodiscard]] bool admit_token(const authenticated& request, user_id user, const request_state& context,
                                   http::response& response) const {
        const auto key = limit_key::of(user).in("tokens of application " + std::to_string(request.client.id.value()));
        return admit(key, settings.oauth.refreshes, "Too many requests for access tokens of this user. Use the tokens until they expire.",
                     context, response);
    }

    /// Counts a request for an access token by its application. Only one with a valid secret or refresh token: anyone may send the
    /// client_id of a public client.
    [[nodiscard]] bool admit_client(const authenticated& request, const request_state& context, http::response& response) const {
        const auto key = limit_key::of(request.client.owner).in("application " + std::to_string(request.client.id.value()));
        return admit(key, settings.oauth.refreshes_of_client, "Too many requests for access tokens by this application.", context,
                     response);
    }

    [[nodiscard]] bool admit(const limit_key& key, const quota& limit, std::string_view description, const request_state& context,
                             http::response& response) const {
        const auto window = grant_limiter.take(key, limit, context.now());
        if (!window.admitted) refuse_for_now(window.resets_at, response, description);
        return window.admitted;
    }

    /// Each application has windows of its own, so that another one's polls, which fail, do not delay the device. The window
    /// is shorter than the interval by a second, which the network may take.
    [[nodiscard]] bool polls_too_soon(const authenticated& poll, instant now) const {
        const auto code = poll.sent.find("device_code");
        if (!code || !is_well_formed(secret_kind::device_code, *code)) return false;
        const auto key = limit_key::of(poll.client.owner).in(std::string{*code}.append(poll.client.client_id.view()));
        return !grant_limiter.take(key, {1, (std::max)(settings.oauth.device_poll_interval - seconds{1}, seconds{1})}, now).admitted;
    }

    /// The result is empty if the request has been answered. A deleted application gets the same answer to its refresh token as after
    /// a revocation by the user, instead of `invalid_client`. An application that is suspended, or whose owner is not active, may
    /// only revoke.
    template <class IsActive>
    [[nodiscard]] std::optional<authenticated> authenticate(const http::request& request, request_state& context,
                                                            http::response& response, endpoint endpoint,
                                                            const IsActive& is_active) const {
        if (request.method != http::method::post) {
            respond_unsupported_method(request, response, "POST, OPTIONS", documentation_url);
            if (request.method != http::method::options) state.error = error_code::invalid_request;
            return std::nullopt;
        }
        auto read = read_client_request(request);
        if (const auto* refused = std::get_if<refused_request>(&read)) {
            if (refused->status == http::status::unsupported_media_type) pipeline::add_accepted_coding(request, response);
            if (refused->status == http::status::unauthorized) add_client_challenge(request, response);
            fail(refused->reason, response, refused->status);
            return std::nullopt;
        }
        auto& [sent, credentials] = std::get<client_request>(read);
        state.note_client(credentials.client_id);
        auto found = oauth::authenticate_client(credentials, store);
        if (!found) {
            respond_error(found.error(), response);
            return std::nullopt;
        }
        auto* const client = std::get_if<application>(&*found);
        // A public client is not authenticated, so it gets no information about tokens.
        if (client != nullptr && endpoint == endpoint::introspection && client->type == client_type::public_client) {
            refuse_client(request, context, client_fault::needs_secret, response);
            return std::nullopt;
        }
        if (client != nullptr && endpoint != endpoint::revocation) {
            const auto stopped = is_stopped(*client, is_active);
            if (!stopped) respond_error(stopped.error(), response);
            else if (*stopped) fail({error_code::unauthorized_client, "The application is suspended."}, response);
            if (!stopped || *stopped) return std::nullopt;
        }
        if (client != nullptr) return authenticated{std::move(sent), std::move(*client)};

        const auto fault = std::get<client_fault>(*found);
        if (fault == client_fault::wrong_secret)
            context.window = policies.limiter().take(limit_key::of(context.client), settings.anonymous_quota, context.now());
        const bool is_admitted = !context.window || context.window->admitted;
        if (is_admitted && endpoint == endpoint::token && is_refresh(sent) && is_deleted_client(credentials))
            fail(invalid_refresh_token(), response);
        else refuse_client(request, context, fault, response);
        return std::nullopt;
    }

    void refuse_client(const http::request& request, const request_state& context, client_fault fault, http::response& response) const {
        state.error = error_code::invalid_client;
        respond_invalid_client(request, context, fault, response, documentation_url);
    }

    /// An invalid code or token of a public client counts like a wrong secret: its sender has not been authenticated.
    void refuse_exchange(const authenticated& request, const failure& failed, http::response& response) const {
        if (request.client.type != client_type::public_client || failed.code != error_code::invalid_grant) return fail(failed, response);
        state.window = policies.limiter().take(limit_key::of(state.client), settings.anonymous_quota, state.now());
        if (state.window->admitted) return fail(failed, response);
        state.error = failed.code;
        write_rate_limited(response,
                           {failed.code, "API rate limit exceeded by requests with invalid codes and tokens. Wait until the time "
                                         "in X-RateLimit-Reset."},
                           *state.window, state.now(), documentation_url);
    }

    void refuse_for_now(instant retry_at, http::response& response, std::string_view description) const {
        state.error = error_code::temporarily_unavailable;
        respond_too_many(retry_at, state.now(), response, documentation_url, description);
    }

    void fail(const failure& failed, http::response& response, http::status status = http::status::bad_request) const {
        state.error = failed.code;
        write_failure(response, {.status = status, .failure = failed, .documentation_url = documentation_url});
    }

    /// Returns true if the credentials could be those of a client that does not exist (any more).
    [[nodiscard]] bool is_deleted_client(const client_credentials& credentials) const {
        if (!are_well_formed(credentials)) return false;
        const auto found = store.find_application(credentials.client_id);
        return found && !*found;
    }

    void respond_error(const error& error, http::response& response) const {
        state.error = to_failure(error).code;
        observed.report(policies, error);
        write_server_error(response, error, documentation_url);
    }
};

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/client_endpoints.ipp>
#endif

#endif  // TOLLGATE_OAUTH_DETAIL_CLIENT_ENDPOINTS_HPP

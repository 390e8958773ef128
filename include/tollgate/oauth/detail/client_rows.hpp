#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_CLIENT_ROWS_HPP
#define TOLLGATE_OAUTH_DETAIL_CLIENT_ROWS_HPP

#include <tollgate/account/new_secret.hpp>
#include <tollgate/http/detail/cors.hpp>
#include <tollgate/http/detail/fields.hpp>
#include <tollgate/http/detail/request_id.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/model/grant.hpp>
#include <tollgate/oauth/detail/client_endpoints.hpp>
#include <tollgate/oauth/detail/oauth_part.hpp>
#include <tollgate/pipeline/detail/row.hpp>
#include <tollgate/pipeline/detail/stages.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tollgate::inline v0::oauth {

/// What an endpoint for applications keeps for one request.
struct kept_client final : pipeline::kept_data {
    [[nodiscard]] oauth_outcome outcome() const noexcept override { return noted.outcome(); }

    oauth::endpoint endpoint = oauth::endpoint::none;
    noted_outcome noted{};
    parameters sent{http::form_fields{{}}};
    client_credentials credentials{};
    std::optional<application> client{};   ///< set exactly if the credentials are right
    std::optional<client_fault> fault{};   ///< why the application may not call the endpoint
    std::optional<oauth_token> token{};    ///< the refresh token, or the token to describe
    resource_set resources{};
    std::optional<failure> refused{};      ///< why no tokens are issued
};

/// The functions of the rows of endpoints that applications call: token (RFC 6749 section 3.2), revocation (RFC 7009), introspection (RFC
/// 7662), device authorization (RFC 8628), and of the metadata.
struct client_rules {
    using row_call = pipeline::row_call;
    using progress = pipeline::progress;
    using step = pipeline::step;

    static kept_client& kept(const row_call& call) noexcept { return static_cast<kept_client&>(*call.state.kept); }
    static const oauth_part& part(const row_call& call) noexcept { return call.part<oauth_part>(); }

    // The callers are applications.

    static void read(row_call& call) {
        kept(call).client.reset();
        kept(call).fault.reset();
        call.state.auth.state = pipeline::auth_state::unchecked;
    }
    static progress find(row_call& call) {
        const oauth_store_ref& store = part(call).store();
        if (store.may_block() && !call.may_wait()) return progress::waits;
        kept_client& state = kept(call);
        auto& auth = call.state.auth;
        auto found = authenticate_client(state.credentials, store);
        if (!found) {
            auth.fail(std::move(found).error());
            return progress::goes_on;
        }
        if (auto* client = std::get_if<application>(&*found)) state.client = std::move(*client);
        else state.fault = std::get<client_fault>(*found);
        // A public client is not authenticated, so it gets no information about tokens.
        if (state.client && state.endpoint == endpoint::introspection && state.client->type == client_type::public_client) {
            state.client.reset();
            state.fault = client_fault::needs_secret;
        }
        auth.state = state.client ? pipeline::auth_state::authenticated : pipeline::auth_state::bad_credentials;
        return progress::goes_on;
    }
    /// An application that is suspended, or whose owner is not active, may only revoke.
    static progress find_user(row_call& call) {
        kept_client& state = kept(call);
        if (!state.client || state.endpoint == endpoint::revocation) return progress::goes_on;
        if (owner_to_ask(*state.client, part(call).sessions()) && must_wait_for_user(call)) return progress::waits;
        const auto stopped = oauth::is_stopped(*state.client, [&](user_id user) { return is_active(part(call).sessions(), user); });
        if (!stopped) {
            call.state.auth.fail(stopped.error());
        } else if (*stopped) {
            state.fault = client_fault::stopped;
            call.state.auth.state = pipeline::auth_state::bad_credentials;
        }
        return progress::goes_on;
    }
    static constexpr pipeline::caller_rule callers{.in_body = true,
                                                   .work = http::work_kind::credentials,
                                                   .read = &read,
                                                   .find = &find,
                                                   .user_work = http::work_kind::sessions,
                                                   .find_user = &find_user};

    /// Counts a guess against the window of the client's address. The responses to other requests show that window.
    static progress count(row_call& call) {
        if (call.state.auth.state == pipeline::auth_state::unchecked) return progress::goes_on;
        const auto& fault = kept(call).fault;
        return count_address(call, fault && may_be_guess(*fault));
    }
    static progress count_address(row_call& call, bool counts) {
        const quota& allowed = part(call).settings().anonymous_quota;
        const bool is_done =
            pipeline::count_in(call.policies.limiter(), limit_key::of(call.state.client), allowed, counts, call.thread, call.state);
        if (!is_done) return progress::waits;
        if (!counts) call.state.limit->admitted = true;  // others may have used the window up
        return progress::goes_on;
    }
    static constexpr pipeline::limit_rule guesses{&count};

    // Bodies are forms or JSON objects.

    static progress read_body(row_call& call) {
        const bool has_arrived = call.request.body_state != http::body_state::pending;
        if (!has_arrived && !has_unusable_authorization(call.request) && !parameters::check_head(call.request)) return progress::goes_on;
        auto read = read_client_request(call.request);
        if (const auto* refused = std::get_if<refused_request>(&read)) {
            if (refused->status == http::status::unsupported_media_type) pipeline::add_accepted_coding(call.request, call.response);
            if (refused->status == http::status::unauthorized) add_client_challenge(call.request, call.response);
            return refuse(call, refused->reason, refused->status);
        }
        auto& [sent, credentials] = std::get<client_request>(read);
        kept(call).noted.note_client(credentials.client_id);
        kept(call).sent = std::move(sent);
        kept(call).credentials = std::move(credentials);
        return progress::goes_on;
    }
    static constexpr pipeline::body_rule body{.check = &read_body};

    // Errors are OAuth errors, with the members of the Error object.

    static void reject(row_call& call, const pipeline::rejection& reason) {
        const auto url = part(call).documentation_url();
        if (reason.status == http::status::unauthorized || reason.status == http::status::too_many_requests) return reject_client(call);
        if (!call.state.allowed.empty()) return write_unsupported_method(call, reason);
        pipeline::write_error(call.response, reason.status, reason.message, url, reason.documentation);
    }
    static void write_unsupported_method(row_call& call, const pipeline::rejection& reason) {
        const failure failed{error_code::invalid_request, "Method not allowed. See the Allow header."};
        if (call.state.kept != nullptr) kept(call).noted.error = failed.code;
        write_failure(call.response, {.status = reason.status, .failure = failed, .documentation_url = part(call).documentation_url()});
    }
    /// A deleted application gets the same answer to its refresh token as after a revocation by the user, instead of `invalid_client`.
    static void reject_client(row_call& call) {
        kept_client& state = kept(call);
        const client_fault fault = *state.fault;
        if (fault == client_fault::stopped) {
            refuse(call, to_failure(fault));
            return;
        }
        const bool is_unknown = fault == client_fault::unknown_client || fault == client_fault::unknown_with_secret;
        const bool is_admitted = !may_be_guess(fault) || call.state.limit->admitted;
        const bool is_deleted = is_unknown && are_well_formed(state.credentials);
        if (is_admitted && is_deleted && state.endpoint == endpoint::token && is_refresh(state.sent)) {
            refuse(call, invalid_refresh_token());
            return;
        }
        state.noted.error = error_code::invalid_client;
        respond_invalid_client(call.request, *call.state.limit, fault, call.state.now, call.response, part(call).documentation_url());
    }
    static void fail(row_call& call, const error& failure) {
        if (call.state.kept != nullptr) kept(call).noted.error = to_failure(failure).code;
        write_server_error(call.response, failure, part(call).documentation_url());
    }
    static void add_fields(row_call& call) {
        const auto& settings = part(call).settings();
        if (!call.state.limit)
            call.state.limit = pipeline::peek_or_unused(call.policies.limiter(), limit_key::of(call.state.client), settings.anonymous_quota,
                                                       call.state.now);
        pipeline::add_rate_limit_fields(call.response, *call.state.limit);
        pipeline::add_transport_security(call.response, settings.auth_url);
        if (!call.state.pattern.empty()) http::add_cors_fields(settings.cors_origins, call.request, call.response);
        http::add_request_id(call.response, call.observed().id());
    }
    static constexpr pipeline::response_form form{&reject, &fail, &add_fields};

    // The endpoints.

    static result<progress> respond_metadata(row_call& call) {
        call.response.add_prepared_lines(pipeline::json_field_lines);
        call.response.body() = part(call).metadata();
        return progress::responded;
    }
    static constexpr step metadata_steps[]{{http::work_kind::other, &respond_metadata}};

    /// Reads the refresh token and the resources that a request for tokens names, and counts the request.
    static result<progress> find_grant(row_call& call) {
        kept_client& state = kept(call);
        const oauth_store_ref& store = part(call).store();
        if (is_refresh(state.sent)) {
            if (store.may_block() && !call.may_wait()) return progress::waits;
            auto found = find_refresh_token(store, state);
            if (!found) return std::move(found).error();
            state.token = *std::move(found);
            if (state.token && (!admit_token(call, state.token->user) || !admit_client(call))) return progress::responded;
        }
        if (state.sent.find("grant_type") == "client_credentials" && state.client->type == client_type::confidential &&
            (!admit_token(call, state.client->owner) || !admit_client(call)))
            return progress::responded;
        if (state.sent.find("grant_type") == device_grant_type && polls_too_soon(call))
            return refuse(call, {error_code::slow_down, "The device polls too often. Wait 5 seconds longer each time."});
        auto requested = part(call).resources().read(state.sent);
        if (const auto* unknown = std::get_if<failure>(&requested)) return refuse(call, *unknown);
        state.resources = std::get<resource_set>(requested);
        return progress::goes_on;
    }
    /// The user of a refresh token.
    static result<progress> check_token_user(row_call& call) {
        const auto& token = kept(call).token;
        if (!token) return progress::goes_on;
        if (must_wait_for_user(call)) return progress::waits;
        const auto active = is_active(part(call).sessions(), token->user);
        if (!active) return active.error();
        if (!*active) return refuse(call, invalid_refresh_token());
        return progress::goes_on;
    }
    /// Issues tokens, and responds with them on the same worker: if the server refused the request between, the client would repeat it with
    /// a code that was used. For the same reason, the user of a code, who is known only now, is looked up here.
    static result<progress> issue(row_call& call) {
        kept_client& state = kept(call);
        const oauth_store_ref& store = part(call).store();
        if (!call.may_wait() && (store.may_block() || must_wait_for_user(call))) return progress::waits;
        const exchange_context exchange{*state.client, part(call).settings(), call.state.now, state.resources,
                                        state.token ? &state.token->scopes : nullptr};
        auto judged = issue_tokens(state.sent, exchange, store, call.policies.random(), call.policies.scope_checker());
        if (!judged && judged.error().kind == error_kind::too_many_requests)
            return refuse_for_now(call, judged.error().retry_at, judged.error().message);
        if (!judged) return std::move(judged).error();
        call.state.has_acted = true;
        if (auto* error = std::get_if<failure>(&*judged)) {
            state.refused = std::move(*error);
            return progress::goes_on;
        }
        if (auto* reused = std::get_if<reused_secret>(&*judged)) {
            if (reused->user)
                call.policies.observer().on_activity({activity_kind::access_revoked_after_reuse, *reused->user, state.client->name,
                                                      call.state.client, call.state.now});
            state.refused = std::move(reused->reason);
            return progress::goes_on;
        }
        const auto& issued = std::get<token_response>(*judged);
        if (issued.new_user) {
            const auto revoked = revoke_if_disabled(call, issued);
            if (!revoked) return revoked.error();
            if (*revoked) return refuse(call, {error_code::invalid_grant, "The user's account is disabled."});
        }
        write_tokens(call.response, issued);
        const std::size_t rows_added = issued.refresh_token ? 2 : 1;
        remove_expired(store, call.policies.observer(), call.state.now, rows_added);
        return progress::responded;
    }
    /// An invalid code or token of a public client counts like a wrong secret: its sender has not been authenticated.
    static result<progress> refuse_exchange(row_call& call) {
        const auto& refused = kept(call).refused;
        const bool is_guess = kept(call).client->type == client_type::public_client && refused->code == error_code::invalid_grant;
        if (!is_guess) return refuse(call, *refused);
        if (count_address(call, true) == progress::waits) return progress::waits;
        if (call.state.limit->admitted) return refuse(call, *refused);
        kept(call).noted.error = refused->code;
        write_rate_limited(call.response,
                           {refused->code, "API rate limit exceeded by requests with invalid codes and tokens. Wait until the time "
                                           "in X-RateLimit-Reset."},
                           *call.state.limit, call.state.now, part(call).documentation_url());
        return progress::responded;
    }
    static constexpr step token_steps[]{{http::work_kind::token_endpoint, &find_grant},
                                        {http::work_kind::sessions, &check_token_user, true},
                                        {http::work_kind::token_endpoint, &issue},
                                        {http::work_kind::limits, &refuse_exchange}};

    /// 200 whether the token exists or not (section 2.2); token_type_hint is ignored (section 2.1). Suspended applications may revoke.
    static result<progress> respond_revocation(row_call& call) {
        kept_client& state = kept(call);
        const oauth_store_ref& store = part(call).store();
        const auto token = state.sent.find("token");
        if (!token) return refuse(call, missing_parameter("token"));
        if (store.may_block() && !call.may_wait()) return progress::waits;
        const bool is_refresh_token = is_well_formed(secret_kind::refresh_token, *token);
        result<bool> done = false;
        if (is_refresh_token || is_well_formed(secret_kind::access_token, *token)) done = revoke(store, state, *token);
        // A token that was replaced is also accepted: its response may have been lost.
        if (done && !*done && is_refresh_token) done = revoke(store, state, family_of(*token));
        if (!done) return std::move(done).error();
        // The content is ignored (section 2.2), but some clients expect JSON.
        call.response.add_prepared_lines(pipeline::json_field_lines);
        call.response.body() = "{}";
        return progress::responded;
    }
    static constexpr step revocation_steps[]{{http::work_kind::token_endpoint, &respond_revocation}};

    /// Reports a token as not active unless it is valid and either the client's own, or an access token and the client is a resource
    /// server.
    static result<progress> find_token(row_call& call) {
        kept_client& state = kept(call);
        const oauth_store_ref& store = part(call).store();
        state.token.reset();
        const auto token = state.sent.find("token");
        if (!token) return refuse(call, missing_parameter("token"));
        if (!is_well_formed(secret_kind::access_token, *token) && !is_well_formed(secret_kind::refresh_token, *token))
            return progress::goes_on;
        if (store.may_block() && !call.may_wait()) return progress::waits;
        auto found = store.find_oauth_token(digest_of(*token));
        if (!found) return std::move(found).error();
        const bool may_introspect = *found && call.state.now < (*found)->expires_at &&
                                    ((*found)->application == state.client->id ||
                                     (state.client->type == client_type::resource_server && !(*found)->is_refresh_token));
        if (may_introspect) state.token = *std::move(found);
        return progress::goes_on;
    }
    static result<progress> respond_introspection(row_call& call) {
        auto& token = kept(call).token;
        if (token) {
            if (must_wait_for_user(call)) return progress::waits;
            const auto active = is_active(part(call).sessions(), token->user);
            if (!active) return active.error();
            if (!*active) token.reset();
        }
        write_introspection(call.response, token ? &*token : nullptr, part(call).settings().auth_url, part(call).resources());
        return progress::responded;
    }
    static constexpr step introspection_steps[]{{http::work_kind::token_endpoint, &find_token, true},
                                                {http::work_kind::sessions, &respond_introspection}};

    /// RFC 8628 section 3.1. Public clients prove nothing here, so requests are counted by address.
    static result<progress> respond_device_authorization(row_call& call) {
        kept_client& state = kept(call);
        const auto& settings = part(call).settings();
        const oauth_store_ref& store = part(call).store();
        if (store.may_block() && !call.may_wait()) return progress::waits;
        const auto window = take_device_request(call);
        if (!window.admitted) return refuse_for_now(call, window.resets_at, "Too many device codes were requested from this address.");
        const auto requested = read_device_request(state.sent, *state.client, settings.services);
        if (const auto* error = std::get_if<failure>(&requested)) return refuse(call, *error);

        // A user's code is short enough to be drawn twice.
        constexpr int draws_max = 3;
        for (int draws = 1;; ++draws) {
            const auto device = tollgate::new_secret(secret_kind::device_code, call.policies.random());
            const auto user = new_user_code(call.policies.random());
            if (!device || !user) return random_source_error();
            auto created = store.create_device_code({.device_digest = digest_of(*device),
                                                     .user_digest = digest_of_user_code(*user),
                                                     .application = state.client->id,
                                                     .scopes = std::get<scope_set>(requested),
                                                     .requested_from = call.state.client.to_text(),
                                                     .created_at = call.state.now,
                                                     .expires_at = call.state.now + settings.oauth.device_code_lifetime});
            if (!created && created.error().kind == error_kind::conflict && draws < draws_max) continue;
            if (!created) return std::move(created).error();
            write_device_response(call.response, {.device_code = *device, .user_code = *user, .settings = settings});
            break;
        }
        remove_expired(store, call.policies.observer(), call.state.now, 1);
        return progress::responded;
    }
    static constexpr step device_steps[]{{http::work_kind::token_endpoint, &respond_device_authorization}};

    /// Responds with an error for the client.
    static progress refuse(row_call& call, const failure& failed, http::status status = http::status::bad_request) {
        kept(call).noted.error = failed.code;
        write_failure(call.response, {.status = status, .failure = failed, .documentation_url = part(call).documentation_url()});
        return progress::responded;
    }
    static progress refuse_for_now(row_call& call, instant retry_at, std::string_view description) {
        kept(call).noted.error = error_code::temporarily_unavailable;
        respond_too_many(retry_at, call.state.now, call.response, part(call).documentation_url(), description);
        return progress::responded;
    }

private:
    static bool must_wait_for_user(const row_call& call) noexcept {
        const session_source_ref& sessions = part(call).sessions();
        return sessions.knows_active_users() && sessions.may_block() && !call.may_wait();
    }

    static limit_decision take_device_request(const row_call& call) {
        const auto& settings = part(call).settings().oauth;
        window_limiter& limiter = part(call).device_limiter();
        const ip_address& client = call.state.client;
        auto window = limiter.take(limit_key::of(client), settings.device_requests, call.state.now);
        if (client.is_v4() || !window.admitted) return window;
        const auto site = limit_key::of(tollgate::detail::first_of_network(client, 7)).in("/56");
        window = limiter.take(site, settings.device_requests_of_site, call.state.now);
        if (!window.admitted) return window;
        const auto network = limit_key::of(tollgate::detail::first_of_network(client, 6)).in("/48");
        return limiter.take(network, settings.device_requests_of_network, call.state.now);
    }

    /// Revokes the tokens of a disabled user and returns true. The user is known only after the code was redeemed, which cannot be undone.
    /// If the lookup fails, the tokens are kept: the API checks the user again with each request.
    static result<bool> revoke_if_disabled(row_call& call, const token_response& issued) {
        const oauth_store_ref& store = part(call).store();
        const auto active = is_active(part(call).sessions(), *issued.new_user);
        if (!active) call.observed().report(call.policies, active.error());
        if (!active || *active) return false;
        if (auto done = revoke(store, kept(call), issued.access_token); !done) return std::move(done).error();
        if (!issued.refresh_token) return true;
        if (auto done = revoke(store, kept(call), *issued.refresh_token); !done) return std::move(done).error();
        return true;
    }

    /// Revokes an access or refresh token of the client. Returns true if there was one.
    static result<bool> revoke(const oauth_store_ref& store, const kept_client& state, std::string_view token) {
        return store.revoke(oauth_token_revocation{digest_of(token), state.client->id});
    }

    /// The refresh token of the request, if it is one of the application's. Another application's attempt, which will fail, is not
    /// counted against the grant.
    static result<std::optional<oauth_token>> find_refresh_token(const oauth_store_ref& store, const kept_client& state) {
        const auto sent = state.sent.find("refresh_token").value_or("");
        auto token = store.find_oauth_token(digest_of(sent));
        // A token that was replaced still gets access tokens during its grace period.
        if (token && !*token) token = store.find_oauth_token(digest_of(family_of(sent)));
        if (token && *token && (*token)->application != state.client->id) return std::optional<oauth_token>{};
        return token;
    }

    /// Counts a request for an access token of this user. By the grant: neither a rotated token nor another authorization begins a new
    /// window. False if it has been answered.
    static bool admit_token(row_call& call, user_id user) {
        const auto key = limit_key::of(user).in("tokens of application " + std::to_string(kept(call).client->id.value()));
        return admit(call, key, part(call).settings().oauth.refreshes,
                     "Too many requests for access tokens of this user. Use the tokens until they expire.");
    }
    /// Counts a request for an access token by its application. Only one with a valid secret or refresh token: anyone may send the
    /// client_id of a public client.
    static bool admit_client(row_call& call) {
        const application& client = *kept(call).client;
        const auto key = limit_key::of(client.owner).in("application " + std::to_string(client.id.value()));
        return admit(call, key, part(call).settings().oauth.refreshes_of_client,
                     "Too many requests for access tokens by this application.");
    }
    static bool admit(row_call& call, const limit_key& key, const quota& limit, std::string_view description) {
        const auto window = part(call).grant_limiter().take(key, limit, call.state.now);
        if (!window.admitted) refuse_for_now(call, window.resets_at, description);
        return window.admitted;
    }

    /// Each application has windows of its own, so that another one's polls, which fail, do not delay the device. The window is shorter
    /// than the interval by a second, which the network may take.
    static bool polls_too_soon(const row_call& call) {
        const kept_client& state = kept(call);
        const auto code = state.sent.find("device_code");
        if (!code || !is_well_formed(secret_kind::device_code, *code)) return false;
        const auto key = limit_key::of(state.client->owner).in(std::string{*code}.append(state.client->client_id.view()));
        const quota polls{1, (std::max)(part(call).settings().oauth.device_poll_interval - seconds{1}, seconds{1})};
        return !part(call).grant_limiter().take(key, polls, call.state.now).admitted;
    }
};

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_CLIENT_ROWS_HPP

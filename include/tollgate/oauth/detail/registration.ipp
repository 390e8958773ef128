#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_REGISTRATION_IPP
#define TOLLGATE_OAUTH_DETAIL_REGISTRATION_IPP

#include <tollgate/account/new_secret.hpp>
#include <tollgate/account/register_application.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/http/detail/fields.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/http/json_writer.hpp>
#include <tollgate/oauth/detail/authorization_request.hpp>
#include <tollgate/oauth/detail/client_endpoints.hpp>
#include <tollgate/oauth/detail/registration.hpp>
#include <tollgate/oauth/detail/token_endpoint.hpp>
#include <tollgate/oauth/detail/token_response.hpp>

#include <string>
#include <utility>
#include <variant>

namespace tollgate::inline v0::oauth {

namespace detail {

/// The token of a Bearer Authorization field, or an empty text.
inline std::string_view bearer_token_of(const http::request& request) noexcept {
    if (request.fields.count(http::field_id::authorization) != 1) return {};
    return http::detail::credentials_of(request.fields.find(http::field_id::authorization), "Bearer").value_or(std::string_view{});
}

inline bool has_initial_access_token(const http::request& request, const account_service_settings& settings) {
    const auto token = bearer_token_of(request);
    return !token.empty() && digest_of(token) == settings.oauth.initial_access_token;
}

/// A registration as the application gets it. The secrets exist only in the response to its creation.
struct registration_view {
    const account_service_settings& settings;
    std::string_view client_id;
    const client_metadata& metadata;
    instant created_at;
    std::string_view client_secret = {};
    std::string_view registration_token = {};
};

inline void write_registration(http::response& response, const registration_view& view) {
    add_no_store_fields(response);
    http::json_writer body{response.body()};
    const auto write_list = [&](http::json_name name, const auto& values) {
        body.member(name).begin_array();
        for (const std::string_view each : values) body.string(each);
        body.end_array();
    };
    body.begin_object();
    body.member("client_id").string(view.client_id);
    body.member("client_id_issued_at").integer(to_unix_milliseconds(view.created_at) / 1000);
    if (!view.client_secret.empty()) body.member("client_secret").string(view.client_secret);
    if (view.metadata.type == client_type::confidential) body.member("client_secret_expires_at").integer(0);
    if (!view.registration_token.empty()) body.member("registration_access_token").string(view.registration_token);
    body.member("registration_client_uri")
        .string(std::string{view.settings.auth_url}.append(registration_path).append("?client_id=").append(view.client_id));
    body.member("client_name").string(view.metadata.name);
    if (!view.metadata.website.empty()) body.member("client_uri").string(view.metadata.website);
    write_list("redirect_uris", view.metadata.redirect_urls);
    write_list("grant_types", std::initializer_list<std::string_view>{"authorization_code", "refresh_token"});
    write_list("response_types", std::initializer_list<std::string_view>{"code"});
    body.member("token_endpoint_auth_method").string(view.metadata.auth_method);
    if (!view.metadata.default_scopes.empty()) body.member("scope").string(view.metadata.default_scopes.text());
    body.end_object();
}

}  // namespace detail

TOLLGATE_DECL void registration_rules::read_initial_token(row_call& call) {
    const auto& settings = client_rules::part(call).settings();
    if (settings.oauth.registration != dynamic_registration::with_token) return;
    using enum pipeline::auth_state;
    const bool is_sent = call.request.fields.count(http::field_id::authorization) != 0;
    const bool is_right = detail::has_initial_access_token(call.request, settings);
    call.state.auth.state = is_right ? authenticated : is_sent ? bad_credentials : anonymous;
}

TOLLGATE_DECL void registration_rules::read_registration_token(row_call& call) {
    const auto query = http::parse_form(call.request.target.query);
    kept_client& state = client_rules::kept(call);
    state.credentials.client_id = query ? query->value_of("client_id") : std::string_view{};
    state.noted.note_client(state.credentials.client_id);
    call.state.auth.state = pipeline::auth_state::unchecked;
}

// The response is the same whether the application does not exist, is not one that registered itself, or has another token.
TOLLGATE_DECL pipeline::progress registration_rules::find_registration(row_call& call) {
    auto& auth = call.state.auth;
    if (auth.state != pipeline::auth_state::unchecked) return progress::goes_on;
    kept_client& state = client_rules::kept(call);
    const oauth_store_ref& store = client_rules::part(call).store();
    const auto token = detail::bearer_token_of(call.request);
    const bool is_sent = call.request.fields.count(http::field_id::authorization) != 0;
    if (!is_client_id_text(state.credentials.client_id) || !is_well_formed(secret_kind::client_secret, token)) {
        auth.state = is_sent ? pipeline::auth_state::bad_credentials : pipeline::auth_state::anonymous;
        return progress::goes_on;
    }
    if (store.may_block() && !call.may_wait()) return progress::waits;
    auto found = store.find_application(state.credentials.client_id);
    if (!found) {
        auth.fail(std::move(found).error());
        return progress::goes_on;
    }
    const bool is_right =
        *found && (*found)->registration == registration_kind::by_itself && (*found)->registration_digest == digest_of(token);
    auth.state = is_right ? pipeline::auth_state::authenticated : pipeline::auth_state::bad_credentials;
    if (is_right) state.client = *std::move(found);
    return progress::goes_on;
}

TOLLGATE_DECL pipeline::progress registration_rules::count(row_call& call) {
    return client_rules::count_address(call, call.state.auth.state == pipeline::auth_state::bad_credentials);
}

TOLLGATE_DECL pipeline::progress registration_rules::check_body(row_call& call) {
    if (call.request.body_state == http::body_state::too_large)
        return client_rules::refuse(call, {error_code::invalid_client_metadata, "The request body is too large."},
                                    http::status::content_too_large);
    if (!tollgate::detail::ascii_iequals(http::detail::media_type_of(call.request.fields), "application/json") ||
        http::detail::has_content_coding(call.request.fields))
        return client_rules::refuse(call, {error_code::invalid_client_metadata, "Send the metadata as application/json."});
    return progress::goes_on;
}

TOLLGATE_DECL void registration_rules::reject(row_call& call, const pipeline::rejection& reason) {
    const bool is_limited = reason.status == http::status::too_many_requests;
    if (reason.status != http::status::unauthorized && !is_limited) return client_rules::reject(call, reason);
    const auto url = client_rules::part(call).documentation_url();
    client_rules::kept(call).noted.error = error_code::invalid_client;
    if (is_limited)
        return write_rate_limited(call.response,
                                  {error_code::invalid_client, "API rate limit exceeded by requests with a wrong token. Wait until the "
                                                               "time in X-RateLimit-Reset."},
                                  *call.state.limit, call.state.now, url);
    const bool is_sent = call.state.auth.state == pipeline::auth_state::bad_credentials;
    call.response.add("WWW-Authenticate", is_sent ? http::field_value{"Bearer realm=\"oauth\", error=\"invalid_token\""}
                                                 : http::field_value{"Bearer realm=\"oauth\""});
    const failure failed{error_code::invalid_client, call.request.method == http::method::post
                                                         ? "Send the initial access token in an Authorization header with Bearer."
                                                         : "Send the registration access token of this client_id with Bearer."};
    write_failure(call.response, {.status = http::status::unauthorized, .failure = failed, .documentation_url = url});
}

TOLLGATE_DECL result<pipeline::progress> registration_rules::create(row_call& call) {
    const oauth_part& at = client_rules::part(call);
    const auto& settings = at.settings();
    const oauth_store_ref& store = at.store();
    if (store.may_block() && !call.may_wait()) return progress::waits;
    const auto window = at.registration_limiter().take(limit_key::of(call.state.client), settings.oauth.registrations, call.state.now);
    if (!window.admitted)
        return client_rules::refuse_for_now(call, window.resets_at, "Too many applications were registered from this address.");
    const auto sent = http::parse_json_object(call.request.body);
    if (!sent) return client_rules::refuse(call, {error_code::invalid_client_metadata, sent.error().message});
    auto read = read_client_metadata(*sent, settings.services, metadata_source::registration);
    if (const auto* refused = std::get_if<failure>(&read)) return client_rules::refuse(call, *refused);
    auto& metadata = std::get<client_metadata>(read);

    const auto& random = call.policies.random();
    const auto client_id = new_public_id(public_id_kind::client_id, random);
    const auto token = tollgate::new_secret(secret_kind::client_secret, random);
    const bool is_public = metadata.type == client_type::public_client;
    const auto secret = is_public ? std::optional{secret_text{}} : tollgate::new_secret(secret_kind::client_secret, random);
    if (!client_id || !token || !secret) return random_source_error();
    remove_unused_applications(store, call.policies.observer(), call.state.now);
    metadata.redirect_urls = tollgate::detail::distinct_redirect_urls(metadata.redirect_urls);
    auto created = store.create_application({.owner = no_owner,
                                             .client_id = *client_id_text::from(*client_id),
                                             .secret_digest = is_public ? digest{} : digest_of(*secret),
                                             .name = metadata.name,
                                             .website = metadata.website,
                                             .description = {},
                                             .redirect_urls = metadata.redirect_urls,
                                             .created_at = call.state.now,
                                             .type = metadata.type,
                                             .registration = registration_kind::by_itself,
                                             .default_scopes = metadata.default_scopes,
                                             .registration_digest = digest_of(*token)},
                                            settings.oauth.unowned_applications_max);
    if (!created && created.error().kind == error_kind::invalid)
        return unavailable("there are as many applications without an owner as the settings allow");
    if (!created) return std::move(created).error();
    client_rules::kept(call).noted.note_client(*client_id);
    call.response.set_status(http::status::created);
    detail::write_registration(call.response, {.settings = settings,
                                              .client_id = *client_id,
                                              .metadata = metadata,
                                              .created_at = call.state.now,
                                              .client_secret = *secret,
                                              .registration_token = *token});
    return progress::responded;
}

TOLLGATE_DECL result<pipeline::progress> registration_rules::respond(row_call& call) {
    const application& client = *client_rules::kept(call).client;
    const client_metadata metadata{.name = client.name,
                                   .website = client.website,
                                   .redirect_urls = client.redirect_urls,
                                   .type = client.type,
                                   .auth_method = client.type == client_type::public_client ? "none" : "client_secret_basic",
                                   .default_scopes = client.default_scopes};
    detail::write_registration(call.response, {.settings = client_rules::part(call).settings(),
                                              .client_id = client.client_id.view(),
                                              .metadata = metadata,
                                              .created_at = client.created_at});
    return progress::responded;
}

TOLLGATE_DECL result<pipeline::progress> registration_rules::remove(row_call& call) {
    const oauth_store_ref& store = client_rules::part(call).store();
    if (store.may_block() && !call.may_wait()) return progress::waits;
    if (auto deleted = store.delete_application(no_owner, client_rules::kept(call).client->id); !deleted) return std::move(deleted).error();
    call.response.set_status(http::status::no_content);
    return progress::responded;
}

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_REGISTRATION_IPP

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

TOLLGATE_DECL bool registration_endpoint::is_refused_by_head(const http::request& request, const account_service_settings& settings) {
    if (settings.oauth.registration == dynamic_registration::with_token && !detail::has_initial_access_token(request, settings))
        return true;
    return !tollgate::detail::ascii_iequals(http::detail::media_type_of(request.fields), "application/json") ||
           http::detail::has_content_coding(request.fields);
}

TOLLGATE_DECL void registration_endpoint::respond(const http::request& request, http::response& response) const {
    switch (request.method) {
        case http::method::post: return create(request, response);
        case http::method::get:
        case http::method::head:
        case http::method::delete_: return read_or_delete(request, response);
        default: return respond_unsupported_method(request, response, "POST, GET, HEAD, DELETE, OPTIONS", documentation_url_);
    }
}

inline void registration_endpoint::create(const http::request& request, http::response& response) const {
    if (settings_.oauth.registration == dynamic_registration::with_token && !detail::has_initial_access_token(request, settings_))
        return fail_token(request, response, "Send the initial access token in an Authorization header with Bearer.");
    if (request.body_state == http::body_state::too_large)
        return fail({error_code::invalid_client_metadata, "The request body is too large."}, response, http::status::content_too_large);
    if (is_refused_by_head(request, settings_))
        return fail({error_code::invalid_client_metadata, "Send the metadata as application/json."}, response);
    const auto window = limiter_.take(limit_key::of(state_.client), settings_.oauth.registrations, state_.now());
    if (!window.admitted) {
        state_.error = error_code::temporarily_unavailable;
        return respond_too_many(window.resets_at, state_.now(), response, documentation_url_,
                                "Too many applications were registered from this address.");
    }
    const auto sent = http::parse_json_object(request.body);
    if (!sent) return fail({error_code::invalid_client_metadata, sent.error().message}, response);
    auto read = read_client_metadata(*sent, settings_.services, metadata_source::registration);
    if (const auto* refused = std::get_if<failure>(&read)) return fail(*refused, response);
    auto& metadata = std::get<client_metadata>(read);

    const auto client_id = new_public_id(public_id_kind::client_id, policies_.random());
    const auto token = tollgate::new_secret(secret_kind::client_secret, policies_.random());
    const bool is_public = metadata.type == client_type::public_client;
    const auto secret = is_public ? std::optional{secret_text{}} : tollgate::new_secret(secret_kind::client_secret, policies_.random());
    if (!client_id || !token || !secret) return respond_error(random_source_error(), response);
    remove_unused_applications(store_, policies_.observer(), state_.now());
    metadata.redirect_urls = tollgate::detail::distinct_redirect_urls(metadata.redirect_urls);
    const auto created = store_.create_application({.owner = no_owner,
                                                    .client_id = *client_id_text::from(*client_id),
                                                    .secret_digest = is_public ? digest{} : digest_of(*secret),
                                                    .name = metadata.name,
                                                    .website = metadata.website,
                                                    .description = {},
                                                    .redirect_urls = metadata.redirect_urls,
                                                    .created_at = state_.now(),
                                                    .type = metadata.type,
                                                    .registration = registration_kind::by_itself,
                                                    .default_scopes = metadata.default_scopes,
                                                    .registration_digest = digest_of(*token)},
                                                   settings_.oauth.unowned_applications_max);
    if (!created && created.error().kind == error_kind::invalid)
        return respond_error(unavailable("there are as many applications without an owner as the settings allow"), response);
    if (!created) return respond_error(created.error(), response);
    state_.note_client(*client_id);
    response.set_status(http::status::created);
    detail::write_registration(response, {.settings = settings_,
                                          .client_id = *client_id,
                                          .metadata = metadata,
                                          .created_at = state_.now(),
                                          .client_secret = *secret,
                                          .registration_token = *token});
}

// The response is the same whether the application does not exist, is not one that registered itself, or has another token.
inline void registration_endpoint::read_or_delete(const http::request& request, http::response& response) const {
    const auto token = detail::bearer_token_of(request);
    const auto query = http::parse_form(request.target.query);
    const std::string client_id{query ? query->value_of("client_id") : std::string_view{}};
    state_.note_client(client_id);
    const auto refuse = [&] { fail_token(request, response, "Send the registration access token of this client_id with Bearer."); };
    if (!is_client_id_text(client_id) || !is_well_formed(secret_kind::client_secret, token)) return refuse();
    const auto found = store_.find_application(client_id);
    if (!found) return respond_error(found.error(), response);
    if (!*found || (*found)->registration != registration_kind::by_itself || (*found)->registration_digest != digest_of(token))
        return refuse();
    const application& client = **found;
    if (request.method == http::method::delete_) {
        if (const auto deleted = store_.delete_application(no_owner, client.id); !deleted) return respond_error(deleted.error(), response);
        return response.set_status(http::status::no_content);
    }
    const client_metadata metadata{.name = client.name,
                                   .website = client.website,
                                   .redirect_urls = client.redirect_urls,
                                   .type = client.type,
                                   .auth_method = client.type == client_type::public_client ? "none" : "client_secret_basic",
                                   .default_scopes = client.default_scopes};
    detail::write_registration(
        response, {.settings = settings_, .client_id = client_id, .metadata = metadata, .created_at = client.created_at});
}

inline void registration_endpoint::fail(const failure& failed, http::response& response, http::status status) const {
    state_.error = failed.code;
    write_failure(response, {.status = status, .failure = failed, .documentation_url = documentation_url_});
}

/// A wrong token counts against the window of the client's address, like a wrong client secret.
inline void registration_endpoint::fail_token(const http::request& request, http::response& response, std::string_view description) const {
    state_.error = error_code::invalid_client;
    const bool is_sent = request.fields.count(http::field_id::authorization) != 0;
    if (is_sent) state_.window = policies_.limiter().take(limit_key::of(state_.client), settings_.anonymous_quota, state_.now());
    if (is_sent && !state_.window->admitted)
        return write_rate_limited(response, {error_code::invalid_client, "API rate limit exceeded by requests with a wrong token. Wait "
                                                                         "until the time in X-RateLimit-Reset."},
                                  *state_.window, state_.now(), documentation_url_);
    response.add("WWW-Authenticate", is_sent ? http::field_value{"Bearer realm=\"oauth\", error=\"invalid_token\""}
                                             : http::field_value{"Bearer realm=\"oauth\""});
    const failure failed{error_code::invalid_client, std::string{description}};
    write_failure(response, {.status = http::status::unauthorized, .failure = failed, .documentation_url = documentation_url_});
}

inline void registration_endpoint::respond_error(const error& error, http::response& response) const {
    state_.error = to_failure(error).code;
    observed_.report(policies_, error);
    write_server_error(response, error, documentation_url_);
}

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_REGISTRATION_IPP

#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_CLIENT_ENDPOINTS_IPP
#define TOLLGATE_OAUTH_DETAIL_CLIENT_ENDPOINTS_IPP

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/http/detail/fields.hpp>
#include <tollgate/http/json_writer.hpp>
#include <tollgate/oauth/detail/authorization_request.hpp>
#include <tollgate/oauth/detail/client_endpoints.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>

#include <string>
#include <utility>

namespace tollgate::inline v0::oauth {

namespace detail {

inline refused_request refuse_request(std::string_view reason) { return {{error_code::invalid_request, std::string{reason}}}; }

/// Why there is no client_id: what is usually wrong with such a request.
inline refused_request missing_client_id(const http::request& request) {
    const auto query = http::parse_form(request.target.query);
    if (query && query->find("client_id") != nullptr) return refuse_request("Send the parameters in the body, not in the query.");
    if (request.body.empty()) return refuse_request("The body is empty. Send client_id and the other parameters in it.");
    return refuse_request("client_id is missing. Send it in the body, or in an Authorization header with Basic.");
}

/// `Basic` with both parts form-encoded before they are joined (RFC 6749 section 2.3.1).
inline std::optional<client_credentials> read_basic(std::string_view authorization) {
    const auto credentials = http::detail::credentials_of(authorization, "Basic");
    const auto decoded = credentials ? tollgate::detail::base64_decode(*credentials) : std::nullopt;
    if (!decoded) return std::nullopt;
    const auto colon = decoded->find(':');
    if (colon == std::string::npos) return std::nullopt;
    auto client_id = tollgate::detail::percent_decode(std::string_view{*decoded}.substr(0, colon), tollgate::detail::plus_sign::space);
    auto client_secret = tollgate::detail::percent_decode(std::string_view{*decoded}.substr(colon + 1), tollgate::detail::plus_sign::space);
    if (!client_id || !client_secret) return std::nullopt;
    return client_credentials{std::move(*client_id), std::move(*client_secret)};
}

}  // namespace detail

TOLLGATE_DECL std::variant<client_credentials, refused_request> read_client_credentials(const http::request& request,
                                                                                        const parameters& sent) {
    const auto client_id = sent.find("client_id");
    const auto client_secret = sent.find("client_secret");
    const auto line_count = request.fields.count(http::field_id::authorization);
    if (line_count > 1) return detail::refuse_request("Send exactly one Authorization header.");
    if (line_count == 0) {
        if (!client_id) return detail::missing_client_id(request);
        return client_credentials{*client_id, client_secret.value_or("")};
    }
    const auto authorization = request.fields.find(http::field_id::authorization);
    auto basic = detail::read_basic(authorization);
    if (!basic && !http::detail::credentials_of(authorization, "Basic"))
        return detail::refuse_request("The Authorization header must use Basic. Omit it to send client_id and client_secret in the body.");
    if (!basic)
        return refused_request{{error_code::invalid_client,
                                "The Authorization header must be Basic with the base64 of client_id, a colon and client_secret."},
                               http::status::unauthorized};
    if ((client_id && *client_id != basic->client_id) || (client_secret && *client_secret != basic->client_secret))
        return detail::refuse_request("The Authorization header and the body name different credentials.");
    if (basic->client_id.empty()) return detail::refuse_request("client_id is missing: the Authorization header has only a secret.");
    return std::move(*basic);
}

TOLLGATE_DECL failure to_failure(client_fault fault) {
    const auto refuse = [](const char* description) { return failure{error_code::invalid_client, description}; };
    switch (fault) {
        case client_fault::unknown_client: return refuse("There is no application with this client_id.");
        case client_fault::missing_secret: return refuse("client_secret is missing. This application has one.");
        case client_fault::needless_secret: return refuse("This application has no secret. Omit client_secret.");
        case client_fault::needs_secret: return refuse("Only an application with a secret can use this endpoint.");
        case client_fault::stopped: return {error_code::unauthorized_client, "The application is suspended."};
        case client_fault::wrong_secret:
        case client_fault::unknown_with_secret: break;
    }
    return refuse("client_id or client_secret is invalid.");
}

TOLLGATE_DECL bool has_unusable_authorization(const http::request& request) {
    const auto line_count = request.fields.count(http::field_id::authorization);
    if (line_count != 1) return line_count > 1;
    return !detail::read_basic(request.fields.find(http::field_id::authorization));
}

TOLLGATE_DECL bool are_well_formed(const client_credentials& credentials) noexcept {
    return is_client_id_text(credentials.client_id) &&
           (credentials.client_secret.empty() ||
            is_well_formed(secret_kind::client_secret, credentials.client_secret));
}

TOLLGATE_DECL std::variant<client_request, refused_request> read_client_request(const http::request& request) {
    if (request.body_state == http::body_state::too_large)
        return refused_request{{error_code::invalid_request, "The request body is too large."}, http::status::content_too_large};
    // The body may not have arrived.
    if (has_unusable_authorization(request)) {
        const parameters none{http::form_fields{{}}};
        return std::get<refused_request>(read_client_credentials(request, none));
    }
    auto read = parameters::from_body(request);
    if (auto* error = std::get_if<failure>(&read)) {
        const bool is_encoded = request.has_body() && http::detail::has_content_coding(request.fields);
        return refused_request{std::move(*error), is_encoded ? http::status::unsupported_media_type : http::status::bad_request};
    }
    auto& sent = std::get<parameters>(read);
    if (auto repeated = sent.repeated()) return refused_request{std::move(*repeated)};
    auto credentials = read_client_credentials(request, sent);
    if (auto* refused = std::get_if<refused_request>(&credentials)) return std::move(*refused);
    return client_request{std::move(sent), std::get<client_credentials>(std::move(credentials))};
}

TOLLGATE_DECL bool is_refresh(const parameters& sent) {
    return sent.find("grant_type") == "refresh_token" &&
           is_well_formed(secret_kind::refresh_token, sent.find("refresh_token").value_or(""));
}

TOLLGATE_DECL void add_client_challenge(const http::request& request, http::response& response) {
    if (request.fields.count(http::field_id::authorization) != 0)
        response.add("WWW-Authenticate", "Basic realm=\"oauth\"");
}

TOLLGATE_DECL void respond_invalid_client(const http::request& request, const limit_decision& window, client_fault fault, instant now,
                                          http::response& response, std::string_view documentation_url) {
    if (may_be_guess(fault) && !window.admitted)
        return write_rate_limited(response,
                                  {error_code::invalid_client, "API rate limit exceeded by requests with a wrong client_id or "
                                                               "client_secret. Wait until the time in X-RateLimit-Reset."},
                                  window, now, documentation_url);
    add_client_challenge(request, response);
    const auto error = to_failure(fault);
    write_failure(response, {.status = http::status::unauthorized, .failure = error, .documentation_url = documentation_url});
}

TOLLGATE_DECL void write_rate_limited(http::response& response, const failure& failed, const limit_decision& window, instant now,
                                      std::string_view documentation_url) {
    http::add_retry_after(response, window.resets_at - now);
    write_failure(response, {.status = http::status::too_many_requests,
                             .failure = failed,
                             .documentation_url = documentation_url,
                             .about = pipeline::about_rate_limits});
}

TOLLGATE_DECL void respond_too_many(instant retry_at, instant now, http::response& response, std::string_view documentation_url,
                                    std::string_view description) {
    http::add_retry_after(response, retry_at - now);
    const failure error{error_code::temporarily_unavailable, std::string{description}};
    write_failure(response, {.status = http::status::too_many_requests, .failure = error, .documentation_url = documentation_url});
}

TOLLGATE_DECL void write_introspection(http::response& response, const oauth_token* token, std::string_view issuer,
                                       const resource_list& resources) {
    response.add_prepared_lines(pipeline::json_field_lines);
    http::json_writer body{response.body()};
    const auto to_seconds = [](instant at) { return to_unix_milliseconds(at) / 1000; };
    body.begin_object();
    body.member("active").boolean(token != nullptr);
    if (token != nullptr) {
        body.member("scope").string(token->scopes.text());
        if (token->client_id) body.member("client_id").string(token->client_id->view());
        if (!token->is_refresh_token) body.member("token_type").string("bearer");
        body.member("exp").integer(to_seconds(token->expires_at));
        if (token->created_at) body.member("iat").integer(to_seconds(*token->created_at));
        body.member("sub").string(std::to_string(token->user.value()));
        body.member("iss").string(issuer);
        if (const auto urls = resources.urls_of(token->resources); !urls.empty()) {
            body.member("aud").begin_array();
            for (const auto each : urls) body.string(each);
            body.end_array();
        }
    }
    body.end_object();
}

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_CLIENT_ENDPOINTS_IPP

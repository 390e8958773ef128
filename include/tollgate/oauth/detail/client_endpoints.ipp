#pragma once

#include <tollgate/oauth/detail/client_endpoints.hpp>
#include <tollgate/pipeline/detail/answer.hpp>

namespace tollgate::inline v0::oauth {

TOLLGATE_DECL std::variant<client_request, failure> read_client_request(const http::request& request) {
    if (request.body_state == http::body_state::too_large)
        return failure{error_code::invalid_request, "The request's body is too large."};
    auto read = parameters::from_body(request);
    if (auto* why = std::get_if<failure>(&read)) return std::move(*why);
    auto& sent = std::get<parameters>(read);
    if (auto repeated = sent.repeated()) return std::move(*repeated);
    auto credentials = read_client_credentials(request, sent);
    if (auto* why = std::get_if<failure>(&credentials)) return std::move(*why);
    return client_request{std::move(sent), std::get<client_credentials>(std::move(credentials))};
}

TOLLGATE_DECL bool is_refresh(const parameters& sent) {
    return sent.find("grant_type") == "refresh_token" &&
           is_well_formed(secret_kind::refresh_token, sent.find("refresh_token").value_or(""));
}

TOLLGATE_DECL void answer_invalid_client(const http::request& request, const request_context& context, http::response& response,
                                     std::string_view docs_url) {
    if (!context.window->admitted) {
        response.add("Retry-After", pipeline::seconds_until(context.window->resets_at, context.now));
        const failure why{error_code::invalid_client,
                          "API rate limit exceeded by requests with a wrong client_id or "
                          "client_secret. Wait until the time in X-RateLimit-Reset."};
        return write_failure(response, {.status = http::status::too_many_requests,
                                   .why = why,
                                   .docs_url = docs_url,
                                   .about = pipeline::about_rate_limits});
    }
    if (request.fields.count(http::field_id::authorization) != 0) response.add("WWW-Authenticate", "Basic realm=\"oauth\"");
    const failure why{error_code::invalid_client, "client_id or client_secret is invalid."};
    write_failure(response, {.status = http::status::unauthorized, .why = why, .docs_url = docs_url});
}

}  // namespace tollgate::oauth

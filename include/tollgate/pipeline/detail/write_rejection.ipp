#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_WRITE_REJECTION_IPP
#define TOLLGATE_PIPELINE_DETAIL_WRITE_REJECTION_IPP

#include <tollgate/pipeline/detail/write_rejection.hpp>

#include <string>

namespace tollgate::inline v0::pipeline {

inline void add_challenge(http::response& response, const authenticator_ref& one, std::string_view parameters) {
    const std::string text = std::string{one.challenge()}.append(parameters);
    if (const auto value = http::field_value::from(text)) response.add("WWW-Authenticate", *value);
}

/// Writes a line per scheme. Only credentials that were sent and are invalid have an error code (RFC 6750 section 3.1).
inline void add_challenges(http::response& response, std::span<const authenticator_ref> authenticators, auth_state state) {
    for (const authenticator_ref& each : authenticators)
        add_challenge(response, each, each.is_bearer() && state == auth_state::bad_credentials ? ", error=\"invalid_token\"" : "");
}

/// Writes the challenge of a 403 (RFC 6750 section 3.1); nothing without such an authenticator.
inline void add_insufficient_scope(http::response& response, std::span<const authenticator_ref> authenticators, std::string_view scope) {
    for (const authenticator_ref& each : authenticators)
        if (each.is_bearer()) add_challenge(response, each, std::string{", error=\"insufficient_scope\", scope=\""}.append(scope) + '"');
}

/// The fields that a response of this status must have, for rejections and for errors. `retry_at` is used for 429 only.
inline void add_required_fields(http::response& response, http::status status, instant retry_at, const judgement& state,
                                std::span<const authenticator_ref> authenticators) {
    switch (status) {
        case http::status::unauthorized: add_challenges(response, authenticators, state.auth.state); break;
        case http::status::too_many_requests: http::add_retry_after(response, retry_at - state.now); break;
        default: http::add_retry_after(response, status);
    }
}

TOLLGATE_DECL void write_rejection(http::response& response, const rejection& rejection, const http::request& request,
                                   const judgement& state, const api_definition& api, std::span<const authenticator_ref> authenticators) {
    add_required_fields(response, rejection.status, state.limit->resets_at, state, authenticators);
    switch (rejection.status) {
        case http::status::forbidden:
            if (state.user_agent_accepted)  // so the scopes do not suffice
                add_insufficient_scope(response, authenticators,
                                       required_scope(api.routes[state.route->route].access, state.route_service));
            break;
        case http::status::method_not_allowed: add_allow(response, state.route->allowed); break;
        case http::status::unsupported_media_type: add_accepted_coding(request, response); break;
        default: break;
    }
    write_error(response, rejection.status, rejection.message, api.documentation_url, rejection.documentation);
}

TOLLGATE_DECL void replace_with_error(http::response& response, const error& failure, const judgement& state, const api_definition& api,
                                      std::span<const authenticator_ref> authenticators) {
    const auto status = to_status(failure.kind);
    response.clear();
    add_required_fields(response, status, failure.retry_at, state, authenticators);
    write_error(response, status, failure.message, api.documentation_url, to_topic(status));
}

}  // namespace tollgate::pipeline

#endif  // TOLLGATE_PIPELINE_DETAIL_WRITE_REJECTION_IPP

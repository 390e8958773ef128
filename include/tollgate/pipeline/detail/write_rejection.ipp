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

/// The parameters of a Bearer challenge (RFC 6750 section 3, RFC 9728 section 5.1): an error code, the scope that the route needs, and the
/// metadata of its resource. `error` and `scope` may be empty.
[[nodiscard]] inline std::string bearer_parameters(std::string_view error, std::string_view scope, const request_state& state,
                                                   const api_definition& api) {
    std::string parameters;
    const auto add = [&](std::string_view name, std::string_view value) {
        if (!value.empty()) parameters.append(", ").append(name).append("=\"").append(value).append("\"");
    };
    add("error", error);
    add("scope", scope);
    const bool has_route = state.route && state.route->result != route_match::kind::unknown_path;
    return parameters.append((has_route ? api.resource_of(state.route->route) : api.resources.front()).challenge);
}

/// Writes a line per scheme, Bearer first, because many clients read the first one only. Only credentials that were sent and are invalid
/// have an error code (RFC 6750 section 3.1).
inline void add_challenges(http::response& response, std::span<const authenticator_ref> authenticators, const request_state& state,
                           const api_definition& api) {
    const bool has_route = state.route && state.route->result == route_match::kind::found;
    const auto scope = has_route ? required_scope(api.routes[state.route->route].access, state.route_service) : std::string_view{};
    const std::string_view error = state.auth.state == auth_state::bad_credentials ? "invalid_token" : "";
    for (const authenticator_ref& each : authenticators)
        if (each.is_bearer()) add_challenge(response, each, bearer_parameters(error, scope, state, api));
    for (const authenticator_ref& each : authenticators)
        if (!each.is_bearer()) add_challenge(response, each, {});
}

/// Writes the challenge of a 403 (RFC 6750 section 3.1); nothing without such an authenticator.
inline void add_insufficient_scope(http::response& response, std::span<const authenticator_ref> authenticators, std::string_view scope,
                                   const request_state& state, const api_definition& api) {
    for (const authenticator_ref& each : authenticators)
        if (each.is_bearer()) add_challenge(response, each, bearer_parameters("insufficient_scope", scope, state, api));
}

/// The fields that a response of this status must have, for rejections and for errors. `retry_at` is used for 429 only.
inline void add_required_fields(http::response& response, http::status status, instant retry_at, const request_state& state,
                                const api_definition& api, std::span<const authenticator_ref> authenticators) {
    switch (status) {
        case http::status::unauthorized: add_challenges(response, authenticators, state, api); break;
        case http::status::too_many_requests: http::add_retry_after(response, retry_at - state.now); break;
        default: http::add_retry_after(response, status);
    }
}

TOLLGATE_DECL void write_rejection(http::response& response, const rejection& rejection, const http::request& request,
                                   const request_state& state, const api_definition& api,
                                   std::span<const authenticator_ref> authenticators) {
    add_required_fields(response, rejection.status, state.limit->resets_at, state, api, authenticators);
    switch (rejection.status) {
        case http::status::forbidden:
            if (state.user_agent_accepted)  // so the scopes do not suffice
                add_insufficient_scope(response, authenticators,
                                       required_scope(api.routes[state.route->route].access, state.route_service), state, api);
            break;
        case http::status::unsupported_media_type: add_accepted_coding(request, response); break;
        default: break;
    }
    write_error(response, rejection.status, rejection.message, api.documentation_url, rejection.documentation);
}

TOLLGATE_DECL void replace_with_error(http::response& response, const error& failure, const request_state& state, const api_definition& api,
                                      std::span<const authenticator_ref> authenticators) {
    const auto status = to_status(failure.kind);
    response.clear();
    add_required_fields(response, status, failure.retry_at, state, api, authenticators);
    if (status == http::status::forbidden && !failure.scope.empty())
        add_insufficient_scope(response, authenticators, failure.scope, state, api);
    write_error(response, status, failure.message, api.documentation_url, to_topic(status));
}

TOLLGATE_COLD progress error_object_rules::count(row_call& call) {
    const quota& allowed = call.state.part->settings().anonymous_quota;
    const bool is_done =
        count_in(call.policies.limiter(), limit_key::of(call.state.client), allowed, true, call.thread, call.state);
    return is_done ? progress::goes_on : progress::waits;
}

TOLLGATE_COLD void error_object_rules::reject(row_call& call, const rejection& reason) {
    if (reason.status == http::status::too_many_requests)
        http::add_retry_after(call.response, call.state.limit->resets_at - call.state.now);
    write_error(call.response, reason.status, reason.message, documentation_url_of(call.state.part->settings()), reason.documentation);
}

TOLLGATE_COLD void error_object_rules::fail(row_call& call, const error& failure) {
    const auto status = to_status(failure.kind);
    call.response.clear();
    http::add_retry_after(call.response, status);
    write_error(call.response, status, failure.message, documentation_url_of(call.state.part->settings()), to_topic(status));
}

TOLLGATE_COLD void error_object_rules::add_fields(row_call& call) {
    const auto& settings = call.state.part->settings();
    const auto key = limit_key::of(call.state.client);
    if (!call.state.limit) call.state.limit = peek_or_unused(call.policies.limiter(), key, settings.anonymous_quota, call.state.now);
    add_rate_limit_fields(call.response, *call.state.limit, call.observed().id());
    add_transport_security(call.response, settings.auth_url);
    http::add_cors_fields(settings.cors_origins, call.request, call.response);
}

}  // namespace tollgate::pipeline

#endif  // TOLLGATE_PIPELINE_DETAIL_WRITE_REJECTION_IPP

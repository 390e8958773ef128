#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_STAGES_IPP
#define TOLLGATE_PIPELINE_DETAIL_STAGES_IPP

#include <tollgate/pipeline/detail/stages.hpp>

#include <algorithm>
#include <string_view>

namespace tollgate::inline v0::pipeline {

TOLLGATE_DECL bool is_json_media_type(std::string_view content_type) noexcept {
    const auto end = content_type.find(';');
    if (!detail::ascii_iequals(detail::trim_ows(content_type.substr(0, end)), "application/json")) return false;
    std::string_view parameters = end == std::string_view::npos ? "" : content_type.substr(end);
    while (!parameters.empty()) {
        parameters.remove_prefix(1);  // the semicolon
        const auto next = (std::min)(parameters.find(';'), parameters.size());
        const auto parameter = detail::trim_ows(parameters.substr(0, next));
        // Parameters may be empty (RFC 9110 section 5.6.6).
        if (!parameter.empty() && !detail::ascii_iequals(parameter, "charset=utf-8") &&
            !detail::ascii_iequals(parameter, "charset=\"utf-8\""))
            return false;
        parameters.remove_prefix(next);
    }
    return true;
}

TOLLGATE_DECL std::uint64_t body_bytes_of(const http::request& request) noexcept {
    if (request.body_state != http::body_state::pending) return request.body.size();
    return detail::parse_decimal(request.fields.find(http::field_id::content_length)).value_or(0);
}

TOLLGATE_DECL std::optional<rejection> check_body(const http::request& request, bool reads_body, std::size_t body_bytes_max) noexcept {
    if (request.body_state == http::body_state::too_large ||
        (body_bytes_max != no_body_bound && body_bytes_of(request) > body_bytes_max))
        return rejection{http::status::content_too_large, "The request body is too large.", about_requests};
    if (!reads_body) return std::nullopt;
    // A chunked body is not awaited if what the head says of it is wrong, although it may turn out to be empty.
    const bool may_have_body =
        request.body_state == http::body_state::pending || request.fields.count(http::field_id::transfer_encoding) != 0;
    const bool is_described = may_have_body &&
                              (request.fields.count(http::field_id::content_type) != 0 || http::detail::has_content_coding(request.fields));
    if (!request.has_body() && !is_described) return std::nullopt;
    if (http::detail::has_content_coding(request.fields))
        return rejection{http::status::unsupported_media_type, http::detail::content_coding_reason, about_requests};
    if (request.fields.count(http::field_id::content_type) != 1 ||
        !is_json_media_type(request.fields.find(http::field_id::content_type)))
        return rejection{http::status::unsupported_media_type, "Send the body with Content-Type: application/json.", about_requests};
    return std::nullopt;
}

TOLLGATE_DECL std::optional<rejection> find_route(const router_ref& router, const route_table& routes, const service_catalog& services,
                                                  std::string_view root, const http::request& request, request_state& state) {
    if (request.method == http::method::other)
        return rejection{http::status::not_implemented, "The request method is unknown.", about_requests};
    const auto method = request.method == http::method::head ? http::method::get : request.method;
    if (method == http::method::options && request.target.path == "*") {
        auto& all = state.route.emplace();
        all.result = route_match::kind::other_method;
        for (const tollgate::route& each : routes) all.allowed.add(each.method);
        return std::nullopt;
    }
    const route_match& found =
        state.route.emplace(made_by{[&]() noexcept { return router.find(method, below(root, request.target.path)); }});
    state.route_path = request.target.path.data();
    if (found.result == route_match::kind::unknown_path) return no_such_resource;
    if (const auto capture = routes[found.route].service_capture; capture != tollgate::route::no_capture) {
        if (capture >= found.captured) return no_such_resource;  // the router did not say which service
        state.route_service = services.find(found.captures[capture]);
        if (state.route_service == nullptr) return no_such_resource;
    }
    if (found.result == route_match::kind::found || method == http::method::options) return std::nullopt;
    return rejection{http::status::method_not_allowed, "This path does not support this method; see the Allow header.",
                     about_requests};
}

TOLLGATE_DECL std::optional<rejection> check_access(const scope_checker_ref& checker, const access_rule& rule, resource_id resource,
                                                    request_state& state) {
    if (state.auth.caller && !state.auth.caller->resources.is_for(resource)) [[unlikely]] {
        state.auth.state = auth_state::bad_credentials;
        return rejection{http::status::unauthorized, "The token was issued for another resource.", about_authentication};
    }
    if (state.auth.state == auth_state::bad_credentials)
        return rejection{http::status::unauthorized, "Bad credentials.", about_authentication};
    if (rule.callers == access_rule::kind::open) return std::nullopt;
    if (state.auth.state != auth_state::authenticated)
        return rejection{http::status::unauthorized, "Credentials are required: a personal API token or an OAuth access token.",
                         about_authentication};
    const auto scope = required_scope(rule, state.route_service);
    if (scope.empty() || checker.covers(state.auth.caller->scopes, scope)) return std::nullopt;
    return rejection{http::status::forbidden,
                     "The token's scopes do not cover this request; see the WWW-Authenticate header.", about_scopes};
}

TOLLGATE_DECL bool count_in(const rate_limiter_ref& limiter, const limit_key& key, const quota& allowed, bool counts,
                            http::thread_kind thread, request_state& state) {
    if (thread == http::thread_kind::io && limiter.may_block()) {
        state.limit = counts ? limiter.try_take(key, allowed, state.now) : limiter.try_peek(key, allowed, state.now);
        return state.limit.has_value();
    }
    state.limit.emplace(made_by{
        [&]() noexcept { return counts ? limiter.take(key, allowed, state.now) : limiter.peek(key, allowed, state.now); }});
    return true;
}

/// Counts the request in every window that the limiter names, or in none if one of them is used up.
[[nodiscard]] inline bool count_in_windows(const rate_limiter_ref& limiter, const limit_windows& windows, const quota& allowed,
                                           http::thread_kind thread, request_state& state) {
    if (windows.size() == 1) return count_in(limiter, windows.begin()->key, windows.begin()->allowed, is_counted(state), thread, state);
    if (windows.size() != 0 && thread == http::thread_kind::io && limiter.may_block()) return false;

    const auto tightest = [&](auto decide) {
        std::optional<limit_decision> found;
        for (const limit_window& each : windows) {
            const limit_decision one = decide(each);
            if (!found || is_tighter(one, *found)) found = one;
        }
        return found.value_or(limit_decision::unused(allowed, state.now));
    };
    state.limit = tightest([&](const limit_window& each) { return limiter.peek(each.key, each.allowed, state.now); });
    if (!state.limit->admitted || !is_counted(state)) return true;
    state.limit = tightest([&](const limit_window& each) { return limiter.take(each.key, each.allowed, state.now); });
    return true;
}

TOLLGATE_DECL bool count_request(const rate_limiter_ref& limiter, const account_service_settings& settings, std::string_view route,
                                 const http::request& request, http::thread_kind thread, request_state& state) {
    const limit_key key = limit_key_of(state);
    const quota& allowed = quota_of(settings, state);
    if (!limiter.chooses_windows()) return count_in(limiter, key, allowed, is_counted(state), thread, state);
    return count_in_windows(limiter, limiter.windows_of({key, allowed, route, request.method, caller_of(state), state.client, state.now}),
                            allowed, thread, state);
}

}  // namespace tollgate::pipeline

#endif  // TOLLGATE_PIPELINE_DETAIL_STAGES_IPP

#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_STAGES_HPP
#define TOLLGATE_PIPELINE_DETAIL_STAGES_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/authenticator.hpp>
#include <tollgate/contract/rate_limiter.hpp>
#include <tollgate/contract/router.hpp>
#include <tollgate/contract/scope_checker.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/model/caller.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/model/resource.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/pipeline/detail/authenticate.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/pipeline/detail/observed_request.hpp>
#include <tollgate/pipeline/detail/row.hpp>
#include <tollgate/pipeline/route_table.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

/// The stages of the judgement, one decision each: `judge.hpp` has their order. A stage takes only what it needs, and reads what
/// the stages before it have found out. Stages do not write responses.
namespace tollgate::inline v0::pipeline {

/// Converts to what `make` returns: `optional.emplace(made_by{make})` constructs the value in place. A copy would wait for the bytes
/// just written, longer than a stage takes.
template <class Make>
struct made_by {
    Make make;
    operator std::invoke_result_t<const Make&>() const noexcept(noexcept(make())) { return make(); }
};
template <class Make>
made_by(Make) -> made_by<Make>;

/// Returns true if the request has one User-Agent field, with a value that the rule accepts.
[[nodiscard]] inline bool accepts_user_agent(const agent_rule_ref& rule, const http::request& request) noexcept {
    return request.fields.count(http::field_id::user_agent) <= 1 && rule.accepts(request.fields.find(http::field_id::user_agent));
}

/// The limit fields of a request that is not counted, on any thread: those of an unused window where the limiter would have to
/// wait. Otherwise malformed requests could hold up the threads that serve sockets.
[[nodiscard]] inline limit_decision peek_or_unused(const rate_limiter_ref& limiter, const limit_key& key, const quota& allowed,
                                                   instant now) noexcept {
    if (const auto known = limiter.try_peek(key, allowed, now)) return *known;
    return limit_decision::unused(allowed, now);
}

/// Returns the key under which a request counts: its caller, with any token, or otherwise the client's address.
[[nodiscard]] inline limit_key limit_key_of(const request_state& state) noexcept {
    return state.auth.caller ? limit_key::of(state.auth.caller->user) : limit_key::of(state.client);
}

/// The quota of `limit_key_of`.
[[nodiscard]] inline const quota& quota_of(const account_service_settings& settings, const request_state& state) noexcept {
    if (!state.auth.caller) return settings.anonymous_quota;
    return state.own_quota ? *state.own_quota : settings.user_quota;
}

/// Null if the request has no valid credential.
[[nodiscard]] inline const caller* caller_of(const request_state& state) noexcept {
    return state.auth.caller ? &*state.auth.caller : nullptr;
}

/// Returns true if a request is counted: one that could not be authenticated because a store failed is not, nor is a CORS preflight.
[[nodiscard]] inline bool is_counted(const request_state& state) noexcept {
    return state.auth.state != auth_state::failed && !state.is_preflight;
}

/// Returns true if the response reports the first decision rather than the second: a refusal first, of two refusals the one that ends
/// later, so that waiting for it is enough; otherwise the one with fewer requests left.
[[nodiscard]] constexpr bool is_tighter(const limit_decision& first, const limit_decision& second) noexcept {
    if (first.admitted != second.admitted) return !first.admitted;
    return first.admitted ? first.remaining < second.remaining : first.resets_at > second.resets_at;
}

/// Counts the request in one window, or only reads the window unless it `counts`. False, and nothing counted, if that needs a worker.
[[nodiscard]] TOLLGATE_DECL bool count_in(const rate_limiter_ref& limiter, const limit_key& key, const quota& allowed, bool counts,
                                          http::thread_kind thread, request_state& state);

/// Counts the request against its caller or its client's address, or in every window that the limiter names: in none if one of them is used
/// up. `route` is the pattern of its route. False, and nothing counted, if that needs a worker.
[[nodiscard]] TOLLGATE_DECL bool count_request(const rate_limiter_ref& limiter, const account_service_settings& settings,
                                               std::string_view route,
                                               const http::request& request, http::thread_kind thread, request_state& state);

/// 429 for a request beyond its quota, after `stage::limit`.
[[nodiscard]] inline std::optional<rejection> check_limit(const request_state& state) noexcept {
    if (state.limit->admitted || !is_counted(state)) return std::nullopt;
    return rate_limit_exceeded;
}

/// The text for a resource that does not exist and for a resource of another user.
inline constexpr rejection no_such_resource{http::status::not_found, "Not Found", about_errors};

/// The path below the API's root; empty if it is not below it.
[[nodiscard]] constexpr std::string_view below(std::string_view root, std::string_view path) noexcept {
    if (!path.starts_with(root)) return {};
    path.remove_prefix(root.size());
    return path.starts_with('/') ? path : std::string_view{};
}

/// Finds the route, and the service that its path names. 501 for an unknown method, 404 for a path without a route, 405 for a
/// method that the path does not have. OPTIONS matches every known path: it is answered from `state.route.allowed`.
[[nodiscard]] TOLLGATE_DECL std::optional<rejection> find_route(const router_ref& router, const route_table& routes,
                                                                const service_catalog& services, std::string_view root,
                                                                const http::request& request, request_state& state);

/// Updates the captures: the server may have moved the request to a larger buffer since its route was found.
inline void relocate_captures(const http::request& request, request_state& state) noexcept {
    const char* const path = request.target.path.data();
    if (path == state.route_path) return;
    const auto before = reinterpret_cast<std::uintptr_t>(state.route_path);
    for (std::size_t i = 0; i < state.route->captured; ++i)
        state.route->captures[i] = http::relocated(state.route->captures[i], before, path);
    state.route_path = path;
}

/// Returns the rejection (400) for credentials in two fields, of which neither can be preferred.
[[nodiscard]] inline std::optional<rejection> check_one_authorization(const request_state& state) noexcept {
    if (state.auth.state != auth_state::ambiguous) return std::nullopt;
    return rejection{http::status::bad_request, "Send one Authorization header only, and no other credentials.", about_authentication};
}

/// The scope that a route requires; empty if none.
[[nodiscard]] inline std::string_view required_scope(const access_rule& rule, const service* route_service) noexcept {
    switch (rule.callers) {
        case access_rule::kind::open:
        case access_rule::kind::any_caller: break;
        case access_rule::kind::scope: return rule.scope;
        case access_rule::kind::service_read: return route_service->read_scope;
        case access_rule::kind::service_write: return route_service->write_scope;
    }
    return {};
}

/// 401 for invalid credentials, on an open route too: a program with a revoked token learns of it at once. A token for other resources is
/// invalid here. 401 where credentials are required and missing, 403 where their scopes do not suffice.
[[nodiscard]] TOLLGATE_DECL std::optional<rejection> check_access(const scope_checker_ref& checker, const access_rule& rule,
                                                                  resource_id resource, request_state& state);

/// `application/json`, with no parameter but a charset of UTF-8 (RFC 8259 section 8.1 allows no other).
[[nodiscard]] TOLLGATE_DECL bool is_json_media_type(std::string_view content_type) noexcept;

/// The bytes of the body; of one that has not arrived, those that its head declares: 0 if it is chunked.
[[nodiscard]] TOLLGATE_DECL std::uint64_t body_bytes_of(const http::request& request) noexcept;

/// 413 and 415, as far as they are known: also before the body has arrived. A body that the route does not read may have any type.
[[nodiscard]] TOLLGATE_DECL std::optional<rejection> check_body(const http::request& request, bool reads_body,
                                                                std::size_t body_bytes_max = no_body_bound) noexcept;

}  // namespace tollgate::pipeline

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pipeline/detail/stages.ipp>
#endif

#endif  // TOLLGATE_PIPELINE_DETAIL_STAGES_HPP

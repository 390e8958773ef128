#pragma once
#ifndef TOLLGATE_PIPELINE_JUDGE_HPP
#define TOLLGATE_PIPELINE_JUDGE_HPP

#include <tollgate/http/detail/client_address.hpp>
#include <tollgate/http/detail/cors.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/pipeline/call.hpp>
#include <tollgate/pipeline/detail/api_definition.hpp>
#include <tollgate/pipeline/detail/authenticate.hpp>
#include <tollgate/pipeline/detail/decision_age.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/pipeline/detail/stages.hpp>
#include <tollgate/pipeline/detail/write_rejection.hpp>
#include <tollgate/policy/policies.hpp>

#include <optional>
#include <string_view>
#include <utility>

namespace tollgate::inline v0::pipeline {

/// Judges the requests of an API, and writes their responses. It refers to members of the API.
///
/// `advance` is the only place that defines the order of the stages; the cheapest rejection comes first. It runs on the thread that read
/// the request as long as it does not have to wait. If it must wait for a store, the directory or the limiter, it sets the kind of work
/// (`judgement::waits_for`) and returns `needs_worker`. The next call, on a worker, continues at that stage. The worker waits for nothing
/// else: a stage that must wait for another kind returns `needs_worker` again. Only the last stage, the endpoint, may wait for several
/// kinds.
///
/// No stage runs twice, with one exception: if the request waited for so long that the decision about its caller no longer holds
/// (`is_outdated`), the caller is found again, and the access is checked again. The request is counted once.
struct judge {
    const api_definition& api;
    const user_directory_ref& users;
    const credential_source_ref& store;
    const tollgate::policies& policies;
    const router_ref& router;
    const api_context& context;  ///< the first argument of `api_call`

    /// Judges a request until its response is complete or it must wait. Throws what policies and endpoints throw, and std::bad_alloc; call
    /// `respond_error` then. The server itself refuses malformed HTTP.
    http::handle_step advance(const http::request& request, http::response& response, judgement& state, http::thread_kind thread) const {
        using http::work_kind;
        const auto thread_for = [&](work_kind kind) {
            return state.waits_for == kind ? thread : http::thread_kind::io;
        };
        // The time is read only where it matters: most requests do not wait, and read it once.
        if (state.auth.state == auth_state::authenticated && is_outdated(state.judged_at, policies.clock().now())) [[unlikely]] {
            if (state.repeated == repeated_judgements_max) {
                respond_error(unavailable("the request was judged too often"), request, response, state);
                return http::handle_step::done;
            }
            judge_again(request, state);
        }
        switch (state.next) {
            case stage::head:
                state.start = start_request(policies, state.now);
                state.client = http::client_address(request, api.settings.trusted_proxies, api.settings.client_named_by);
                // A request without a User-Agent counts against its address, so its credentials are not read. It is rejected after the rate
                // limit has been checked.
                state.user_agent_accepted = accepts_user_agent(policies.agent_rule(), request);
                // A preflight is not counted, so its credentials are not read either: otherwise, guesses would be free.
                state.is_preflight = state.user_agent_accepted && http::is_preflight(request);
                if (state.user_agent_accepted && !state.is_preflight) read_authorization(policies.authenticators(), request, state.auth);
                [[fallthrough]];
            case stage::credential:
                if (!find_credential(policies.authenticators(), store, request, thread_for(work_kind::credentials), state.now, state.auth))
                    return wait_at(stage::credential, work_kind::credentials, state);
                state.judged_at = state.now;
                if (thread_for(work_kind::credentials) == http::thread_kind::worker) state.judged_at = policies.clock().now();
                [[fallthrough]];
            case stage::use:
                if (!record_token_use(store, thread_for(work_kind::token_uses), state.now, state.client, state.auth))
                    return wait_at(stage::use, work_kind::token_uses, state);
                [[fallthrough]];
            case stage::quota:
                if (!find_quota(users, thread_for(work_kind::users), state.auth, state.own_quota))
                    return wait_at(stage::quota, work_kind::users, state);
                [[fallthrough]];
            case stage::limit:
                if (!state.limit && !count(request, thread_for(work_kind::limits), state))
                    return wait_at(stage::limit, work_kind::limits, state);
                [[fallthrough]];
            case stage::checks:
                if (const auto rejected = check_limit(state)) return reject(*rejected, request, response, state);
                if (!state.user_agent_accepted) return reject(missing_user_agent, request, response, state);
                if (const auto rejected = check_one_authorization(state)) return reject(*rejected, request, response, state);
                if (state.auth.failure) return fail(*state.auth.failure, request, response, state);
                if (const auto rejected = route_of(request, state)) return reject(*rejected, request, response, state);
                if (state.route->result == route_match::kind::other_method) return respond_options(request, response, state);
                if (const auto rejected = check_access(policies.scope_checker(), api.routes[state.route->route].access,
                                                       api.resource_of(state.route->route).id, state))
                    return reject(*rejected, request, response, state);
                [[fallthrough]];
            case stage::body:
                if (const auto rejected =
                        check_body(request, api.routes[state.route->route].reads_body, api.routes[state.route->route].body_bytes_max))
                    return reject(*rejected, request, response, state);
                if (request.body_state == http::body_state::pending) {
                    state.next = stage::body;
                    state.body_bytes_max = api.routes[state.route->route].body_bytes_max;
                    return http::handle_step::needs_body;
                }
                [[fallthrough]];
            case stage::endpoint: break;
        }
        return respond_endpoint(request, response, state, thread_for(api.routes[state.route->route].work));
    }

    /// Writes the response after an exception. Never waits.
    void respond_error(const error& failure, const http::request& request, http::response& response, judgement& state) const {
        if (!state.limit) {
            state.limit = peek_or_unused(policies.limiter(), limit_key_of(state), quota_of(api.settings, state), state.now);
        }
        fail(failure, request, response, state);
    }

private:
    /// Continues at the caller, as if the request had just arrived.
    void judge_again(const http::request& request, judgement& state) const {
        ++state.repeated;
        state.now = policies.clock().now();
        state.auth = {};
        read_authorization(policies.authenticators(), request, state.auth);
        state.next = stage::credential;  // `waits_for` stays, because the worker may still wait for that kind
    }

    [[nodiscard]] static http::handle_step wait_at(stage next, http::work_kind kind, judgement& state) noexcept {
        state.next = next;
        state.waits_for = kind;
        return http::handle_step::needs_worker;
    }

    /// Counts the request. The route is looked up this early only for a limiter that needs it: a 429 should stay cheap.
    [[nodiscard]] bool count(const http::request& request, http::thread_kind thread, judgement& state) const {
        if (policies.limiter().chooses_windows() && state.route_path == nullptr)
            state.route_rejection = find_route(router, api.routes, api.settings.services, api.root, request, state);
        return count_request(policies.limiter(), api.settings, pattern_of(state), request, thread, state);
    }

    [[nodiscard]] std::optional<rejection> route_of(const http::request& request, judgement& state) const {
        if (policies.limiter().chooses_windows()) return state.route_rejection;
        return find_route(router, api.routes, api.settings.services, api.root, request, state);
    }

    /// Returns the pattern of the request's route, or an empty text if the path has no route.
    [[nodiscard]] std::string_view pattern_of(const judgement& state) const noexcept {
        const bool has_route = state.route_path != nullptr && state.route->result != route_match::kind::unknown_path;
        return has_route ? api.routes[state.route->route].path : std::string_view{};
    }

    [[nodiscard]] observed_request observed(const http::request& request, const judgement& state) const noexcept {
        return {state.start, request, state.client, pattern_of(state)};
    }

    http::handle_step finish(const http::request& request, http::response& response, const judgement& state) const {
        const auto observation = observed(request, state);
        add_rate_limit_fields(response, *state.limit, observation.id());
        add_transport_security(response, api.settings.base_url);
        http::add_cors_fields(api.settings.cors_origins, request, response);
        if (state.is_preflight) allow_own_fields(response, policies.authenticators());
        const auto* caller = caller_of(state);
        if (policies.usage() != nullptr && caller != nullptr)
            policies.usage()->record(*caller, to_number(response.status()) >= 400, state.now);
        observation.report_end(policies, response, caller);
        return http::handle_step::done;
    }

    /// Responds with the error of an endpoint, a store or the directory: its message for the client, its cause for the observer.
    http::handle_step fail(const error& failure, const http::request& request, http::response& response, const judgement& state) const {
        if (to_number(to_status(failure.kind)) >= 500) observed(request, state).report(policies, failure);
        replace_with_error(response, failure, state, api, policies.authenticators());
        return finish(request, response, state);
    }

    http::handle_step reject(const rejection& rejection, const http::request& request, http::response& response,
                             const judgement& state) const {
        write_rejection(response, rejection, request, state, api, policies.authenticators());
        return finish(request, response, state);
    }

    http::handle_step respond_options(const http::request& request, http::response& response, const judgement& state) const {
        response.set_status(http::status::no_content);
        add_allow(response, state.route->allowed);
        return finish(request, response, state);
    }

    /// Calls the endpoint, on a worker if it has to wait.
    http::handle_step respond_endpoint(const http::request& request, http::response& response, judgement& state,
                                       http::thread_kind thread) const {
        const route& found = api.routes[state.route->route];
        const bool may_block = users.may_block() || (store.may_block() && found.work != http::work_kind::users);
        relocate_captures(request, state);
        api_call call{context, request, response, caller_of(state), state.client, state.now};
        result<void> done;
        if (may_block && thread == http::thread_kind::io) {
            auto without_waiting = found.call_without_waiting(call, *state.route, state.route_service);
            if (!without_waiting) return wait_at(stage::endpoint, found.work, state);
            done = *std::move(without_waiting);
        } else {
            done = found.call(call, *state.route, state.route_service);
        }
        if (!done) return fail(done.error(), request, response, state);
        const bool has_type = !response.field_block().empty() && !response.find("Content-Type").empty();
        if (!response.body().empty() && !has_type) response.add_prepared_lines(json_field_lines);
        return finish(request, response, state);
    }
};

}  // namespace tollgate::pipeline

#endif  // TOLLGATE_PIPELINE_JUDGE_HPP

#pragma once

#include <tollgate/http/detail/client_address.hpp>
#include <tollgate/pipeline/call.hpp>
#include <tollgate/pipeline/detail/access.hpp>
#include <tollgate/pipeline/detail/agent.hpp>
#include <tollgate/pipeline/detail/answer.hpp>
#include <tollgate/pipeline/detail/find_route.hpp>
#include <tollgate/pipeline/detail/identify.hpp>
#include <tollgate/pipeline/detail/judgement.hpp>
#include <tollgate/pipeline/detail/limit.hpp>
#include <tollgate/pipeline/detail/read_body.hpp>
#include <tollgate/policy/detail/policy_set.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tollgate::inline v0::pipeline {

/// THE ORDER in which a request is judged, the cheapest refusal first; no other file knows more than one stage.
///
/// What is malformed never comes this far. The agent is looked at first, since a request without one is nobody's and so
/// counts against its address; the refusal itself comes behind the rate limit, so that an empty window says 429 to all.
template <class Api>
[[nodiscard]] std::optional<refused> judge(Api& api, const http::request& asked, judgement& found) {
    auto& policies = api.policies();
    const auto& settings = api.settings();

    found.now = policy(policies.clock).now();
    found.client = http::client_address(asked, settings.trusted_proxies);
    look_at_agent(policy(policies.agent_rule), asked, found);
    identify(policies.authenticators, api.store(), api.users(), asked, found);
    count(policy(policies.limiter), {settings.anonymous_quota, settings.user_quota}, found);

    if (auto no = require_room(found)) return no;
    if (auto no = require_agent_of(found)) return no;
    if (auto no = require_one_authorization(found)) return no;
    if (found.failure) return std::nullopt;
    if (auto no = find_route(policy(policies.router), api.table(), settings.services, api.root(), asked, found)) return no;
    if (found.route.result != route_match::kind::found) return std::nullopt;
    const route& line = api.table()[found.route.route];
    if (auto no = check_access(policy(policies.scope_checker), line.access, found)) return no;
    return check_body(asked, line.reads_body);
}

/// Answers a problem of an endpoint, a store or a directory: the message to the client, the cause to the observer.
template <class Api>
void answer_error(Api& api, const error& why, http::response& out) {
    const auto status = to_status(why.kind);
    if (to_number(status) >= 500) policy(api.policies().observer).on_problem(why);
    out.clear();
    if (status == http::status::service_unavailable) out.add("Retry-After", retry_after_unavailable_seconds);
    write_error(out, status, why.message, api.docs_url(), to_topic(status));
}

/// Answers what a stage stopped.
template <class Api>
void answer_refused(Api& api, const refused& no, const judgement& found, http::response& out) {
    switch (no.status) {
        case http::status::unauthorized: add_challenges(out, api.policies().authenticators, found); break;
        case http::status::forbidden:
            if (found.route.result == route_match::kind::found)
                add_insufficient_scope(out, required_scope(api.table()[found.route.route].access, found));
            break;
        case http::status::method_not_allowed: add_allow(out, found.route.allowed); break;
        case http::status::too_many_requests:
            out.add("Retry-After", seconds_until(found.window.resets_at, found.now));
            break;
        default: break;
    }
    write_error(out, no.status, no.message, api.docs_url(), no.documentation);
}

/// Calls the endpoint and completes what it wrote.
template <class Api>
void answer_endpoint(Api& api, const http::request& asked, const judgement& found, http::response& out) {
    api_call call{api.context(), asked, out, found.who ? &*found.who : nullptr, found.now};
    const route& line = api.table()[found.route.route];
    if (auto done = line.call(call, found.route, found.of_service); !done) return answer_error(api, done.error(), out);
    const bool says_its_type = !out.field_block().empty() && !out.find("Content-Type").empty();
    if (!out.body().empty() && !says_its_type) out.add_prepared_lines(json_field_lines);
}

/// One request, from start to finish. May throw what an integrator's code or the heap throws: `account_api` catches it, and
/// answers with what was found out until then.
template <class Api>
void run(Api& api, const http::request& asked, judgement& found, http::response& out) {
    if (const auto no = judge(api, asked, found)) {
        answer_refused(api, *no, found, out);
    } else if (found.failure) {
        answer_error(api, *found.failure, out);
    } else if (found.route.result == route_match::kind::other_method) {
        out.set_status(http::status::no_content);
        add_allow(out, found.route.allowed);
    } else {
        answer_endpoint(api, asked, found, out);
    }
    add_window(out, found.window);
    policy(api.policies().observer).on_request({asked, out, found.who ? &*found.who : nullptr, found.client, found.now});
}

/// What is left to say when something was thrown.
template <class Api>
void answer_thrown(Api& api, std::string_view what, const http::request& asked, judgement& found, http::response& out) {
    auto& policies = api.policies();
    answer_error(api, internal_error(std::string{"thrown: "}.append(what)), out);
    if (found.window.limit == 0)
        found.window = glance(policy(policies.limiter), limit_key::of(asked.peer), api.settings().anonymous_quota, found.now);
    add_window(out, found.window);
    policy(policies.observer).on_request({asked, out, nullptr, found.client, found.now});
}

/// What a host refused by itself: worded as every other error, and not counted, for nobody knows what it was. It is worded
/// where sockets are served, and so waits for nobody.
template <class Api>
void run(Api& api, const http::refusal& refusal, http::response& out) {
    auto& policies = api.policies();
    const auto now = policy(policies.clock).now();
    const auto window = glance(policy(policies.limiter), limit_key::of(refusal.peer), api.settings().anonymous_quota, now);
    if (refusal.status == http::status::service_unavailable) out.add("Retry-After", retry_after_unavailable_seconds);
    write_error(out, refusal.status, refusal.reason, api.docs_url(), to_topic(refusal.status));
    add_window(out, window);
    policy(policies.observer).on_refusal(refusal);
}

}  // namespace tollgate::pipeline

#pragma once
#ifndef TOLLGATE_PIPELINE_JUDGE_HPP
#define TOLLGATE_PIPELINE_JUDGE_HPP

#include <tollgate/http/detail/client_address.hpp>
#include <tollgate/http/detail/cors.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/pipeline/current_request.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/pipeline/detail/row.hpp>
#include <tollgate/pipeline/detail/stages.hpp>
#include <tollgate/pipeline/detail/write_rejection.hpp>
#include <tollgate/policy/policies.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tollgate::inline v0::pipeline {

/// The time for which a decision about a caller holds. A request that waits for longer is judged again before it acts, because a session, a
/// token, a user or an application can end.
inline constexpr seconds decision_lifetime{1};  // longer than most bodies take to arrive, and shorter than a person takes to notice

/// Returns true if a decision of this time no longer holds. It also does not hold if the clock was set back, because its age is unknown
/// then.
[[nodiscard]] constexpr bool is_outdated(instant decided_at, instant now) noexcept {
    return now < decided_at || now - decided_at > decision_lifetime;
}

/// The number of repeated judgements of a request. After that, it is refused: the server is overloaded.
inline constexpr int repeated_judgements_max = 2;

/// Judges every request, for the API, OAuth, the pages and the documentation alike, and calls its endpoint. It refers to the parts, whose
/// rows say what differs: who the callers are, which window counts, which body is read, how errors are written, and what the endpoint
/// waits for.
///
/// `advance` is the only place that defines the order of the stages; the cheapest rejection comes first. It runs on the thread that read
/// the request as long as it does not have to wait. If it must wait for a store, the directory, the sessions or the limiter, it names the
/// kind of work and returns `needs_worker`. The next call, on a worker, continues at that stage. The worker waits for nothing else: a
/// stage that must wait for another kind returns `needs_worker` again.
///
/// A stage runs once, with two exceptions. If the credentials may be in the body, the stages from `caller` to `checks` run again when it
/// has arrived. If the request waited for so long that the decision about its caller no longer holds (`is_outdated`), the caller is found
/// again, and so is what the steps of the row have decided, before the endpoint acts. The request is counted once.
class judge {
public:
    /// `policies` and the parts must outlive the object. The first part that serves a path has its rows; the last part has the paths that
    /// no part serves, and its settings name hosts and proxies.
    judge(const tollgate::policies& policies, std::vector<const part*> parts)
        : policies_{policies}, settings_{parts.back()->settings()}, parts_{std::move(parts)} {}

    /// Implements `http::resumable_handler`.
    [[nodiscard]] http::handle_step advance(const http::request& request, http::response& response, http::handler_state& memory,
                                            http::thread_kind thread) const noexcept {
        auto& state = memory.get<request_state>();
        if (state.next == stage::head) state.now = memory.time_by(policies_.clock());
        const auto next = advance(request, response, state, thread);
        memory.set_waits_for(state.waits_for);
        memory.set_body_bytes_max(state.body_bytes_max);
        return next;
    }

    /// Implements `http::handler`: this thread may wait for everything.
    void handle(const http::request& request, http::response& response) const noexcept {
        request_state state;
        state.now = policies_.clock().now();
        while (advance(request, response, state, http::thread_kind::worker) == http::handle_step::needs_worker) {}
    }

    /// Implements `http::handler`. The part at the path of the refused request responds. Never waits.
    void handle(const http::refusal& refused, http::response& response) const noexcept {
        const http::request unknown;
        const http::request* known = refused.request != nullptr ? refused.request : refused.partial;
        refuse(part_of(known != nullptr ? *known : unknown), refused, response);
    }

    /// Responds to a refusal as the last part does. Never waits.
    void refuse(const http::refusal& refused, http::response& response) const noexcept { refuse(*parts_.back(), refused, response); }

    /// Returns true if a request may have to wait.
    [[nodiscard]] bool may_block() const noexcept {
        return policies_.limiter().may_block() ||
               std::any_of(parts_.begin(), parts_.end(), [](const part* each) { return each->may_block(); });
    }

private:
    http::handle_step advance(const http::request& request, http::response& response, request_state& state,
                              http::thread_kind thread) const noexcept {
        if (state.next == stage::head && !settings_.allowed_hosts.allows(request)) {
            // This server has no pages for the host.
            refuse({http::status::misdirected_request, "This server does not serve the requested host.", request.peer, request.secure,
                    &request},
                   response);
            return http::handle_step::done;
        }
        auto next = http::handle_step::done;
        row_call call{request, response, state, policies_, http::thread_kind::io};
        const request_scope scope{request, state.start.id};
        respond_or_error(
            response, [&] { next = advance(call, thread); }, [&](const error& thrown) { respond_error(call, thrown); });
        return next;
    }

    /// Judges a request until its response is complete or it must wait.
    http::handle_step advance(row_call& call, http::thread_kind thread) const {
        using http::work_kind;
        request_state& state = call.state;
        // Sets whether the next function may wait for this kind of work.
        const auto waiting_for = [&](work_kind kind) { call.thread = state.waits_for == kind ? thread : http::thread_kind::io; };
        const auto wait_at = [&](stage next, work_kind kind) {
            state.next = next;
            state.waits_for = kind;
            state.has_waited = true;
            return http::handle_step::needs_worker;
        };
        for (;;) switch (state.next) {
                case stage::head: read_head(call); [[fallthrough]];
                case stage::caller:
                    if (is_caller_due(state)) {
                        const caller_rule& rule = *state.row->caller;
                        waiting_for(rule.work);
                        if (rule.find != nullptr && rule.find(call) == progress::waits) return wait_at(stage::caller, rule.work);
                        state.judged_at = call.may_wait() ? policies_.clock().now() : state.now;
                    }
                    [[fallthrough]];
                case stage::use:
                    if (state.auth.use_is_due) [[unlikely]] {
                        waiting_for(work_kind::token_uses);
                        if (state.row->caller->record_use(call) == progress::waits) return wait_at(stage::use, work_kind::token_uses);
                    }
                    [[fallthrough]];
                case stage::user:
                    if (const caller_rule* rule = state.row->caller; rule != nullptr && rule->find_user != nullptr) {
                        waiting_for(rule->user_work);
                        if (rule->find_user(call) == progress::waits) return wait_at(stage::user, rule->user_work);
                        // The look-up itself may take longer than a decision holds.
                        if (call.may_wait()) state.judged_at = policies_.clock().now();
                    }
                    [[fallthrough]];
                case stage::limit:
                    if (state.row->limit != nullptr && !state.limit && !state.is_cross_site) {
                        waiting_for(work_kind::limits);
                        if (state.row->limit->count(call) == progress::waits) return wait_at(stage::limit, work_kind::limits);
                    }
                    [[fallthrough]];
                case stage::checks:
                    if (check(call) == progress::responded) return finish(call);
                    [[fallthrough]];
                case stage::body:
                    if (const body_rule* rule = state.row->body; rule != nullptr && !state.has_body) {
                        if (rule->check(call) == progress::responded) return finish(call);
                        if (call.request.body_state == http::body_state::pending) {
                            state.next = stage::body;
                            state.has_waited = true;
                            state.body_bytes_max = state.row->body_bytes_max;
                            return http::handle_step::needs_body;
                        }
                        if (rule->read != nullptr && rule->read(call) == progress::responded) return finish(call);
                        state.has_body = true;
                        if (state.has_waited && is_outdated(state.now, policies_.clock().now())) state.now = policies_.clock().now();
                        // The one stage whose position depends on the row: a client's credentials may be in the body.
                        if (state.row->caller != nullptr && state.row->caller->in_body) {
                            state.next = stage::caller;
                            continue;
                        }
                    }
                    [[fallthrough]];
                case stage::again:
                    // The time is read only where it matters: most requests do not wait, and read it once.
                    if (state.has_waited && !state.has_acted && is_outdated(state.judged_at, policies_.clock().now())) [[unlikely]] {
                        if (state.repeated == repeated_judgements_max) return fail(call, unavailable("the request was judged too often"));
                        judge_again(call);
                        continue;
                    }
                    [[fallthrough]];
                case stage::endpoint:
                    for (const auto steps = state.row->steps; state.step < steps.size(); ++state.step) {
                        const step& next = steps[state.step];
                        waiting_for(next.work);
                        const auto done = next.run(call);
                        if (!done) return fail(call, done.error());
                        if (*done == progress::waits) return wait_at(stage::again, next.work);
                        if (*done == progress::responded) break;
                    }
                    return finish(call);
            }
    }

    /// Returns true if the credentials have arrived and have yet to be looked up.
    [[nodiscard]] static bool is_caller_due(const request_state& state) noexcept {
        if (state.row->caller == nullptr) return false;
        return state.row->caller->in_body ? state.has_body && state.auth.state == auth_state::unchecked
                                          : state.auth.state != auth_state::anonymous;
    }

    [[nodiscard]] const part& part_of(const http::request& request) const noexcept {
        for (std::size_t i = 0; i + 1 < parts_.size(); ++i)
            if (parts_[i]->serves(request)) return *parts_[i];
        return *parts_.back();
    }

    /// Finds the row, and reads the credentials that its callers send.
    void read_head(row_call& call) const {
        request_state& state = call.state;
        state.start = start_request(policies_, state.now);
        state.judged_at = state.now;
        state.client = http::client_address(call.request, settings_.trusted_proxies, settings_.client_named_by);
        state.part = &part_of(call.request);
        state.part->find_row(call);
        // A request without a User-Agent counts against its address, so its credentials are not read. It is rejected after the rate limit
        // has been checked.
        state.user_agent_accepted = accepts_user_agent(policies_.agent_rule(), call.request);
        if (!state.user_agent_accepted) return use_refused_row(state);
        // A preflight is not counted, and neither is a form of another site, so their credentials are not read either: otherwise, guesses
        // would be free.
        state.is_preflight = http::is_preflight(call.request);
        const body_rule* body = state.row->body;
        state.is_cross_site = body != nullptr && body->is_cross_site != nullptr && body->is_cross_site(call);
        if (!state.is_preflight && !state.is_cross_site && state.row->caller != nullptr) state.row->caller->read(call);
    }

    void use_refused_row(request_state& state) const {
        state.part = parts_.back();
        state.row = &refused_row;
        state.allowed = {};
        state.no_row.reset();
        state.kept.reset();  // of the part before
    }

    /// Continues at the caller, as if the request had just arrived, and then at the first step that decides.
    void judge_again(row_call& call) const {
        request_state& state = call.state;
        ++state.repeated;
        state.now = state.judged_at = policies_.clock().now();
        state.auth = {};
        if (state.row->caller != nullptr) state.row->caller->read(call);
        if (state.kept != nullptr) state.kept->forget();
        const auto decides = [](const step& each) { return each.decides; };
        const auto steps = state.row->steps;
        const auto first = static_cast<std::uint8_t>(std::find_if(steps.begin(), steps.end(), decides) - steps.begin());
        state.step = (std::min)(state.step, first);
        state.next = stage::caller;  // `waits_for` stays: the worker may still wait for it
    }

    /// The checks of what is known of the request, in this order.
    progress check(row_call& call) const {
        request_state& state = call.state;
        if (state.limit)
            if (const auto rejected = check_limit(state)) return call.reject(*rejected);
        if (!state.user_agent_accepted) return call.reject(missing_user_agent);
        if (const auto rejected = check_one_authorization(state)) return call.reject(*rejected);
        if (state.auth.failure) return write_failure(call, *state.auth.failure);
        if (state.no_row) [[unlikely]] {
            if (!state.allowed.empty()) add_allow(call.response, state.allowed);
            return call.reject(*state.no_row);
        }
        if (!state.allowed.empty()) [[unlikely]] {  // OPTIONS
            call.response.set_status(http::status::no_content);
            add_allow(call.response, state.allowed);
            return progress::responded;
        }
        if (state.is_cross_site) return call.reject(other_site);
        if (state.row->caller != nullptr && state.row->caller->in_body && !state.has_body) return progress::goes_on;
        if (const auto rejected = check_access(policies_.scope_checker(), call.row().access, call.row().resource, call.state))
            return call.reject(*rejected);
        return progress::goes_on;
    }

    /// Writes the error of an endpoint, a store or the directory: its message for the client, its cause for the observer.
    progress write_failure(row_call& call, const error& failure) const {
        call.row().form->fail(call, failure);
        if (to_number(call.response.status()) >= 500) call.observed().report(policies_, failure);
        return progress::responded;
    }
    http::handle_step fail(row_call& call, const error& failure) const {
        write_failure(call, failure);
        return finish(call);
    }

    /// Writes the response after an exception. Never waits.
    void respond_error(row_call& call, const error& thrown) const {
        if (call.state.row == nullptr) use_refused_row(call.state);  // thrown where it was looked up
        call.thread = http::thread_kind::io;
        fail(call, thrown);
    }

    http::handle_step finish(row_call& call) const {
        request_state& state = call.state;
        call.row().form->add_fields(call);
        const auto outcome = state.kept != nullptr ? state.kept->outcome() : oauth_outcome{};
        call.observed().report_end(policies_, call.response, caller_of(state), outcome);
        return http::handle_step::done;
    }

    static void refuse(const part& at, const http::refusal& refused, http::response& response) noexcept {
        write_or_status(response, refused.status, [&] { at.refuse(refused, response); });
    }

    const tollgate::policies& policies_;
    const account_service_settings& settings_;
    std::vector<const part*> parts_;
};

}  // namespace tollgate::pipeline

#endif  // TOLLGATE_PIPELINE_JUDGE_HPP

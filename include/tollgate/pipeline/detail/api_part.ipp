#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_API_PART_IPP
#define TOLLGATE_PIPELINE_DETAIL_API_PART_IPP

#include <tollgate/http/detail/cors.hpp>
#include <tollgate/http/site.hpp>
#include <tollgate/pipeline/detail/api_part.hpp>
#include <tollgate/pipeline/detail/stages.hpp>
#include <tollgate/pipeline/detail/write_rejection.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace tollgate::inline v0::pipeline {

/// What the rows of an API have in common.
struct api_rules {
    // Callers send tokens.
    static void read(row_call& call) { read_authorization(call.policies.authenticators(), call.request, call.state.auth); }
    static progress find(row_call& call) {
        const credential_source_ref& store = call.part<api_part>().store_;
        return to_progress(
            find_credential(call.policies.authenticators(), store, call.request, call.thread, call.state.now, call.state.auth));
    }
    static progress record_use(row_call& call) {
        return to_progress(record_token_use(call.part<api_part>().store_, call.thread, call.state.now, call.state.client, call.state.auth));
    }
    static progress find_user(row_call& call) {
        return to_progress(find_quota(call.part<api_part>().users_, call.thread, call.state.auth, call.state.own_quota));
    }
    static constexpr caller_rule token_callers{.work = http::work_kind::credentials,
                                               .read = &read,
                                               .find = &find,
                                               .record_use = &record_use,
                                               .user_work = http::work_kind::users,
                                               .find_user = &find_user};

    // Each request counts.
    static progress count(row_call& call) {
        const auto& settings = call.part<api_part>().definition_.settings;
        return to_progress(
            count_request(call.policies.limiter(), settings, call.state.pattern, call.request, call.thread, call.state));
    }
    static constexpr limit_rule every_request{&count};

    // Bodies are JSON; those of other methods than POST, PUT and PATCH are read and ignored.
    static progress check_json(row_call& call) { return check(call, check_body(call.request, true, call.row().body_bytes_max)); }
    static progress check_any(row_call& call) { return check(call, check_body(call.request, false, call.row().body_bytes_max)); }
    static constexpr body_rule json_body{.check = &check_json};
    static constexpr body_rule any_body{.check = &check_any};

    static void reject(row_call& call, const rejection& reason) {
        require_limit(call);
        write_rejection(call.response, reason, call.request, call.state, call.part<api_part>().definition_, call.policies.authenticators());
    }
    static void fail(row_call& call, const error& failure) {
        replace_with_error(call.response, failure, call.state, call.part<api_part>().definition_, call.policies.authenticators());
    }
    static void add_fields(row_call& call) {
        const auto& settings = call.part<api_part>().definition_.settings;
        require_limit(call);
        add_rate_limit_fields(call.response, *call.state.limit, call.observed().id());
        add_transport_security(call.response, settings.base_url);
        http::add_cors_fields(settings.cors_origins, call.request, call.response);
        if (call.state.is_preflight) allow_own_fields(call.response, call.policies.authenticators());
        const auto* caller = caller_of(call.state);
        if (call.policies.usage() != nullptr && caller != nullptr)
            call.policies.usage()->record(*caller, to_number(call.response.status()) >= 400, call.state.now);
    }
    static constexpr response_form form{&reject, &fail, &add_fields};

    /// Calls the endpoint of a route, on a worker if it has to wait.
    static result<progress> respond(row_call& call) {
        const auto& self = call.part<api_part>();
        request_state& state = call.state;
        const route& found = self.definition_.routes[state.route->route];
        const bool may_block = self.users_.may_block() || (self.store_.may_block() && found.work != http::work_kind::users);
        relocate_captures(call.request, state);
        api_call to_endpoint{self.context_, call.request, call.response, caller_of(state), state.client, state.now};
        result<void> done;
        if (may_block && !call.may_wait()) {
            auto without_waiting = found.call_without_waiting(to_endpoint, *state.route, state.route_service);
            if (!without_waiting) return progress::waits;
            done = *std::move(without_waiting);
        } else {
            done = found.call(to_endpoint, *state.route, state.route_service);
        }
        if (!done) return std::move(done).error();
        const bool has_type = !call.response.field_block().empty() && !call.response.find("Content-Type").empty();
        if (!call.response.body().empty() && !has_type) call.response.add_prepared_lines(json_field_lines);
        return progress::responded;
    }

    // Open to every origin, like the metadata of the authorization server: clients read it before they have a token.
    static result<progress> respond_metadata(row_call& call) {
        call.response.add_prepared_lines(json_field_lines);
        call.response.body() = static_cast<const protected_resource*>(call.row().data)->metadata;
        return progress::responded;
    }
    static constexpr step metadata_steps[]{{http::work_kind::other, &respond_metadata}};

private:
    static constexpr progress to_progress(bool is_done) noexcept { return is_done ? progress::goes_on : progress::waits; }
    static progress check(row_call& call, const std::optional<rejection>& rejected) {
        return rejected ? call.reject(*rejected) : progress::goes_on;
    }
    /// Every response has the fields of the limit: without a decision, those of an uncounted request.
    static void require_limit(row_call& call) {
        if (call.state.limit) [[likely]] return;
        call.state.limit = peek_or_unused(call.policies.limiter(), limit_key_of(call.state),
                                         quota_of(call.part<api_part>().definition_.settings, call.state), call.state.now);
    }
};

TOLLGATE_COLD api_part::api_part(account_service_settings&& settings, const user_directory_ref& users, const credential_source_ref& store,
                                 const hook_store_ref& hooks, tollgate::policies policies, route_table&& table)
    : definition_{std::move(settings), std::move(table), static_cast<bool>(hooks)},
      users_{users},
      store_{store},
      policies_{std::move(policies)},
      router_{policies_.make_router(definition_.patterns)},
      context_{users_, hooks, policies_.target_rule(), policies_.random(), policies_.observer(), policies_.scope_checker(),
               definition_.settings, definition_.openapi},
      may_block_{users_.may_block() || store_.may_block() || policies_.limiter().may_block()} {
    for (const authenticator_ref& each : policies_.authenticators()) may_block_ = may_block_ || each.may_block();
    unknown_row_ = {.caller = &api_rules::token_callers, .limit = &api_rules::every_request, .form = &api_rules::form};
    for (const route& each : definition_.routes) steps_.push_back({each.work, &api_rules::respond});
    for (std::size_t i = 0; i < definition_.routes.size(); ++i) {
        const route& each = definition_.routes[i];
        row& added = rows_.emplace_back(unknown_row_);
        added.pattern = each.path;
        added.body = each.reads_body ? &api_rules::json_body : &api_rules::any_body;
        added.access = each.access;
        added.resource = definition_.resource_of(i).id;
        added.body_bytes_max = each.body_bytes_max;
        added.steps = {&steps_[i], 1};
    }
    metadata_refusal_row_ = {.pattern = api_definition::resource_metadata_root, .form = &api_rules::form};
    for (const protected_resource& each : definition_.resources)
        metadata_rows_.push_back({.pattern = api_definition::resource_metadata_root,
                                  .form = &api_rules::form,
                                  .steps = api_rules::metadata_steps,
                                  .data = &each});
}

TOLLGATE_DECL bool api_part::serves(const http::request& request) const noexcept {
    // A root without a path would take the requests of all other parts, which the API follows.
    return (!definition_.root.empty() && http::detail::is_below(request.target.path, definition_.root)) ||
           definition_.find_metadata(request) != nullptr;
}

TOLLGATE_DECL void api_part::find_row(row_call& call) const {
    request_state& state = call.state;
    state.row = &unknown_row_;
    state.no_row = find_route(router_.reference, definition_.routes, definition_.settings.services, definition_.root, call.request, state);
    if (!state.route || state.route->result == route_match::kind::unknown_path) {
        const auto* resource = definition_.find_metadata(call.request);
        if (resource == nullptr) return;
        state.no_row.reset();
        const row& found = metadata_rows_[static_cast<std::size_t>(resource - definition_.resources.data())];
        return find_by_method(call, {{http::method::get, &found}}, metadata_refusal_row_);
    }
    if (call.request.target.path != "*") state.pattern = definition_.routes[state.route->route].path;
    if (state.route->result == route_match::kind::found) {
        if (!state.no_row) state.row = &rows_[state.route->route];
    } else if (!state.no_row || state.no_row->status != http::status::not_found) {
        state.allowed = state.route->allowed;
    }
}

TOLLGATE_COLD void api_part::refuse(const http::refusal& refused, http::response& response) const {
    respond_refusal(policies_, definition_.settings, definition_.documentation_url, refused, response);
}

}  // namespace tollgate::pipeline

#endif  // TOLLGATE_PIPELINE_DETAIL_API_PART_IPP

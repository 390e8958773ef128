#pragma once
#ifndef TOLLGATE_API_ACCOUNT_API_IPP
#define TOLLGATE_API_ACCOUNT_API_IPP

#include <tollgate/api/account_api.hpp>
#include <tollgate/api/detail/shapes.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/json_writer.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/pipeline/call.hpp>
#include <tollgate/pipeline/current_request.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/pipeline/detail/stages.hpp>
#include <tollgate/pipeline/detail/write_rejection.hpp>
#include <tollgate/pipeline/judge.hpp>

#include <optional>
#include <utility>

namespace tollgate::inline v0 {

/// What routes call: function objects, so that a stack trace names them.
namespace endpoints {

struct get_balance {
    static constexpr auto work = http::work_kind::users;

    result<void> operator()(api_call& call) const {
        if (write_known(call)) return {};
        const auto found = call.users().balance_of(call.caller().user);
        if (!found) return found.error();
        write(call, *found);
        return {};
    }

    std::optional<result<void>> respond_without_waiting(api_call& call) const {
        if (write_known(call)) return result<void>{};
        return std::nullopt;
    }

private:
    /// Returns true if the balance was read with the credential.
    static bool write_known(api_call& call) {
        const auto& known = call.caller().known;
        if (!known || !known->balance) return false;
        write(call, *known->balance);
        return true;
    }
    // Flattened, because it is the most frequent response: calling the functions of the writer would take longer than running them.
    [[gnu::flatten]] static void write(api_call& call, const balance& balance) {
        auto out = call.json();
        out.begin_object();
        out.member("id").integer(balance.user.value());
        out.member("balance").number(balance.amount.text());
        out.member("currency").string(balance.currency);
        out.end_object();
    }
};

/// The user's accounts at one service: a bare array.
struct list_accounts {
    static constexpr auto work = http::work_kind::users;

    result<void> operator()(api_call& call, const service& service) const {
        const auto found = call.users().accounts_of(call.caller().user, service.name);
        if (!found) return found.error();
        auto out = call.json();
        out.begin_array();
        for (const account& each : *found) {
            out.begin_object();
            out.member("id").integer(each.id.value());
            out.member("name").string(each.name);
            out.member("admin").boolean(each.admin);
            out.end_object();
        }
        out.end_array();
        return {};
    }
};

}  // namespace endpoints

TOLLGATE_COLD route_table balance_routes() {
    return route_table{
        on_get<"/user/balance">(
            needs_scope(balance_scope), endpoints::get_balance{},
            {.operation = "getBalance", .summary = "Returns the authenticated user's balance.", .success_body = shapes::balance}),
    };
}

TOLLGATE_COLD route_table account_list_routes() {
    return route_table{
        on_get<"/{service}/accounts">(
            read_of_service, endpoints::list_accounts{},
            {.operation = "listAccounts", .summary = "Lists the user's accounts at a service.", .success_body = shapes::accounts}),
    };
}

TOLLGATE_COLD account_api::account_api(account_service_settings settings, user_directory_ref users, api_store_ref store,
                                       tollgate::policies policies,
                                       route_table table)
    : definition_{std::move(settings), std::move(table), static_cast<bool>(store.hooks())},
      users_{users},
      store_{store.credentials()},
      policies_{std::move(policies)},
      router_{policies_.make_router(definition_.patterns)},
      context_{users_, store.hooks(), policies_.target_rule(), policies_.random(), policies_.observer(),
               policies_.scope_checker(), definition_.settings, definition_.openapi},
      may_block_{users_.may_block() || store_.may_block() || policies_.limiter().may_block()} {
    for (const authenticator_ref& each : policies_.authenticators()) may_block_ = may_block_ || each.may_block();
}

TOLLGATE_DECL http::handle_step account_api::judge(const http::request& request, http::response& response,
                                                   pipeline::judgement& state, http::thread_kind thread) noexcept {
    auto step = http::handle_step::done;
    const pipeline::request_scope scope{request, state.start.id};
    const pipeline::judge api_judge{definition_, users_, store_, policies_, router_.reference, context_};
    pipeline::respond_or_error(
        response, [&] { step = api_judge.advance(request, response, state, thread); },
        [&](const error& thrown) { api_judge.respond_error(thrown, request, response, state); });
    return step;
}

TOLLGATE_COLD std::vector<std::string> account_api::resource_urls() const {
    std::vector<std::string> urls;
    for (const auto& each : definition_.resources) urls.push_back(each.url);
    return urls;
}

TOLLGATE_COLD std::vector<std::string> account_api::metadata_paths() const {
    std::vector<std::string> paths;
    if (settings().has_authorization_server)
        for (const auto& each : definition_.resources) paths.push_back(each.metadata_path);
    return paths;
}

// Not counted and open to every origin, like the metadata of the authorization server: clients read it before they have a token.
TOLLGATE_COLD void account_api::write_metadata(const pipeline::protected_resource& resource, const http::request& request,
                                                 http::response& response) {
    const auto start = pipeline::start_request(policies_);
    const auto client = http::client_address(request, settings().trusted_proxies, settings().client_named_by);
    if (http::is_read(request.method)) {
        response.add_prepared_lines(pipeline::json_field_lines);
        response.body() = resource.metadata;
    } else if (const auto refused = http::refuse_method(request, response, "GET, HEAD, OPTIONS")) {
        pipeline::write_error(response, *refused, "This path does not support this method; see the Allow header.",
                              definition_.documentation_url, pipeline::about_requests);
    }
    const auto now = policies_.clock().now();
    const auto limit = pipeline::peek_or_unused(policies_.limiter(), limit_key::of(client), settings().anonymous_quota, now);
    const pipeline::observed_request observation{start, request, client, pipeline::api_definition::resource_metadata_root};
    pipeline::add_rate_limit_fields(response, limit, observation.id());
    pipeline::add_transport_security(response, settings().base_url);
    http::add_cors_fields(settings().cors_origins, request, response);
    observation.report_end(policies_, response, nullptr);
}

inline bool account_api::respond_metadata(const http::request& request, http::response& response) noexcept {
    const auto* resource = definition_.find_metadata(request);
    if (resource == nullptr || !pipeline::accepts_user_agent(policies_.agent_rule(), request)) return false;
    pipeline::write_or_status(response, http::status::internal_server_error, [&] { write_metadata(*resource, request, response); });
    return true;
}

TOLLGATE_DECL http::handle_step account_api::advance(const http::request& request, http::response& response, http::handler_state& state,
                                                     http::thread_kind thread) noexcept {
    auto& judged = state.get<pipeline::judgement>();
    if (judged.next == pipeline::stage::head && respond_metadata(request, response)) return http::handle_step::done;
    if (judged.next == pipeline::stage::head) judged.now = state.time_by(policies_.clock());
    const http::handle_step step = judge(request, response, judged, thread);
    state.set_waits_for(judged.waits_for);
    state.set_body_bytes_max(judged.body_bytes_max);
    return step;
}

TOLLGATE_DECL void account_api::handle(const http::request& request, http::response& response) noexcept {
    if (respond_metadata(request, response)) return;
    pipeline::judgement state;
    state.now = policies_.clock().now();
    // This thread may wait for everything.
    while (judge(request, response, state, http::thread_kind::worker) == http::handle_step::needs_worker) {}
}

TOLLGATE_COLD void account_api::handle(const http::refusal& refusal, http::response& response) noexcept {
    pipeline::write_or_status(response, refusal.status, [&] {
        pipeline::respond_refusal(policies_, definition_.settings, definition_.documentation_url, refusal, response);
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_API_ACCOUNT_API_IPP

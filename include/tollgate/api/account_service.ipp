#pragma once
#ifndef TOLLGATE_API_ACCOUNT_SERVICE_IPP
#define TOLLGATE_API_ACCOUNT_SERVICE_IPP

#include <tollgate/api/account_service.hpp>
#include <tollgate/http/site.hpp>
#include <tollgate/manual/documentation.hpp>
#include <tollgate/pipeline/judge.hpp>

#include <algorithm>
#include <utility>

namespace tollgate::inline v0 {

namespace service_detail {

/// What all parts use.
[[nodiscard]] inline account_service_settings complete(account_service_settings settings, bool has_authorization_server) {
    settings = with_auth_url(std::move(settings));
    if (settings.documentation_url.empty()) settings.documentation_url = settings.auth_url + "/docs/";
    settings.has_authorization_server = has_authorization_server;
    return settings;
}

/// The routes of a service: those of the user, or all that the store can serve.
[[nodiscard]] inline route_table routes_of(std::optional<route_table> table, const api_store_ref& store) {
    if (table) return *std::move(table);
    if (store.hooks()) return account_routes();
    return balance_routes() + account_list_routes() + demonstration_routes() + openapi_routes();
}

/// The policies of a service with pages, which show the counts. A limiter that may block is shared by several nodes, each of which would
/// count only its own requests.
[[nodiscard]] inline policies with_counts(policies given) {
    if (given.usage() != nullptr || given.limiter().may_block()) return given;
    return std::move(given).with_usage_counts();
}

[[nodiscard]] inline bool asks_for_page(const http::refusal& refused) noexcept {
    const auto* known = refused.request != nullptr ? refused.request : refused.partial;
    return known != nullptr && known->fields.find("Accept").find("text/html") != std::string_view::npos;
}

}  // namespace service_detail

TOLLGATE_COLD account_service::account_service(account_service_settings settings, user_directory_ref users, api_store_ref store,
                                               tollgate::policies policies, std::optional<route_table> table)
    : api_{service_detail::complete(std::move(settings), false), users, store, std::move(policies),
           service_detail::routes_of(std::move(table), store)} {
    add_documentation();
    for (const std::string_view each : {"OAuth", "pages"}) parts_.push_back({each, false, "the service has no sessions"});
    finish();
}

TOLLGATE_COLD account_service::account_service(const account_service_settings& settings, user_directory_ref users, api_store_ref store,
                                               tollgate::policies policies, std::optional<route_table> table, mount_function mount,
                                               const service_detail::session_parts& session_parts)
    : api_{service_detail::complete(settings, static_cast<bool>(session_parts.applications)), users, store,
           session_parts.store ? service_detail::with_counts(std::move(policies)) : std::move(policies),
           service_detail::routes_of(std::move(table), store)} {
    mount(*this, session_parts);
    finish();
}

TOLLGATE_COLD account_service::~account_service() {
    judge_.reset();
    while (!handlers_.empty()) handlers_.pop_back();
}

TOLLGATE_COLD void account_service::add_documentation() {
    const auto documentation = std::make_shared<api_documentation>(api_.settings(), api_.table(), api_.policies());
    handlers_.push_back(documentation);
    judged_.push_back(&documentation->part());
    parts_.push_back({"API", true});
    parts_.push_back({"documentation", true});
    const auto needs_hooks = [](const route& each) { return each.needs_hooks; };
    const bool has_webhooks = std::any_of(api_.table().begin(), api_.table().end(), needs_hooks);
    parts_.push_back({"webhooks", has_webhooks, has_webhooks ? "" : "the store is no hook_store, or the table has no routes of webhooks"});
    paths_.emplace_back(api_.root());
    for (auto& each : api_.metadata_paths()) paths_.push_back(std::move(each));
    paths_.push_back(documentation->root());
}

// The API is first, because most requests are for it, and last, because it also has the paths that no part serves.
TOLLGATE_COLD void account_service::finish() {
    judged_.insert(judged_.begin(), &api_.part());
    judged_.push_back(&api_.part());
    judge_ = std::make_unique<pipeline::judge>(api_.policies(), std::move(judged_));
}

TOLLGATE_DECL bool account_service::may_block() const noexcept { return judge_->may_block(); }

TOLLGATE_DECL void account_service::handle(const http::request& request, http::response& response) noexcept {
    judge_->handle(request, response);
}

TOLLGATE_COLD void account_service::handle(const http::refusal& refused, http::response& response) noexcept {
    // Most programs that send malformed requests name `/`; a browser that does gets a page.
    const bool is_at_home =
        refused.path() == "/" && refused.status != http::status::uri_too_long && !service_detail::asks_for_page(refused);
    if (is_at_home) judge_->refuse(refused, response);
    else judge_->handle(refused, response);
}

TOLLGATE_DECL http::handle_step account_service::advance(const http::request& request, http::response& response,
                                                         http::handler_state& state, http::thread_kind thread) noexcept {
    return judge_->advance(request, response, state, thread);
}

}  // namespace tollgate

#endif  // TOLLGATE_API_ACCOUNT_SERVICE_IPP

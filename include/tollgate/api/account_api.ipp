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
#include <tollgate/pipeline/detail/api_part.hpp>
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
                                       tollgate::policies policies, route_table table)
    : part_{std::make_unique<pipeline::api_part>(std::move(settings), users, store.credentials(), store.hooks(), std::move(policies),
                                                 std::move(table))},
      judge_{std::make_unique<pipeline::judge>(part_->policies(), std::vector<const pipeline::part*>{part_.get()})} {}

TOLLGATE_COLD account_api::~account_api() = default;

TOLLGATE_DECL bool account_api::may_block() const noexcept { return part_->may_block(); }

TOLLGATE_DECL void account_api::handle(const http::request& request, http::response& response) noexcept {
    judge_->handle(request, response);
}

TOLLGATE_COLD void account_api::handle(const http::refusal& refusal, http::response& response) noexcept {
    judge_->handle(refusal, response);
}

TOLLGATE_DECL http::handle_step account_api::advance(const http::request& request, http::response& response, http::handler_state& state,
                                                     http::thread_kind thread) noexcept {
    return judge_->advance(request, response, state, thread);
}

TOLLGATE_DECL const std::string& account_api::openapi() const noexcept { return part_->definition().openapi; }
TOLLGATE_DECL const tollgate::policies& account_api::policies() const noexcept { return part_->policies(); }
TOLLGATE_DECL const account_service_settings& account_api::settings() const noexcept { return part_->definition().settings; }
TOLLGATE_DECL const route_table& account_api::table() const noexcept { return part_->definition().routes; }
TOLLGATE_DECL std::string_view account_api::root() const noexcept { return part_->definition().root; }
TOLLGATE_DECL const pipeline::part& account_api::part() const noexcept { return *part_; }

TOLLGATE_COLD std::vector<std::string> account_api::resource_urls() const {
    std::vector<std::string> urls;
    for (const auto& each : part_->definition().resources) urls.push_back(each.url);
    return urls;
}

TOLLGATE_COLD std::vector<std::string> account_api::metadata_paths() const {
    std::vector<std::string> paths;
    if (settings().has_authorization_server)
        for (const auto& each : part_->definition().resources) paths.push_back(each.metadata_path);
    return paths;
}

}  // namespace tollgate

#endif  // TOLLGATE_API_ACCOUNT_API_IPP

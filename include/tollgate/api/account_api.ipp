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

    bool respond_from_cache(api_call& call) const {
        if (write_known(call)) return true;
        const auto cached = call.users().cached_balance_of(call.caller().user);
        if (!cached.is_hit()) return false;
        write(call, *cached);
        return true;
    }

private:
    /// Whether the balance was read with the credential.
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

}  // namespace tollgate

#endif  // TOLLGATE_API_ACCOUNT_API_IPP

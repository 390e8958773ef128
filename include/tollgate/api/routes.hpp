#pragma once

#include <tollgate/api/detail/endpoints.hpp>
#include <tollgate/api/detail/hook_endpoints.hpp>
#include <tollgate/api/detail/shapes.hpp>
#include <tollgate/pipeline/route_table.hpp>

namespace tollgate::inline v0 {

/// THE TABLE: method, path, who may call it, and what is called. Each endpoint gets only what it needs of the call.
[[nodiscard]] inline auto account_routes() {
    return route_table{
        on_get<"/user/balance">(
            needs_scope(balance_scope),
            balance_endpoint{},
            {.operation = "getBalance", .summary = "What the authenticated user has.", .success_body = shapes::balance}),

        on_get<"/{service}/accounts">(
            read_of_service,
            [](auto& call, const service& at) { return list_accounts(call.users(), call.who().user, at, call.json()); },
            {.operation = "listAccounts", .summary = "The user's accounts at a service.", .success_body = shapes::accounts}),

        on_get<"/{service}/{account}/hooks">(
            read_of_service,
            [](auto& call, const service& at, account_id of) {
                return list_hooks(call.users(), call.store(), call.who().user, {at.name, of}, call.json());
            },
            {.operation = "listHooks", .summary = "The webhooks of an account.", .success_body = shapes::hooks}),

        on_post<"/{service}/{account}/hooks">(
            read_of_service,
            [](auto& call, const service& at, account_id of) {
                return create_hook(call.users(), call.store(), call.target_rule(), call.random(), call.who().user, at, of,
                                   call.body(), call.now(), call.settings().hooks_per_event_max, call.answer());
            },
            {.operation = "createHook",
             .summary = "A new webhook; its signing secret comes in the X-Hook-Secret header.",
             .success_status = 201,
             .success_body = shapes::created_hook,
             .success_field = "X-Hook-Secret",
             .request_body = shapes::new_hook}),

        on_delete<"/{service}/hooks/{hook}">(
            read_of_service,
            [](auto& call, const service& at, hook_id which) {
                return delete_hook(call.users(), call.store(), call.who().user, at, which, call.answer());
            },
            {.operation = "deleteHook", .summary = "Removes a webhook.", .success_status = 204}),

        on_get<"/testservice/get">(
            open_to_all,
            [](auto& call) { return show_strings({"hello", "from", "get"}, call.json()); },
            {.operation = "tryGet", .summary = "Answers anybody.", .success_body = shapes::strings}),

        on_get<"/testservice/auth">(
            any_caller,
            [](auto& call) { return show_strings({"hello", "authenticated", "caller"}, call.json()); },
            {.operation = "tryAuthentication", .summary = "Answers whoever has good credentials.", .success_body = shapes::strings}),

        on_post<"/testservice/post">(
            open_to_all,
            [](auto& call) -> result<void> {
                if (!call.asked().body.empty())
                    if (const auto body = call.body(); !body) return body.error();
                return show_strings({"hello", "from", "post"}, call.json());
            },
            {.operation = "tryPost",
             .summary = "Answers anybody; a body is read, and ignored.",
             .success_body = shapes::strings,
             .request_body = shapes::any_object}),

        on_get<"/openapi.json">(
            open_to_all,
            [](auto& call) -> result<void> {
                call.answer().body() = call.openapi();
                return {};
            },
            {.operation = "getOpenApi", .summary = "This description, in OpenAPI 3.1.", .success_body = shapes::any_object}),
    };
}

}  // namespace tollgate

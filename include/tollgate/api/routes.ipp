#pragma once

#include <tollgate/api/detail/endpoints.hpp>
#include <tollgate/api/detail/openapi.hpp>
#include <tollgate/api/detail/shapes.hpp>
#include <tollgate/api/routes.hpp>

#include <utility>

namespace tollgate::inline v0 {

// The route table: method, path, who may call it, and what is called.

TOLLGATE_DECL route_table hook_routes() {
    return route_table{
        on_get<"/{service}/{account}/hooks">(
            read_of_service, endpoints::list_hooks{},
            {.operation = "listHooks", .summary = "Lists the webhooks of an account.", .success_body = shapes::hooks}),

        on_post<"/{service}/{account}/hooks">(
            read_of_service, endpoints::create_hook{},
            {.operation = "createHook",
             .summary = "Creates a webhook. Its signing secret is in the X-Hook-Secret response header.",
             .success_status = http::status::created,
             .success_body = shapes::created_hook,
             .success_field = "X-Hook-Secret",
             .request_body = shapes::new_hook}),

        on_delete<"/{service}/hooks/{hook}">(
            read_of_service, endpoints::delete_hook{},
            {.operation = "deleteHook", .summary = "Deletes a webhook.", .success_status = http::status::no_content}),
    };
}

TOLLGATE_DECL route_table demonstration_routes() {
    return route_table{
        on_get<"/testservice/get">(
            open_to_all, endpoints::try_get{},
            {.operation = "tryGet", .summary = "Responds without credentials.", .success_body = shapes::greeting_from_get}),

        on_get<"/testservice/auth">(
            any_caller, endpoints::try_authentication{},
            {.operation = "tryAuthentication",
             .summary = "Responds to any valid credentials.",
             .success_body = shapes::greeting_of_caller}),

        on_post<"/testservice/post">(
            open_to_all, endpoints::try_post{},
            {.operation = "tryPost",
             .summary = "Responds without credentials. A JSON body is accepted and ignored.",
             .success_body = shapes::greeting_from_post,
             .request_body = shapes::any_object,
             .request_body_required = false}),
    };
}

TOLLGATE_DECL route_table openapi_routes() {
    auto entry = on_get<"/openapi.json">(
        open_to_all, endpoints::get_openapi{},
        {.operation = "getOpenApi", .summary = "Returns this description in OpenAPI 3.1.", .success_body = shapes::any_object});
    entry.row.describe = make_openapi;
    return route_table{std::move(entry)};
}

TOLLGATE_DECL route_table account_routes() {
    return balance_routes() + account_list_routes() + hook_routes() + demonstration_routes() + openapi_routes();
}

}  // namespace tollgate

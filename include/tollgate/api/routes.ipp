#pragma once
#ifndef TOLLGATE_API_ROUTES_IPP
#define TOLLGATE_API_ROUTES_IPP

#include <tollgate/account/issue_hook.hpp>
#include <tollgate/api/detail/openapi.hpp>
#include <tollgate/api/detail/shapes.hpp>
#include <tollgate/api/routes.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/http/json_body.hpp>
#include <tollgate/http/json_writer.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/pipeline/call.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace tollgate::inline v0 {

namespace endpoints {

/// The account's hooks: a bare array.
struct list_hooks {
    static constexpr bool needs_hooks = true;

    result<void> operator()(api_call& call, const service& service, account_id id) const {
        const account_ref account{service.name, id};
        if (auto owned = require_account(call.users(), call.caller().user, account); !owned) return owned;
        const auto found = call.hooks().hooks_of(account);
        if (!found) return found.error();
        auto out = call.json();
        out.begin_array();
        for (const hook& each : *found) {
            out.begin_object();
            out.member("id").integer(each.id.value());
            out.member("event").string(each.event);
            out.member("source").string(to_text(each.source));
            out.member("type").string(each.type);
            out.member("url").string(each.target_url);
            out.member("date_created").string(to_iso8601(each.created_at).view());
            out.end_object();
        }
        out.end_array();
        return {};
    }
};

/// A member that must be a string; 422 otherwise, and the message names it.
[[nodiscard]] inline result<std::string_view> required_text(const http::json_object& body, std::string_view name) {
    const auto* member = body.find(name);
    if (member == nullptr) return invalid(std::string{name} + " is missing.");
    if (member->kind != http::json_kind::text) return invalid(std::string{name} + " must be a string.");
    return std::string_view{member->value};
}

/// The hook's secret is in `X-Hook-Secret` of this response and in no other.
struct create_hook {
    static constexpr bool needs_hooks = true;

    result<void> operator()(api_call& call, const service& service, account_id id) const {
        const account_ref account{service.name, id};
        const auto body = http::parse_json_object(call.request().body);
        if (!body) return body.error();
        if (auto owned = require_account(call.users(), call.caller().user, account); !owned) return owned;
        const auto event = required_text(*body, "event");
        if (!event) return event.error();
        if (auto known = detail::check_hook_event(service, *event); !known) return known;  // before a missing target_url
        const auto target_url = required_text(*body, "target_url");
        if (!target_url) return target_url.error();

        const auto hook = issue_hook(call.hooks(), call.settings().services,
                                     {.account = account,
                                      .event = std::string{*event},
                                      .target_url = std::string{*target_url},
                                      .source = hook_source::api},
                                     call.now(), call.target_rule(), call.random(), call.settings().hooks_per_event_max);
        if (!hook) return hook.error();
        call.report(activity_kind::hook_created, std::to_string(hook->id.value()));

        call.response().set_status(http::status::created);
        if (const auto value = http::field_value::from(hook->secret)) call.response().add("X-Hook-Secret", *value);
        auto out = call.json();
        out.begin_object();
        out.member("id").integer(hook->id.value());
        out.end_object();
        return {};
    }
};

/// 404 for a hook of an account that is not the user's; it is not deleted.
struct delete_hook {
    static constexpr bool needs_hooks = true;

    result<void> operator()(api_call& call, const service& service, hook_id id) const {
        const auto owner = call.hooks().account_of_hook(service.name, id);
        if (!owner) return owner.error();
        if (!*owner) return not_found();
        if (auto owned = require_account(call.users(), call.caller().user, **owner); !owned) return owned;
        const auto deleted = call.hooks().delete_hook(**owner, id);
        if (!deleted) return deleted.error();
        if (!*deleted) return not_found();
        call.report(activity_kind::hook_deleted, std::to_string(id.value()));
        call.response().set_status(http::status::no_content);
        return {};
    }
};

inline result<void> write_strings(api_call& call, std::initializer_list<std::string_view> strings) {
    auto out = call.json();
    out.begin_array();
    for (const auto each : strings) out.string(each);
    out.end_array();
    return {};
}

struct try_get {
    static constexpr bool blocking = false;
    result<void> operator()(api_call& call) const { return write_strings(call, {"hello", "from", "get"}); }
};

struct try_authentication {
    static constexpr bool blocking = false;
    result<void> operator()(api_call& call) const { return write_strings(call, {"hello", "authenticated", "caller"}); }
};

/// A body is checked and then ignored.
struct try_post {
    static constexpr bool blocking = false;
    result<void> operator()(api_call& call) const {
        if (!call.request().body.empty())
            if (const auto body = http::parse_json_object(call.request().body); !body) return body.error();
        return write_strings(call, {"hello", "from", "post"});
    }
};

struct get_openapi {
    static constexpr bool blocking = false;
    result<void> operator()(api_call& call) const {
        call.response().body() = call.openapi();
        return {};
    }
};

}  // namespace endpoints

TOLLGATE_COLD route_table hook_routes() {
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

TOLLGATE_COLD route_table demonstration_routes() {
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

TOLLGATE_COLD route_table openapi_routes() {
    auto entry = on_get<"/openapi.json">(
        open_to_all, endpoints::get_openapi{},
        {.operation = "getOpenApi", .summary = "Returns this description in OpenAPI 3.1.", .success_body = shapes::any_object});
    entry.row.describe = detail::make_openapi;
    return route_table{std::move(entry)};
}

TOLLGATE_COLD route_table account_routes() {
    return balance_routes() + account_list_routes() + hook_routes() + demonstration_routes() + openapi_routes();
}

}  // namespace tollgate

#endif  // TOLLGATE_API_ROUTES_IPP

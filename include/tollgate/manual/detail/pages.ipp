#pragma once
#ifndef TOLLGATE_MANUAL_DETAIL_PAGES_IPP
#define TOLLGATE_MANUAL_DETAIL_PAGES_IPP

#include <tollgate/account/issue_hook.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/manual/detail/api_html.ipp>
#include <tollgate/manual/detail/describe.hpp>
#include <tollgate/manual/detail/oauth_html.ipp>
#include <tollgate/manual/detail/pages.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>

#include <chrono>
#include <utility>

// The values that the templates name.
namespace tollgate::inline v0::manual {

namespace detail {

struct page_entry {
    std::string_view path;
    std::string_view title;
    std::string_view summary;  // on the overview
    page_template content;
    bool needs_oauth = false;
};

// In the order of the navigation. Error objects link to the paths of `pipeline::topic` and to `oauth/`.
inline constexpr page_entry page_entries[] = {
    {"", "Overview", "What the API does, and a first request.", overview_page},
    {"requests/", "Requests", "URLs, header fields, bodies and formats.", requests_page},
    {"authentication/", "Authentication", "Personal API tokens and OAuth access tokens.", authentication_page},
    {"oauth/", "OAuth", "How users grant an application access.", oauth_page, true},
    {"scopes/", "Scopes", "What a token is allowed to do.", scopes_page},
    {"rate-limits/", "Rate limits", "How many requests you can send, and how to track them.", rate_limits_page},
    {"errors/", "Errors", "Status codes and how to handle them.", errors_page},
    {"webhooks/", "Webhooks", "Creating, listing, deleting and receiving webhooks.", webhooks_page},
    {"endpoints/", "Endpoints", "All paths with parameters and examples.", endpoints_page},
};

template <class Texts>
[[nodiscard]] std::vector<template_values> list_of(std::string_view name, const Texts& texts) {
    std::vector<template_values> list;
    for (const auto& each : texts) list.push_back(template_values{}.set(name, each));
    return list;
}

[[nodiscard]] inline std::vector<template_values> values_of(const std::vector<service>& services) {
    std::vector<template_values> list;
    for (const service& each : services) {
        std::vector<template_values> own_scopes;
        for (const service_scope& own : each.own_scopes)
            own_scopes.push_back(template_values{}.set("scope", own.name).set("text", own.text));
        list.push_back(template_values{}
                           .set("service", each.name.view())
                           .set("read_scope", each.read_scope)
                           .set("write_scope", each.write_scope)
                           .set_list("own_scopes", std::move(own_scopes))
                           .set_list("events", list_of("event", each.events)));
    }
    return list;
}

[[nodiscard]] inline std::vector<template_values> values_of(const std::vector<route::parameter>& parameters) {
    using kind = route::parameter_kind;
    std::vector<template_values> list;
    for (const auto& each : parameters)
        list.push_back(template_values{}
                           .set("name", each.name)
                           .set_flag("is_service", each.kind == kind::service)
                           .set_flag("is_id", each.kind == kind::id)
                           .set_flag("is_integer", each.kind == kind::integer)
                           .set_flag("is_text", each.kind == kind::text)
                           .set("minimum", each.minimum == INT64_MIN ? "" : std::to_string(each.minimum))
                           .set("maximum", each.maximum == INT64_MAX ? "" : std::to_string(each.maximum)));
    return list;
}

[[nodiscard]] inline std::string_view scope_of(const access_rule& access) noexcept {
    switch (access.callers) {
        case access_rule::kind::scope: return access.scope;
        case access_rule::kind::service_read: return "{service}:read";
        case access_rule::kind::service_write: return "{service}";
        default: return {};
    }
}

[[nodiscard]] inline template_values values_of(const route& route, const service_catalog& services) {
    const auto method = http::to_text(route.method);
    const route_notes& notes = route.notes;
    const bool is_open = route.access.callers == access_rule::kind::open;
    return template_values{}
        .set("method", method)
        .set("method_class", lower_case(method))
        .set("changing_method", route.method == http::method::get ? "" : method)
        .set("path", route.path)
        .set("sample_path", sample_path(route, services))
        .set("anchor", anchor_of(route))
        .set("summary", notes.summary)
        .set("scope", scope_of(route.access))
        .set("callers", is_open ? "nothing" : "any valid credentials")
        .set_flag("needs_credentials", !is_open)
        .set_list("path_parameters", values_of(route.parameters))
        .set_list("query_parameters", values_of(route.query_parameters))
        .set("request_example", fill_example(notes.request_body, services))
        .set("status", std::to_string(http::to_number(notes.success_status)))
        .set("reason", http::to_reason(notes.success_status))
        .set("success_field", notes.success_field)
        .set("success_example", fill_example(notes.success_body, services));
}

/// The values of the routes for which `matches` is true, at most `count_max`.
template <class Matches>
[[nodiscard]] std::vector<template_values> values_of(const route_table& routes, const service_catalog& services, std::size_t count_max,
                                                     Matches&& matches) {
    std::vector<template_values> list;
    for (const route& each : routes)
        if (list.size() < count_max && matches(each)) list.push_back(values_of(each, services));
    return list;
}

/// Returns true if a program can request the path as it is.
[[nodiscard]] inline bool is_plain_get(const route& route) noexcept {
    return route.method == http::method::get && route.parameters.empty();
}

[[nodiscard]] inline bool is_openapi(const route& route) noexcept { return route.path == "/openapi.json"; }

inline void set_routes(template_values& values, const account_service_settings& settings, const route_table& routes) {
    const auto select = [&](std::size_t count_max, auto matches) { return values_of(routes, settings.services, count_max, matches); };
    const auto all = static_cast<std::size_t>(-1);
    values.set_list("routes", select(all, [](const route&) { return true; }));
    values.set_list("hook_routes", select(all, [](const route& each) { return each.path.find("/hooks") != std::string_view::npos; }));

    // Examples.
    const auto first = [&](access_rule::kind callers) {
        return select(1, [=](const route& each) { return each.access.callers == callers && is_plain_get(each) && !is_openapi(each); });
    };
    values.set_list("first_open_route", first(access_rule::kind::open));
    values.set_list("first_scope_route", first(access_rule::kind::scope));
    std::string_view own_path;
    for (const route& each : routes)
        if (own_path.empty() && each.access.callers != access_rule::kind::open && is_plain_get(each)) own_path = each.path;
    values.set("first_own_url", settings.base_url + std::string{own_path});
    values.set_flag("has_openapi", !select(1, is_openapi).empty());
}

inline void set_oauth(template_values& values, const oauth_settings& oauth) {
    values.set_list("one_page_services", list_of("service", oauth.one_page_services))
        .set_flag("rotates_all_refresh_tokens", oauth.rotates_all_refresh_tokens)
        .set_flag("registers_applications", oauth.registration != dynamic_registration::off)
        .set_flag("reads_client_documents", static_cast<bool>(oauth.fetch_client_document))
        .set("access_token_seconds", std::to_string(oauth.access_token_lifetime.count()))
        .set("access_token_lifetime", describe_duration(oauth.access_token_lifetime))
        .set("code_lifetime", describe_duration(oauth.code_lifetime))
        .set("refresh_token_lifetime", describe_duration(oauth.refresh_token_lifetime))
        .set("refresh_token_end", describe_duration(oauth.refresh_token_end))
        .set("rotation_grace", describe_duration(oauth.rotation_grace))
        .set("device_code_lifetime", describe_duration(oauth.device_code_lifetime))
        .set("device_poll_interval", describe_duration(oauth.device_poll_interval));
}

}  // namespace detail

TOLLGATE_COLD page_writer::page_writer(const account_service_settings& settings, const route_table& routes, std::string_view root)
    : has_oauth_{settings.has_authorization_server} {
    const auto in_seconds = [](auto duration) { return describe_duration(std::chrono::floor<seconds>(duration)); };
    site_.set("root", root)
        .set("base_url", settings.base_url)
        .set("auth_url", settings.auth_url)
        .set("errors_url", pipeline::topic_url(documentation_url_of(settings), pipeline::about_errors))
        .set_flag("has_oauth", has_oauth_)
        .set_list("services", detail::values_of(settings.services.services()))
        .set("balance_scope", balance_scope)
        .set("user_quota", describe(settings.user_quota))
        .set("anonymous_quota", describe(settings.anonymous_quota))
        .set("anonymous_requests", std::to_string(settings.anonymous_quota.requests))
        .set("body_kibibytes", std::to_string(limits::body_bytes_default / 1024))
        .set("json_depth_max", std::to_string(limits::json_depth_max))
        .set("hooks_per_event_max", std::to_string(settings.hooks_per_event_max))
        .set("target_url_bytes_max", std::to_string(limits::target_url_bytes_max))
        .set("secret_overlap", in_seconds(hook_secret_overlap))
        .set("attempt_timeout", in_seconds(default_attempt_timeout))
        .set("disabled_after", in_seconds(default_disable_after))
        .set_template("route_access", route_access)
        .set_template("route_example", route_example)
        .set_template("parameter_value", parameter_value);
    detail::set_routes(site_, settings, routes);
    if (has_oauth_) detail::set_oauth(site_, settings.oauth);
}

TOLLGATE_COLD std::vector<page_writer::page> page_writer::write_all() const {
    std::vector<page> pages;
    for (const auto& each : detail::page_entries)
        if (has_oauth_ || !each.needs_oauth)
            pages.push_back({each.path, write(each.content, each.path, template_values{}.set("title", each.title))});
    return pages;
}

TOLLGATE_COLD std::string page_writer::write_error(std::string_view title, std::string_view explanation) const {
    return write(error_page, "-", template_values{}.set("title", title).set("explanation", explanation));
}

TOLLGATE_COLD std::string page_writer::write(page_template content, std::string_view path, template_values values) const {
    std::vector<template_values> pages;
    for (const auto& each : detail::page_entries)
        if (has_oauth_ || !each.needs_oauth)
            pages.push_back(template_values{}
                                .set("path", each.path)
                                .set("title", each.title)
                                .set("summary", each.summary)
                                .set_flag("is_current", each.path == path));
    values.set_list("pages", std::move(pages)).set_template("content", content);
    std::string html;
    fill(layout, values, site_, html);
    return html;
}

}  // namespace tollgate::manual

#endif  // TOLLGATE_MANUAL_DETAIL_PAGES_IPP

#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_API_DEFINITION_IPP
#define TOLLGATE_PIPELINE_DETAIL_API_DEFINITION_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/http/json_writer.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/model/detail/quota_settings.hpp>
#include <tollgate/pipeline/detail/api_definition.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace tollgate::inline v0::pipeline {

/// What a router is built from. Throws std::invalid_argument for two routes with the same method and path, which a sum of tables may have,
/// and for a route that could never succeed: it needs a scope that no service declares, or webhooks although the store has none.
[[nodiscard]] inline std::vector<route_pattern> patterns_of(const route_table& table, const service_catalog& services, bool has_hooks) {
    std::vector<route_pattern> patterns;
    for (const route& each : table) {
        const auto refuse = [&each](std::string_view before, std::string_view behind) {
            throw std::invalid_argument{detail::concat({"tollgate: ", before, http::to_text(each.method), " ", each.path, behind})};
        };
        for (const auto& other : patterns)
            if (route_key(other.method, other.path) == route_key(each.method, each.path)) refuse("two routes for ", {});
        if (each.access.callers == access_rule::kind::scope && !services.has_scope(each.access.scope))
            refuse({}, detail::concat({" needs the scope '", each.access.scope, "', which no service of the settings declares"}));
        if (each.needs_hooks && !has_hooks) refuse({}, " needs a hook_store; read tollgate/contract/hook_store.hpp");
        patterns.push_back({each.method, each.path});
    }
    return patterns;
}

TOLLGATE_COLD api_definition::api_definition(account_service_settings&& configured, route_table&& table, bool has_hook_store)
    : settings{with_auth_url(std::move(configured))}, routes{std::move(table)}, patterns{patterns_of(routes, settings.services,
                             has_hook_store)} {
    // Paths are appended to them.
    detail::remove_final_slashes(settings.base_url);
    root = http::url::root(settings.base_url, "base_url").path;
    static_cast<void>(http::url::root(settings.auth_url, "auth_url"));
    detail::require_windows("API", {{"anonymous_quota", settings.anonymous_quota}, {"user_quota", settings.user_quota}});
    documentation_url = documentation_url_of(settings);
    add_resources();
    for (const route& each : routes)
        if (each.describe != nullptr) openapi = each.describe(settings, routes);
}

/// The metadata of a protected resource (RFC 9728 section 2): a JSON object.
[[nodiscard]] inline std::string make_resource_metadata(const account_service_settings& settings, std::string_view url,
                                                        const std::vector<std::string>& scopes) {
    std::string text;
    http::json_writer json{text};
    json.begin_object();
    json.member("resource").string(url);
    json.member("authorization_servers").begin_array().string(settings.auth_url).end_array();
    json.member("scopes_supported").begin_array();
    for (const auto& each : scopes) json.string(each);
    json.end_array();
    json.member("bearer_methods_supported").begin_array().string("header").end_array();
    if (!settings.documentation_url.empty()) json.member("resource_documentation").string(settings.documentation_url);
    json.end_object();
    return text;
}

TOLLGATE_COLD void api_definition::add_resource(const std::string& path, std::string_view scopes) {
    protected_resource added{.path = path,
                             .url = settings.base_url + path,
                             .id = resource_id_of(http::url::root(settings.base_url, "base_url").origin() + root + path),
                             .metadata_path = std::string{resource_metadata_root}.append(root).append(path),
                             .challenge = {},
                             .metadata = {}};
    for (const auto& each : resources)
        if (each.id == added.id) throw std::invalid_argument{"tollgate: two resources have the URL " + added.url};
    if (settings.has_authorization_server) {
        const auto origin = settings.base_url.substr(0, settings.base_url.size() - root.size());
        added.challenge = detail::concat({", resource_metadata=\"", origin, added.metadata_path, "\""});
        std::vector<std::string> names;
        const auto add_scope = [&](std::string_view scope) {
            if (std::find(names.begin(), names.end(), scope) == names.end()) names.emplace_back(scope);
        };
        if (!path.empty()) {
            const auto parsed = scope_set::parse(scopes);
            if (!parsed || !parsed->for_each([&](std::string_view each) { return settings.services.has_scope(each); }))
                throw std::invalid_argument{detail::concat({"tollgate: the resource ", path, " names an unknown scope: ", scopes})};
            for (const route& each : routes)
                if (each.resource == path && each.access.callers == access_rule::kind::scope && scopes.empty())
                    add_scope(each.access.scope);
            parsed->for_each([&](std::string_view each) { return add_scope(each), true; });
        }
        if (names.empty())
            for (const auto& each : settings.services.scopes()) add_scope(each);
        added.metadata = make_resource_metadata(settings, added.url, names);
    }
    resources.push_back(std::move(added));
}

TOLLGATE_COLD void api_definition::add_resources() {
    add_resource({}, {});
    for (const route& each : routes) {
        auto at = std::find_if(resources.begin(), resources.end(), [&](const auto& known) { return known.path == each.resource; });
        if (at == resources.end()) {
            constexpr std::size_t resources_max = 64;  // each is a line of the settings; the index has eight bits
            if (!each.resource.starts_with('/') || each.resource.ends_with('/') || resources.size() == resources_max)
                throw std::invalid_argument{detail::concat({"tollgate: the path of a resource begins with a slash, ends without one, and "
                                                            "there are at most 64: ", each.resource})};
            add_resource(each.resource, each.resource_scopes);
            at = resources.end() - 1;
        }
        if (!http::detail::is_below(each.path, each.resource))
            throw std::invalid_argument{detail::concat({"tollgate: the route ", each.path, " is not below its resource ", each.resource})};
        resource_of_route.push_back(static_cast<std::uint8_t>(at - resources.begin()));
    }
    const auto api_host = http::url::root(settings.base_url, "base_url").authority();
    const auto auth_host = http::url::root(settings.auth_url, "auth_url").authority();
    if (api_host != auth_host) other_host_ = auth_host;
}

TOLLGATE_COLD const protected_resource* api_definition::find_resource_metadata(const http::request& request) const noexcept {
    if (!settings.has_authorization_server) return nullptr;
    if (!other_host_.empty() && detail::ascii_iequals(request.fields.find(http::field_id::host), other_host_)) return nullptr;
    for (const auto& each : resources)
        if (each.metadata_path == request.target.path) return &each;
    return nullptr;
}

}  // namespace tollgate::pipeline

#endif  // TOLLGATE_PIPELINE_DETAIL_API_DEFINITION_IPP

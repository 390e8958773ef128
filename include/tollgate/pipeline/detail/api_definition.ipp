#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_API_DEFINITION_IPP
#define TOLLGATE_PIPELINE_DETAIL_API_DEFINITION_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/model/detail/quota_settings.hpp>
#include <tollgate/pipeline/detail/api_definition.hpp>

#include <stdexcept>
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
    for (const route& each : routes)
        if (each.describe != nullptr) openapi = each.describe(settings, routes);
}

}  // namespace tollgate::pipeline

#endif  // TOLLGATE_PIPELINE_DETAIL_API_DEFINITION_IPP

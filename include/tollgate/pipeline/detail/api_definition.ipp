#pragma once

#include <tollgate/http/url.hpp>
#include <tollgate/model/detail/quota_settings.hpp>
#include <tollgate/pipeline/detail/api_definition.hpp>

#include <utility>

namespace tollgate::inline v0::pipeline {

TOLLGATE_DECL api_definition::api_definition(api_settings configured, route_table table, bool has_hook_store)
    : settings{without_final_slashes(std::move(configured))},
      routes{std::move(table)},
      patterns{patterns_of(routes)},
      root{http::url::root(settings.base_url, "base_url").path},
      documentation_url{documentation_url_of(settings)} {
    static_cast<void>(http::url::root(settings.auth_url, "auth_url"));
    detail::require_windows("API", {{"anonymous_quota", settings.anonymous_quota}, {"user_quota", settings.user_quota}});
    check_routes(routes, settings.services, has_hook_store);
    for (const route& each : routes)
        if (each.describe != nullptr) openapi = each.describe(settings, routes);
}

}  // namespace tollgate::pipeline

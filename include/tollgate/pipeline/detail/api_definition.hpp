#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_API_DEFINITION_HPP
#define TOLLGATE_PIPELINE_DETAIL_API_DEFINITION_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/contract/router.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/model/resource.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/pipeline/route_table.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::pipeline {

/// A protected resource of an API (RFC 9728): the API itself, or a group of its routes.
struct protected_resource {
    std::string path;  ///< below the base URL; empty: the API itself
    std::string url;
    resource_id id;
    std::string metadata_path;  ///< the path of its metadata at the origin of the API
    std::string challenge;      ///< what its Bearer challenges name; empty without an authorization server
    std::string metadata;       ///< the JSON document; empty without an authorization server
};

/// The parts of an `account_api` that do not depend on its users, store and policies: settings and routes, and what follows from them.
struct api_definition {
    /// Throws std::invalid_argument, as the constructor of `account_api` does.
    TOLLGATE_COLD api_definition(account_service_settings&& configured, route_table&& table, bool has_hook_store);

    account_service_settings settings;
    route_table routes;
    std::vector<route_pattern> patterns;  ///< patterns of the routes, as views
    std::vector<protected_resource> resources;       ///< the first one is the API itself
    std::vector<std::uint8_t> resource_of_route;     ///< an index of `resources` for each route
    std::string root;                     ///< the path of the base URL
    std::string documentation_url;        ///< URL that Error objects link to
    std::string openapi;                  ///< empty without a route that describes the API

    /// Returns the resource that a route belongs to.
    [[nodiscard]] const protected_resource& resource_of(std::size_t route) const noexcept {
        return resources[resource_of_route[route]];
    }
    /// Returns the resource whose metadata a request names, or null if there is none. Metadata belongs to the origin of the API: at the
    /// host of pages and OAuth, where it is another one, there is none.
    [[nodiscard]] const protected_resource* find_metadata(const http::request& request) const noexcept {
        return request.target.path.starts_with(resource_metadata_root) ? find_resource_metadata(request) : nullptr;
    }

    static constexpr std::string_view resource_metadata_root = "/.well-known/oauth-protected-resource";

private:
    TOLLGATE_COLD void add_resources();
    TOLLGATE_COLD void add_resource(const std::string& path, std::string_view scopes);
    [[nodiscard]] TOLLGATE_COLD const protected_resource* find_resource_metadata(const http::request& request) const noexcept;

    std::string other_host_;  // the host of pages and OAuth, if it is not that of the API
};

}  // namespace tollgate::pipeline

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pipeline/detail/api_definition.ipp>
#endif

#endif  // TOLLGATE_PIPELINE_DETAIL_API_DEFINITION_HPP

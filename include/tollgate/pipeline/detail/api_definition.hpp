#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_API_DEFINITION_HPP
#define TOLLGATE_PIPELINE_DETAIL_API_DEFINITION_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/contract/router.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/pipeline/route_table.hpp>

#include <string>
#include <vector>

namespace tollgate::inline v0::pipeline {

/// The parts of an `account_api` that do not depend on its users, store and policies: settings and routes, and what follows from them.
struct api_definition {
    /// Throws std::invalid_argument, as the constructor of `account_api` does.
    TOLLGATE_COLD api_definition(account_service_settings&& configured, route_table&& table, bool has_hook_store);

    account_service_settings settings;
    route_table routes;
    std::vector<route_pattern> patterns;  ///< patterns of the routes, as views
    std::string root;                     ///< the path of the base URL
    std::string documentation_url;        ///< URL that Error objects link to
    std::string openapi;                  ///< empty without a route that describes the API
};

}  // namespace tollgate::pipeline

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pipeline/detail/api_definition.ipp>
#endif

#endif  // TOLLGATE_PIPELINE_DETAIL_API_DEFINITION_HPP

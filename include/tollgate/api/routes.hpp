#pragma once
#ifndef TOLLGATE_API_ROUTES_HPP
#define TOLLGATE_API_ROUTES_HPP

#include <tollgate/api/account_api.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/pipeline/route_table.hpp>

namespace tollgate::inline v0 {

/// Returns the routes below `/{service}/{account}/hooks` and `/{service}/hooks/{hook}`.
[[nodiscard]] TOLLGATE_COLD route_table hook_routes();
/// Returns the routes below `/testservice/`, with which clients check that they reach the API.
[[nodiscard]] TOLLGATE_COLD route_table demonstration_routes();
/// Returns the route `/openapi.json`.
[[nodiscard]] TOLLGATE_COLD route_table openapi_routes();

/// Returns all routes of the account API: those of the functions above, `balance_routes()` and `account_list_routes()`. To leave out some
/// routes, add up the tables of the others.
[[nodiscard]] TOLLGATE_COLD route_table account_routes();

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/api/routes.ipp>
#endif

#endif  // TOLLGATE_API_ROUTES_HPP

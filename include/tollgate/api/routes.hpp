#pragma once
#ifndef TOLLGATE_API_ROUTES_HPP
#define TOLLGATE_API_ROUTES_HPP

#include <tollgate/api/account_api.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/pipeline/route_table.hpp>

namespace tollgate::inline v0 {

/// `/{service}/{account}/hooks` and `/{service}/hooks/{hook}`
[[nodiscard]] TOLLGATE_COLD route_table hook_routes();
/// `/testservice/...`: for clients that check whether they reach the API
[[nodiscard]] TOLLGATE_COLD route_table demonstration_routes();
/// `/openapi.json`
[[nodiscard]] TOLLGATE_COLD route_table openapi_routes();

/// The whole account API: all of the above, `balance_routes()` and `account_list_routes()`. To leave one out, add up the others.
[[nodiscard]] TOLLGATE_COLD route_table account_routes();

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/api/routes.ipp>
#endif

#endif  // TOLLGATE_API_ROUTES_HPP

#pragma once
#ifndef TOLLGATE_API_DETAIL_OPENAPI_HPP
#define TOLLGATE_API_DETAIL_OPENAPI_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/pipeline/route_table.hpp>

#include <string>

namespace tollgate::inline v0::detail {

/// The API's description in OpenAPI 3.1, as JSON: every route with its parameters, bodies, required scopes, rate limit
/// fields and refusals. Generated from the table, so that it always matches what is served.
[[nodiscard]] TOLLGATE_DECL std::string make_openapi(const account_service_settings& settings, const route_table& routes);

}  // namespace tollgate::detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/api/detail/openapi.ipp>
#endif

#endif  // TOLLGATE_API_DETAIL_OPENAPI_HPP

#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/pipeline/detail/api_definition.hpp>
#include <tollgate/pipeline/detail/authenticate.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/pipeline/detail/stages.hpp>

#include <span>

/// The responses to requests that the judgement does not accept, without the fields that every response has.
namespace tollgate::inline v0::pipeline {

/// The response to a request that a stage rejects.
TOLLGATE_DECL void write_rejection(http::response& response, const rejection& rejection, const http::request& request,
                                   const judgement& state, const api_definition& api, std::span<const challenge> challenges);

/// Replaces what has been written with the response to an error of an endpoint, a store or the directory.
TOLLGATE_DECL void replace_with_error(http::response& response, const error& failure, const judgement& state, const api_definition& api,
                                      std::span<const challenge> challenges);

}  // namespace tollgate::pipeline

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pipeline/detail/write_rejection.ipp>
#endif

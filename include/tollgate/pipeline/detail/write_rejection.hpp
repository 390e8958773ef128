#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_WRITE_REJECTION_HPP
#define TOLLGATE_PIPELINE_DETAIL_WRITE_REJECTION_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/http/detail/cors.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/pipeline/detail/api_definition.hpp>
#include <tollgate/pipeline/detail/authenticate.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/pipeline/detail/observed_request.hpp>
#include <tollgate/pipeline/detail/row.hpp>
#include <tollgate/pipeline/detail/stages.hpp>

#include <span>
#include <string_view>

/// The responses to requests that are not accepted.
namespace tollgate::inline v0::pipeline {

/// The response to a request that a stage rejects, without the fields that every response has.
TOLLGATE_DECL void write_rejection(http::response& response, const rejection& rejection, const http::request& request,
                                   const request_state& state, const api_definition& api,
                                   std::span<const authenticator_ref> authenticators);

/// Replaces what has been written with the response to an error of an endpoint, a store or the directory, without those fields.
TOLLGATE_DECL void replace_with_error(http::response& response, const error& failure, const request_state& state, const api_definition& api,
                                      std::span<const authenticator_ref> authenticators);

/// The functions of a row whose responses are Error objects, and which counts each request against its address: of requests without a
/// User-Agent, and of those whose row could not be looked up.
struct error_object_rules {
    static TOLLGATE_COLD progress count(row_call& call);
    static constexpr limit_rule every_request{&count};

    static TOLLGATE_COLD void reject(row_call& call, const rejection& reason);
    static TOLLGATE_COLD void fail(row_call& call, const error& failure);
    static TOLLGATE_COLD void add_fields(row_call& call);
    static constexpr response_form form{&reject, &fail, &add_fields};
};
inline constexpr row refused_row{.limit = &error_object_rules::every_request, .form = &error_object_rules::form};

/// The Error object for what the server refuses. It is not counted, because its sender is not authenticated. Never waits.
template <class Settings>
[[gnu::cold]] void respond_refusal(const policies& by, const Settings& settings, std::string_view documentation_url,
                                   const http::refusal& refusal, http::response& response) {
    const auto client = client_of(refusal, settings);
    const auto now = by.clock().now();
    const auto limit = peek_or_unused(by.limiter(), limit_key::of(client), settings.anonymous_quota, now);
    http::add_retry_after(response, refusal.status);
    write_error(response, refusal.status, refusal.reason, documentation_url, to_topic(refusal.status));
    add_rate_limit_fields(response, limit);
    add_transport_security(response, settings.auth_url);
    http::add_cors_fields(settings.cors_origins, refusal, response);
    finish_refusal(by, refusal, client, response);
}

}  // namespace tollgate::pipeline

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pipeline/detail/write_rejection.ipp>
#endif

#endif  // TOLLGATE_PIPELINE_DETAIL_WRITE_REJECTION_HPP

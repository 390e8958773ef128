#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_OBSERVED_REQUEST_HPP
#define TOLLGATE_PIPELINE_DETAIL_OBSERVED_REQUEST_HPP

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/http/detail/client_address.hpp>
#include <tollgate/http/detail/request_id.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/caller.hpp>
#include <tollgate/policy/policies.hpp>

#include <algorithm>
#include <chrono>
#include <string_view>

/// What every handler does for the observer: it gives each request an id, and reports its response.
namespace tollgate::inline v0::pipeline {

/// The beginning of one request.
struct request_start {
    http::unique_id id;  ///< the request id, unless the request has one; also its trace and span
    instant at{};
    std::chrono::nanoseconds reading{};  ///< the steady clock, for durations; zero without an observer
};

/// Begins a request at this time, by the clock of the policies. Without an observer, the clock is not read for durations.
[[nodiscard]] inline request_start start_request(const policies& by, instant now) noexcept {
    request_start start{http::unique_id::make(), now, {}};
    if (by.observer()) start.reading = by.clock().steady_now();
    return start;
}
[[nodiscard]] inline request_start start_request(const policies& by) noexcept { return start_request(by, by.clock().now()); }

/// A request as its observer sees it.
struct observed_request {
    const request_start& start;
    const http::request& request;
    ip_address client;
    std::string_view route{};

    /// Its context, with the duration until now.
    [[nodiscard]] request_context context(const policies& by) const noexcept {
        auto context = without_duration();
        context.duration = (std::max)(std::chrono::nanoseconds{0}, by.clock().steady_now() - start.reading);
        return context;
    }

    /// Reports a failure that occurred in it.
    void report(const policies& by, const error& failure) const noexcept {
        if (by.observer()) {
            const auto known = context(by);
            by.observer().on_problem({failure, &known});
        }
    }

    /// The `X-Request-Id` of the response.
    [[nodiscard]] std::string_view id() const noexcept { return http::request_id_of(request, start.id); }

    /// Reports request and response at the end.
    void report_end(const policies& by, http::response& response, const caller* caller,
                    const oauth_outcome& oauth = {}) const noexcept {
        if (caller != nullptr) response.set_user(caller->user);
        if (by.observer()) {
            const auto known = context(by);
            by.observer().on_request({known, request, response, caller, oauth});
        }
    }

private:
    [[nodiscard]] request_context without_duration() const noexcept {
        request_context context{.id = id(),
                                .trace_id = start.id.view(),
                                .span_id = start.id.span(),
                                .parent_span_id = {},
                                .sampled = true,
                                .route = route,
                                .client = client,
                                .at = start.at};
        if (request.fields.count(http::field_id::traceparent) != 1) return context;
        if (const auto sent = http::traceparent::parse(request.fields.find(http::field_id::traceparent))) {
            context.trace_id = sent->trace_id;
            context.parent_span_id = sent->parent_id;
            context.sampled = sent->sampled;
        }
        return context;
    }
};

/// Who sent what was refused: where the head arrived, the client that a trusted proxy names, else the peer.
template <class Settings>
[[nodiscard]] ip_address client_of(const http::refusal& refusal, const Settings& settings) noexcept {
    if (refusal.request == nullptr) return refusal.peer;
    return http::client_address(*refusal.request, settings.trusted_proxies, settings.client_named_by);
}

/// Reports a refusal that began with `start`.
[[gnu::cold]] inline void report_refusal(const policies& by, const request_start& start, const http::refusal& refusal,
                                  const ip_address& client) {
    if (by.observer()) {
        const http::request none;
        const observed_request observed{start, refusal.request != nullptr ? *refusal.request : none, client};
        const auto known = observed.context(by);
        by.observer().on_refusal({known, refusal});
    }
}

/// At the end of a refusal: adds `X-Request-Id` to the response, and reports it.
[[gnu::cold]] inline void finish_refusal(const policies& by, const http::refusal& refusal, const ip_address& client,
                                  http::response& response) {
    const auto start = start_request(by);
    http::add_request_id(response, refusal.request != nullptr ? http::request_id_of(*refusal.request, start.id) : start.id.view());
    report_refusal(by, start, refusal, client);
}

}  // namespace tollgate::pipeline

#endif  // TOLLGATE_PIPELINE_DETAIL_OBSERVED_REQUEST_HPP

#pragma once

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/detail/activity.hpp>
#include <tollgate/model/detail/caller.hpp>
#include <tollgate/model/delivery.hpp>

#include <chrono>
#include <concepts>
#include <string_view>

namespace tollgate::inline v0 {

/// What tells one request from all others, in logs, metrics and traces. Views: valid during the call.
struct request_context {
    /// The request's `X-Request-Id` if it is 1 to 128 letters, digits, dots, underscores and hyphens, else a new id of 32
    /// hexadecimal digits. The response carries it.
    std::string_view id;
    /// The trace that the request is a part of (W3C Trace Context): that of its `traceparent`, or a new one. 32 hexadecimal digits.
    std::string_view trace_id;
    /// The request's own span, the parent of all work done for it: 16 hexadecimal digits.
    std::string_view span_id;
    /// The sender's span; empty if the trace begins here.
    std::string_view parent_span_id;
    /// The sampled flag of `traceparent`; true for a trace that begins here.
    bool sampled = true;
    /// The pattern of its route, without what was captured: `/{service}/accounts`. Of the API it is below the base URL, of pages and
    /// OAuth below the auth URL. Empty if the request was refused before its route was known, or has none.
    std::string_view route;
    ip_address client;                   ///< behind trusted proxies, the one they name
    instant at;                          ///< when its head had arrived
    std::chrono::nanoseconds duration{};  ///< from then until now: with the waits for its body, a worker and the store
};

/// One answered request, for logs and metrics. Views: valid during the call. The request's Authorization field and query
/// may hold secrets; what is logged of them is the observer's responsibility.
struct request_record {
    const request_context& context;
    const http::request& request;
    const http::response& response;
    const tollgate::caller* caller = nullptr;  ///< null if no caller was authenticated
};

/// A request that the server refused before there was one to handle: malformed bytes, a time-out, overload. Of its context, id,
/// trace, client and time are known. Views: valid during the call.
struct refusal_record {
    const request_context& context;
    const http::refusal& refusal;
};

/// A failure on our side, for logs: `error.cause` is what the client is not told. Valid during the call.
struct problem_record {
    /// A failure, and the request that it was met in, if there was one.
    problem_record(const tollgate::error& what, const request_context* of = nullptr) noexcept : error{what}, context{of} {}

    const tollgate::error& error;    ///< what failed
    const request_context* context;  ///< null outside of a request, as in a dispatcher
};

/// Watches. It changes nothing, and a failure of its own is its own.
///
/// Exemplar:
///
///     struct counting_observer {
///         std::atomic<std::uint64_t>* responses;
///         void on_request(const request_record&) const noexcept { ++*responses; }
///         void on_refusal(const refusal_record&) const noexcept { ++*responses; }
///         void on_problem(const problem_record&) const noexcept {}
///     };
template <class O>
concept observer = requires(const O& o, const request_record& answered, const refusal_record& refused, const problem_record& failed) {
    // After each answer, on the thread that made it: be quick. Called from many threads at once.
    { o.on_request(answered) } noexcept;
    // After the answer to what the server refused was written.
    { o.on_refusal(refused) } noexcept;
    // Before a 5xx is answered, and after a failure outside of a request.
    { o.on_problem(failed) } noexcept;
};

/// One attempt that has ended, for logs and metrics. Views: valid during the call. `delivery` holds the hook's secret, and its
/// target may hold one.
struct delivery_record {
    const due_delivery& delivery;
    const attempt_result& attempt;
    completion result;  ///< what the store made of it
    /// Why it failed, for the operator: the system's words, or the certificate's fault; may be empty.
    std::string_view why;
    /// The trace and span that the attempt's `traceparent` named. All attempts of a delivery are in one trace.
    std::string_view trace_id{};
    std::string_view span_id{};
};

/// An observer that also receives every attempt to deliver a webhook. The function is optional: an observer without it receives
/// only problems.
///
/// Exemplar:
///
///     struct delivery_counter : no_observer {
///         std::atomic<std::uint64_t>* delivered;
///         void on_attempt(const delivery_record& record) const noexcept {
///             if (record.attempt.outcome == delivery_outcome::delivered) ++*delivered;
///         }
///     };
template <class O>
concept delivery_observer = observer<O> && requires(const O& o, const delivery_record& record) {
    // After the store has recorded an attempt, on the dispatcher's thread: be quick.
    { o.on_attempt(record) } noexcept;
};

/// An observer that also receives the changes that users make to their accounts, for an audit log: sign-in, tokens, applications,
/// grants, webhooks. The function is optional.
///
/// Exemplar:
///
///     struct activity_printer : no_observer {
///         void on_activity(const activity& done) const noexcept { std::puts(to_text(done.kind).data()); }
///     };
template <class O>
concept activity_observer = observer<O> && requires(const O& o, const activity& done) {
    // After it was done and stored, on the thread that did it, which may block if the handler may.
    { o.on_activity(done) } noexcept;
};

/// Tells the observer, if it is an `activity_observer`.
template <observer O>
void report_activity(const O& observer, const activity& done) noexcept {
    if constexpr (activity_observer<O>) observer.on_activity(done);
}

}  // namespace tollgate

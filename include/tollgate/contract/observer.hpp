#pragma once

#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/detail/activity.hpp>
#include <tollgate/model/detail/caller.hpp>
#include <tollgate/model/delivery.hpp>

#include <concepts>
#include <string_view>

namespace tollgate::inline v0 {

/// One answered request, for logs and metrics. Views: valid during the call. The request's Authorization field and query
/// may hold secrets; what is logged of them is the observer's responsibility.
struct request_record {
    const http::request& asked;
    const http::response& answered;
    const caller* who;  ///< null for nobody in particular
    ip_address client;  ///< behind trusted proxies, the one they name
    instant now;        ///< when the request was taken up
};

/// Watches. It changes nothing, and a failure of its own is its own.
///
/// Exemplar:
///
///     struct counting_observer {
///         std::atomic<std::uint64_t>* answered;
///         void on_request(const request_record&) const noexcept { ++*answered; }
///         void on_refusal(const http::refusal&) const noexcept { ++*answered; }
///         void on_problem(const error&) const noexcept {}
///     };
template <class O>
concept observer = requires(const O& o, const request_record& record, const http::refusal& refused, const error& why) {
    // After each answer, on the thread that made it: be quick. Called from many threads at once.
    { o.on_request(record) } noexcept;
    // After a host's own refusal was worded: malformed bytes, a time-out, overload.
    { o.on_refusal(refused) } noexcept;
    // Before a 5xx is answered: `why.cause` is what the client is not told.
    { o.on_problem(why) } noexcept;
};

/// One attempt that has ended, for logs and metrics. Views: valid during the call. `sent` holds the hook's secret, and its
/// target may hold one.
struct delivery_record {
    const due_delivery& sent;
    const attempt_result& ended;
    completion result;  ///< what the store said to it
    /// Why it failed, for the operator: the system's words, or the certificate's fault; may be empty.
    std::string_view why;
};

/// An observer that also hears of every attempt to deliver a webhook. An observer that has no such function is fine, and
/// hears of problems alone.
///
/// Exemplar:
///
///     struct delivery_counter : no_observer {
///         std::atomic<std::uint64_t>* delivered;
///         void on_attempt(const delivery_record& record) const noexcept {
///             if (record.ended.outcome == delivery_outcome::delivered) ++*delivered;
///         }
///     };
template <class O>
concept delivery_observer = observer<O> && requires(const O& o, const delivery_record& record) {
    // After an attempt was settled, on the dispatcher's thread: be quick.
    { o.on_attempt(record) } noexcept;
};

/// An observer that also hears what users do with their accounts, for an audit log: sign-in, tokens, applications, grants,
/// webhooks. An observer that has no such function is fine.
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

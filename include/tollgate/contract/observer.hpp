#pragma once

#include <tollgate/base/problem.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/domain/caller.hpp>
#include <tollgate/http/refusal.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>

#include <concepts>

namespace tollgate {

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
///         void on_problem(const problem&) const noexcept {}
///     };
template <class O>
concept observer = requires(const O& o, const request_record& record, const http::refusal& refused, const problem& why) {
    // After each answer, on the thread that made it: be quick. Called from many threads at once.
    { o.on_request(record) } noexcept;
    // After a host's own refusal was worded: malformed bytes, a time-out, overload.
    { o.on_refusal(refused) } noexcept;
    // Before a 5xx is answered: `why.cause` is what the client is not told.
    { o.on_problem(why) } noexcept;
};

}  // namespace tollgate

#pragma once
#ifndef TOLLGATE_CONTRACT_OBSERVER_HPP
#define TOLLGATE_CONTRACT_OBSERVER_HPP

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/detail/member_names.hpp>
#include <tollgate/contract/detail/reference.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/activity.hpp>
#include <tollgate/model/caller.hpp>
#include <tollgate/model/delivery.hpp>

#include <chrono>
#include <concepts>
#include <string_view>
#include <type_traits>

namespace tollgate::inline v0 {

/// Identifies a request in logs, metrics and traces. The views are valid during the call.
struct request_context {
    /// The request's `X-Request-Id` if it is 1 to 128 letters, digits, dots, underscores and hyphens, otherwise a new id of 32 hexadecimal
    /// digits. The response contains it.
    std::string_view id;
    /// The trace that the request is part of (W3C Trace Context), from its `traceparent` or new: 32 hexadecimal digits.
    std::string_view trace_id;
    /// The request's own span, the parent of all work done for it: 16 hexadecimal digits.
    std::string_view span_id;
    /// The sender's span; empty if the trace begins here.
    std::string_view parent_span_id;
    /// The sampled flag of `traceparent`; true for a trace that begins here.
    bool sampled = true;
    /// The pattern of the request's route, such as `/{service}/accounts`: below the base URL for the API, below the auth URL for pages and
    /// OAuth. Empty if there is no route, or the request was refused before its route was known.
    std::string_view route;
    ip_address client;                   ///< the client's address; behind trusted proxies, the address that they report
    instant at;                          ///< when the head of the request had arrived
    std::chrono::nanoseconds duration{};  ///< time since the head arrived, including waits for the body, a worker and the store
};

/// Results of an OAuth endpoint for a request. The views are valid during the call.
struct oauth_outcome {
    std::string_view client_id;  ///< the client_id as sent: any text of at most `limits::client_id_bytes_max` bytes; empty if unknown
    std::string_view error;      ///< error code of the response or redirect (RFC 6749 section 5.2), with static storage; may be empty
};

/// A request and its response, for logs and metrics. The views are valid during the call. The request's Authorization field and query may
/// contain secrets; the observer is responsible for what it logs of them.
struct request_record {
    const request_context& context;
    const http::request& request;
    const http::response& response;
    const tollgate::caller* caller = nullptr;  ///< null if no caller was authenticated
    oauth_outcome oauth{};                     ///< the results of an OAuth endpoint; empty for other requests
};

/// A request that the server refused before a handler received it: malformed bytes, a timeout, overload, a host that it does not serve. The
/// context has an id, a trace, the client and the time. If the head arrived (`refusal.request`), the id and trace are taken from the head.
/// The views are valid during the call.
struct refusal_record {
    const request_context& context;
    const http::refusal& refusal;
};

/// A failure of the server, for logs. Do not send `error.log_text()` to the client. The references are valid during the call.
struct problem_record {
    /// Constructs the record of a failure, with the request in which it occurred, if any.
    problem_record(const tollgate::error& failure, const request_context* request = nullptr) noexcept : error{failure}, context{request} {}

    const tollgate::error& error;    ///< the failure
    const request_context* context;  ///< the request; null outside of a request, as in a dispatcher
};

/// Receives every request, refusal and failure. It cannot change a response, and its own failures do not affect a response.
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
concept observer = requires(const O& o, const request_record& request, const refusal_record& refusal, const problem_record& problem) {
    // Called after each response, on the thread that produced it, from many threads at once. Must be quick.
    { o.on_request(request) } noexcept;
    // Called after the response to a refusal was written.
    { o.on_refusal(refusal) } noexcept;
    // Called before a 5xx response, and after a failure outside of a request.
    { o.on_problem(problem) } noexcept;
};

/// An attempt that has ended, for logs and metrics. The views are valid during the call. `delivery` contains the hook's secret, and its
/// target URL may contain a secret.
struct delivery_record {
    const due_delivery& delivery;
    const attempt_result& result;
    tollgate::completion completion;  ///< the result of `outbox::complete`
    /// The reason of a failed attempt, for the operator: the system's message, or the fault of the certificate. May be empty.
    std::string_view reason;
    /// The trace and span that the attempt's `traceparent` named. All attempts of a delivery are in one trace.
    std::string_view trace_id{};
    std::string_view span_id{};
};

/// An observer that also receives every attempt to deliver a webhook. The function is optional: an observer without it receives only
/// problems from a dispatcher.
///
/// Exemplar:
///
///     struct delivery_counter : no_observer {
///         std::atomic<std::uint64_t>* delivered;
///         void on_attempt(const delivery_record& record) const noexcept {
///             if (record.result.outcome == delivery_outcome::delivered) ++*delivered;
///         }
///     };
template <class O>
concept delivery_observer = observer<O> && requires(const O& o, const delivery_record& record) {
    // Called after the store has recorded an attempt, on the dispatcher's thread. Must be quick.
    { o.on_attempt(record) } noexcept;
};

/// An observer that also receives the changes that users make to their accounts, for an audit log: sign-in, tokens, applications, grants,
/// webhooks, and revocations because a code or refresh token was used again. The function is optional.
///
/// Exemplar:
///
///     struct activity_printer : no_observer {
///         void on_activity(const activity& done) const noexcept {
///             const std::string_view kind = to_text(done.kind);
///             std::printf("%.*s\n", static_cast<int>(kind.size()), kind.data());
///         }
///     };
template <class O>
concept activity_observer = observer<O> && requires(const O& o, const activity& done) {
    // Called after the change was stored, on the thread that changed it. May block if the handler may.
    { o.on_activity(done) } noexcept;
};

/// An observer that does nothing.
struct no_observer {
    void on_request(const request_record&) const noexcept {}
    void on_refusal(const refusal_record&) const noexcept {}
    void on_problem(const problem_record&) const noexcept {}
};

namespace detail {

struct observer_calls {
    void (*on_request)(void*, const request_record&) noexcept;
    void (*on_refusal)(void*, const refusal_record&) noexcept;
    void (*on_problem)(void*, const problem_record&) noexcept;
    void (*on_attempt)(void*, const delivery_record&) noexcept;  // null if the object has no such function
    void (*on_activity)(void*, const activity&) noexcept;  // null if the object has no such function
};

template <class T>
struct calls_of_observer {
    static void on_request(void* object, const request_record& record) noexcept { object_at<T>(object).on_request(record); }
    static void on_refusal(void* object, const refusal_record& record) noexcept { object_at<T>(object).on_refusal(record); }
    static void on_problem(void* object, const problem_record& record) noexcept { object_at<T>(object).on_problem(record); }
    static void on_attempt(void* object, const delivery_record& record) noexcept { object_at<T>(object).on_attempt(record); }
    static void on_activity(void* object, const activity& done) noexcept { object_at<T>(object).on_activity(done); }

    static consteval observer_calls make_table() {
        observer_calls calls{&on_request, &on_refusal, &on_problem, nullptr, nullptr};
        if constexpr (delivery_observer<T>) calls.on_attempt = &on_attempt;
        if constexpr (activity_observer<T>) calls.on_activity = &on_activity;
        return calls;
    }
    static constexpr observer_calls table = make_table();
};

}  // namespace detail

/// A reference to an `observer` of any class, or to no object, such as a `no_observer`. The object must outlive the reference. The
/// contract states the thread rule and the errors.
class observer_ref : public detail::reference<detail::observer_calls> {
public:
    observer_ref() noexcept = default;
    /// Constructs a reference to `object`.
    template <class T>
        requires detail::is_erasable<T, observer_ref>
    observer_ref(T& object) noexcept {
        static_assert(observer<T>, "tollgate: this does not satisfy observer; read tollgate/contract/observer.hpp");
        if constexpr (observer<T>) {
            static_assert(delivery_observer<T> || !detail::names_on_attempt<T>,
                          "tollgate: a member named on_attempt exists, but this does not satisfy delivery_observer; "
                          "read tollgate/contract/observer.hpp");
            static_assert(activity_observer<T> || !detail::names_on_activity<T>,
                          "tollgate: a member named on_activity exists, but this does not satisfy activity_observer; "
                          "read tollgate/contract/observer.hpp");
            if constexpr (!std::same_as<std::remove_cv_t<T>, no_observer>) refer_to(object, detail::calls_of_observer<T>::table);
        }
    }

    /// Each calls the object's function of this name. Without an observer, or if the observer does not have the function, the call does
    /// nothing.
    void on_request(const request_record& record) const noexcept {
        if (calls_ != nullptr) calls_->on_request(object_, record);
    }
    void on_refusal(const refusal_record& record) const noexcept {
        if (calls_ != nullptr) calls_->on_refusal(object_, record);
    }
    void on_problem(const problem_record& record) const noexcept {
        if (calls_ != nullptr) calls_->on_problem(object_, record);
    }
    [[nodiscard]] bool sees_attempts() const noexcept { return calls_ != nullptr && calls_->on_attempt != nullptr; }
    void on_attempt(const delivery_record& record) const noexcept {
        if (calls_ != nullptr && calls_->on_attempt != nullptr) calls_->on_attempt(object_, record);
    }
    void on_activity(const activity& done) const noexcept {
        if (calls_ != nullptr && calls_->on_activity != nullptr) calls_->on_activity(object_, done);
    }
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_OBSERVER_HPP

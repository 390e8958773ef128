#pragma once
#ifndef TOLLGATE_PIPELINE_CURRENT_REQUEST_HPP
#define TOLLGATE_PIPELINE_CURRENT_REQUEST_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/http/detail/request_id.hpp>
#include <tollgate/http/request.hpp>

#include <optional>
#include <string_view>

namespace tollgate::inline v0 {

/// The ids of a request, for log lines. The views are valid while the request is handled.
struct request_ids {
    std::string_view id;        ///< `request_context::id`, which the response contains as `X-Request-Id`
    std::string_view trace_id;  ///< `request_context::trace_id`
    std::string_view span_id;   ///< `request_context::span_id`
};

/// Returns the ids of the request that this thread handles at the moment, or an empty optional if it handles none. A directory or a store
/// that is called for a request can write the ids with its own log lines. Thread rule: any thread; each thread has a request of its own.
/// Nothing is thrown.
[[nodiscard]] TOLLGATE_DECL std::optional<request_ids> current_request() noexcept;

namespace pipeline {

/// Makes a request the current request of this thread, until the scope ends. Both arguments must outlive the scope.
class request_scope {
public:
    request_scope(const http::request& request, const http::unique_id& generated) noexcept
        : request_{&request}, generated_{&generated}, outer_{current} {
        current = this;
    }
    request_scope(const request_scope&) = delete;
    request_scope& operator=(const request_scope&) = delete;
    ~request_scope() { current = outer_; }

    [[nodiscard]] TOLLGATE_DECL request_ids ids() const noexcept;

    static inline thread_local constinit const request_scope* current = nullptr;

private:
    const http::request* request_;
    const http::unique_id* generated_;
    const request_scope* outer_;
};

}  // namespace pipeline

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pipeline/current_request.ipp>
#endif

#endif  // TOLLGATE_PIPELINE_CURRENT_REQUEST_HPP

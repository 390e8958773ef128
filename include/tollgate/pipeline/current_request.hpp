#pragma once
#ifndef TOLLGATE_PIPELINE_CURRENT_REQUEST_HPP
#define TOLLGATE_PIPELINE_CURRENT_REQUEST_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/http/detail/request_id.hpp>
#include <tollgate/http/request.hpp>

#include <optional>
#include <string_view>

namespace tollgate::inline v0 {

/// The ids of a request, for log lines. Views: valid while the request is handled.
struct request_ids {
    std::string_view id;        ///< as `request_context::id`: sent with the response as `X-Request-Id`
    std::string_view trace_id;  ///< as `request_context::trace_id`
    std::string_view span_id;   ///< as `request_context::span_id`
};

/// The request that this thread handles now; empty outside of one. A directory or a store that is called for a request can write the ids
/// with its own log lines. Thread rule: any thread, each has its own. Never throws.
[[nodiscard]] TOLLGATE_DECL std::optional<request_ids> current_request() noexcept;

namespace pipeline {

/// Makes a request the current one of this thread. Both arguments must outlive it.
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

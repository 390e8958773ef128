#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_DELIVERY_TRACE_HPP
#define TOLLGATE_WEBHOOKS_DETAIL_DELIVERY_TRACE_HPP

#include <tollgate/base/digest.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/http/detail/request_id.hpp>
#include <tollgate/model/delivery.hpp>

#include <string>
#include <string_view>

namespace tollgate::inline v0::webhooks {

/// The trace and span of one attempt (W3C Trace Context), as hexadecimal digits. They follow from the `webhook-id` and the lease, so
/// that they need not be stored: all attempts of a delivery, on any node, are in one trace, and each has its own span.
struct delivery_trace {
    std::string trace_id;  ///< 32 digits
    std::string span_id;   ///< 16 digits

    /// Throws as `sha256` does.
    [[nodiscard]] static delivery_trace of(const due_delivery& sent) {
        const auto digits = [](std::string_view of_what, std::size_t bytes) {
            return tollgate::detail::hex_encode(std::string_view{sha256(of_what).raw()}.substr(0, bytes));
        };
        const std::string id{std::string_view{sent.message_id}};
        return {digits("trace " + id, 16), digits("span " + id + " " + std::to_string(sent.lease.number), 8)};
    }

    /// The value of `traceparent`.
    [[nodiscard]] std::string traceparent() const { return http::make_traceparent(trace_id, span_id, true); }
};

}  // namespace tollgate::webhooks

#endif  // TOLLGATE_WEBHOOKS_DETAIL_DELIVERY_TRACE_HPP

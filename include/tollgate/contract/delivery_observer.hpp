#pragma once

#include <tollgate/contract/observer.hpp>
#include <tollgate/domain/delivery.hpp>

#include <concepts>
#include <string_view>

namespace tollgate {

/// One attempt that has ended, for logs and metrics. Views: valid during the call. `sent` holds the hook's secret, and its
/// target may hold one.
struct delivery_record {
    const due_delivery& sent;
    const settlement& ended;
    settle_result result;  ///< what the store said to it
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
///             if (record.ended.verdict == delivery_verdict::delivered) ++*delivered;
///         }
///     };
template <class O>
concept delivery_observer = observer<O> && requires(const O& o, const delivery_record& record) {
    // After an attempt was settled, on the dispatcher's thread: be quick.
    { o.on_attempt(record) } noexcept;
};

}  // namespace tollgate

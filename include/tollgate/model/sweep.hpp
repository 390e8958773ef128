#pragma once
#ifndef TOLLGATE_MODEL_SWEEP_HPP
#define TOLLGATE_MODEL_SWEEP_HPP

#include <tollgate/base/time.hpp>

#include <cstddef>
#include <optional>

namespace tollgate::inline v0 {

/// The sessions that a sweep deletes: those that are too old, and those that were not used for too long.
struct session_ends {
    instant created_before;
    instant seen_before;
};

/// The rows that a store's `sweep` deletes: at most `rows_max` of the kinds whose times are set. A store ignores the times of kinds that it
/// does not keep.
struct sweep_request {
    /// Codes, device codes and tokens that are no longer of use at this time. A device code is of use for
    /// `limits::expired_device_code_seconds` after its expiry. Nothing is deleted before its end has passed, however far ahead the end is.
    std::optional<instant> expired_at{};
    /// Deliveries that have been delivered, given up or held since before this time, with their attempts, events without deliveries, and
    /// remains of deleted hooks.
    std::optional<instant> deliveries_ended_before{};
    std::optional<session_ends> sessions{};
    std::size_t rows_max = 0;
};

}  // namespace tollgate

#endif  // TOLLGATE_MODEL_SWEEP_HPP

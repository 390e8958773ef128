#pragma once
#ifndef TOLLGATE_BASE_BACKEND_STATISTICS_HPP
#define TOLLGATE_BASE_BACKEND_STATISTICS_HPP

#include <tollgate/base/config.hpp>

#include <chrono>
#include <cstdint>

namespace tollgate::inline v0 {

/// Counts of what a store or limiter has done since it was opened. No count decreases.
struct backend_statistics {
    std::uint64_t calls = 0;             ///< uses of a connection: queries, transactions and batches
    std::uint64_t errors = 0;            ///< calls for which no connection was available, or whose connection was lost
    std::uint64_t fallbacks = 0;         ///< windows of requests that a limiter decided without its server
    std::chrono::nanoseconds busy{};     ///< duration of all calls
    std::chrono::nanoseconds waited{};   ///< time spent waiting for a connection or opening it
    std::uint64_t cache_hits = 0;        ///< lookups that were answered without a call
    std::uint64_t cache_misses = 0;
    bool is_up = true;                   ///< false while calls fail at once: the server cannot be reached, or the file is gone

    /// Returns the sums for two parts of one backend, which is up if both parts are up.
    [[nodiscard]] friend backend_statistics operator+(const backend_statistics& a, const backend_statistics& b) noexcept {
        return {a.calls + b.calls, a.errors + b.errors, a.fallbacks + b.fallbacks, a.busy + b.busy, a.waited + b.waited,
                a.cache_hits + b.cache_hits, a.cache_misses + b.cache_misses, a.is_up && b.is_up};
    }
};

}  // namespace tollgate

#endif  // TOLLGATE_BASE_BACKEND_STATISTICS_HPP

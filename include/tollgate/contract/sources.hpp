#pragma once
#ifndef TOLLGATE_CONTRACT_SOURCES_HPP
#define TOLLGATE_CONTRACT_SOURCES_HPP

#include <tollgate/base/time.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <span>

namespace tollgate::inline v0 {

/// Provides the current time. Handlers get the time only from here, so that tests can set it.
///
/// Exemplar:
///
///     struct stopped_clock {
///         instant now() const noexcept { return instant{}; }
///     };
template <class C>
concept time_source = requires(const C& c) {
    // UTC. Called from many threads at once, at the start of each request, or once for all requests that the server answers in one pass
    // without waiting. May go backwards, as system clocks do.
    { c.now() } noexcept -> std::same_as<instant>;
};

/// Reads the clock to measure a duration, the difference of two readings: `clock.steady_now()` if the clock has that
/// member (it returns std::chrono::nanoseconds, is noexcept and never goes backwards), otherwise `now()`, to the
/// millisecond.
template <time_source C>
[[nodiscard]] std::chrono::nanoseconds steady_now(const C& clock) noexcept {
    if constexpr (requires { { clock.steady_now() } noexcept -> std::same_as<std::chrono::nanoseconds>; })
        return clock.steady_now();
    else return clock.now().time_since_epoch();
}

/// Provides unpredictable random bytes. Every secret is made from them.
///
/// Exemplar:
///
///     struct only_for_tests {
///         bool fill(std::span<std::byte> bytes) const noexcept {
///             for (std::byte& each : bytes) each = std::byte{7};
///             return true;
///         }
///     };
template <class R>
concept random_source = requires(const R& r, std::span<std::byte> bytes) {
    // Fills `bytes` completely, or returns false: then the request fails with 500 and no weak secret is created. Called
    // from many threads at once.
    { r.fill(bytes) } noexcept -> std::same_as<bool>;
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_SOURCES_HPP

#pragma once

#include <tollgate/base/time.hpp>

#include <concepts>

namespace tollgate::inline v0 {

/// Tells the time. The only place from which a handler learns it, so that a test can be the clock.
///
/// Exemplar:
///
///     struct stopped_clock {
///         instant now() const noexcept { return instant{}; }
///     };
template <class C>
concept time_source = requires(const C& c) {
    // UTC. Called at the start of each request, from many threads at once; it may go backwards, as real clocks do.
    { c.now() } noexcept -> std::same_as<instant>;
};

}  // namespace tollgate

#pragma once

#include <tollgate/base/time.hpp>

#include <concepts>

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
    // UTC. Called at the start of each request, from many threads at once. May go backwards, as system clocks do.
    { c.now() } noexcept -> std::same_as<instant>;
};

}  // namespace tollgate

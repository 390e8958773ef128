#pragma once
#ifndef TOLLGATE_BASE_SYSTEM_SOURCES_HPP
#define TOLLGATE_BASE_SYSTEM_SOURCES_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/time.hpp>

#include <cstddef>
#include <span>

namespace tollgate::inline v0 {

/// The system clock.
struct system_clock {
    /// Returns the current time in UTC. Any thread may call it.
    [[nodiscard]] instant now() const noexcept {
        return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
    }
    /// Returns a time for measuring durations, which never goes backwards. Any thread may call it.
    [[nodiscard]] std::chrono::nanoseconds steady_now() const noexcept { return std::chrono::steady_clock::now().time_since_epoch(); }
};

/// OpenSSL's random generator for secrets, seeded by the operating system.
struct system_random {
    /// Fills `bytes` with random bytes. Returns false if OpenSSL has no randomness, or for more than INT_MAX bytes; the content is then
    /// unspecified. Any thread may call it.
    [[nodiscard]] TOLLGATE_DECL bool fill(std::span<std::byte> bytes) const noexcept;
};

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/base/system_sources.ipp>
#endif

#endif  // TOLLGATE_BASE_SYSTEM_SOURCES_HPP

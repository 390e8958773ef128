#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_SERVER_CLOCK_HPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_SERVER_CLOCK_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/time.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tollgate::inline v0::postgres {

/// The time of the server, so that nodes with different clocks agree on when a lease or a code ends.
///
/// All stored times are the server's. Callers use the clock of their machine; `shift` is added to the times they pass
/// and subtracted from the times they read. A node whose clock is five minutes off thus keeps codes as long as any
/// other, and its leases end when other nodes expect it.
///
/// Small differences are ignored: below `tolerance` they are within the error of a round trip and NTP, and times are
/// read exactly as written. Above it, the shift changes only when the difference changes by as much again.
///
/// Thread rule: any thread.
class server_clock {
public:
    using node_clock = instant (*)() noexcept;
    using steady = std::chrono::steady_clock;

    static constexpr milliseconds tolerance{2000};
    /// Steady clocks drift by about 50 parts per million: 3 ms in this time.
    static constexpr seconds observed_every{60};

    /// `callers`: the clock that callers use; null: this clock, so that no shift is needed.
    explicit server_clock(node_clock callers) noexcept : callers_{callers} {}
    server_clock(const server_clock&) = delete;
    server_clock& operator=(const server_clock&) = delete;

    /// The system clock of this machine.
    [[nodiscard]] static TOLLGATE_DECL instant node_now() noexcept;

    /// The server's time; this machine's before the first observation.
    [[nodiscard]] TOLLGATE_DECL instant now() const noexcept;
    /// What to add to a caller's time to get the server's.
    [[nodiscard]] TOLLGATE_DECL milliseconds shift() const noexcept;

    struct observation {
        steady::time_point sent_at;
        steady::time_point received_at;
        instant server_time;
    };
    TOLLGATE_DECL void observe(const observation& observed) noexcept;
    /// Returns true for one caller when an observation is due.
    [[nodiscard]] TOLLGATE_DECL bool wants_observation() noexcept;

private:
    static TOLLGATE_DECL std::int64_t steady_milliseconds(steady::time_point at) noexcept;

    const node_clock callers_;
    std::atomic<bool> is_known_{false};
    std::atomic<std::int64_t> ahead_of_steady_{0};  // milliseconds
    mutable std::atomic<std::int64_t> shift_{0};
    std::atomic<std::int64_t> next_observation_at_{0};
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/server_clock.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_SERVER_CLOCK_HPP

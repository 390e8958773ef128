#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/time.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tollgate::inline v0::postgres {

/// What time it is at the server, so that nodes whose clocks differ agree on when a lease or a code is over.
///
/// All moments that are kept are the server's. Callers speak of moments by the clock of their own machine; as they
/// pass, `shift` is added, and taken off again from what is read. A node whose clock is five minutes off thus keeps
/// codes for as long as any other, and its leases end when others think they do.
///
/// Clocks that are close are taken for equal: a difference below `tolerance` is what a round trip and NTP leave, and a
/// moment is read as exactly the one that was written. Above it, the shift changes only when the difference does by as
/// much again.
///
/// Thread rule: any thread.
class server_clock {
public:
    using node_clock = instant (*)() noexcept;
    using steady = std::chrono::steady_clock;

    static constexpr milliseconds tolerance{2000};
    /// As steady clocks drift by some 50 parts in a million, 3 ms in this time.
    static constexpr seconds observed_every{60};

    /// `callers`: by what clock callers tell the time; null: by this one, so that there is nothing to shift.
    explicit server_clock(node_clock callers) noexcept : callers_{callers} {}
    server_clock(const server_clock&) = delete;
    server_clock& operator=(const server_clock&) = delete;

    /// The machine's own clock.
    [[nodiscard]] static TOLLGATE_DECL instant node_now() noexcept;

    /// The server's time; the machine's before the first observation.
    [[nodiscard]] TOLLGATE_DECL instant now() const noexcept;
    /// What to add to a caller's moment to have the server's.
    [[nodiscard]] TOLLGATE_DECL milliseconds shift() const noexcept;

    struct observation {
        steady::time_point asked;
        steady::time_point answered;
        instant told;
    };
    TOLLGATE_DECL void observe(const observation& made) noexcept;
    /// True for one caller, once an observation is due.
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

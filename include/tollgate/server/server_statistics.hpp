#pragma once
#ifndef TOLLGATE_SERVER_SERVER_STATISTICS_HPP
#define TOLLGATE_SERVER_SERVER_STATISTICS_HPP

#include <tollgate/base/config.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tollgate::inline v0 {

/// Counts of what a server has done since it was created, and of its present state.
struct server_statistics {
    std::size_t connections = 0;             ///< open connections, including those that are being refused
    std::uint64_t connections_accepted = 0;  ///< accepted connections, including those that were refused
    std::uint64_t connections_refused = 0;   ///< connections beyond a bound, which were closed after a 503, or at once
    std::size_t queued = 0;                  ///< requests that wait for a worker at the moment
    std::uint64_t taken_up = 0;              ///< requests that a worker started
    std::chrono::nanoseconds waited{};       ///< total time that those requests waited for a worker
    std::uint64_t dropped = 0;               ///< requests that found the queue full, or no worker in time: 503
    std::size_t unsent_bytes = 0;            ///< bytes of responses that clients have not taken yet
    std::uint64_t unsent_closed = 0;         ///< connections that were closed because `unsent_bytes` would have exceeded a bound
};

namespace server_detail {

/// The counters of `server::statistics`. They are atomic, so no lock is needed.
struct server_counters {
    std::atomic<std::size_t> connections{0};
    std::atomic<std::uint64_t> connections_accepted{0};
    std::atomic<std::uint64_t> connections_refused{0};
    std::atomic<std::uint64_t> taken_up{0};
    std::atomic<std::chrono::steady_clock::rep> waited{0};
    std::atomic<std::uint64_t> dropped{0};
    std::atomic<std::size_t> unsent_bytes{0};
    std::atomic<std::uint64_t> unsent_closed{0};

    /// Counts a connection that was accepted only to refuse it.
    void count_refused() noexcept {
        add(connections_accepted);
        add(connections_refused);
    }
    static void add(auto& to) noexcept { to.fetch_add(1, std::memory_order_relaxed); }
    static void remove(auto& from) noexcept { from.fetch_sub(1, std::memory_order_relaxed); }

    /// Returns the counts, with `queued` requests that wait for a worker.
    [[nodiscard]] server_statistics read(std::size_t queued) const noexcept {
        const auto value = [](const auto& counter) { return counter.load(std::memory_order_relaxed); };
        return {value(connections), value(connections_accepted), value(connections_refused),
                queued, value(taken_up), std::chrono::steady_clock::duration{value(waited)}, value(dropped),
                value(unsent_bytes), value(unsent_closed)};
    }
};

}  // namespace server_detail

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_SERVER_STATISTICS_HPP

#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_SERVER_CLOCK_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_SERVER_CLOCK_IPP

#include <tollgate/base/detail/system/boot_clock.hpp>
#include <tollgate/store/detail/postgres/server_clock.hpp>

namespace tollgate::inline v0::postgres {

TOLLGATE_DECL std::int64_t server_clock::steady_milliseconds(steady::time_point at) noexcept {
    return std::chrono::duration_cast<milliseconds>(at.time_since_epoch()).count();
}

TOLLGATE_DECL instant server_clock::node_now() noexcept {
    return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
}

TOLLGATE_DECL instant server_clock::now() const noexcept {
    if (!is_known_.load(std::memory_order_acquire)) return node_now();
    return from_unix_milliseconds(steady_milliseconds(tollgate::detail::boot_now()) +
                                  ahead_of_steady_.load(std::memory_order_relaxed));
}

TOLLGATE_DECL milliseconds server_clock::shift() const noexcept {
    if (callers_ == nullptr || !is_known_.load(std::memory_order_acquire)) return milliseconds{0};
    const std::int64_t measured = (now() - callers_()).count();
    std::int64_t applied = shift_.load(std::memory_order_relaxed);
    const std::int64_t change = measured - applied;
    if (change > tolerance.count() || change < -tolerance.count()) {
        const bool close = measured <= tolerance.count() && measured >= -tolerance.count();
        applied = close ? 0 : measured;
        shift_.store(applied, std::memory_order_relaxed);
    }
    return milliseconds{applied};
}

TOLLGATE_DECL void server_clock::observe(const observation& observed) noexcept {
    // With a slow response it is unknown when the server read its clock.
    constexpr milliseconds round_trip_max{500};
    const auto round_trip = observed.received_at - observed.sent_at;
    if (round_trip > round_trip_max && is_known_.load(std::memory_order_relaxed)) return;
    const auto then = observed.sent_at + round_trip / 2;
    ahead_of_steady_.store(to_unix_milliseconds(observed.server_time) - steady_milliseconds(then), std::memory_order_relaxed);
    is_known_.store(true, std::memory_order_release);
    next_observation_at_.store(
        steady_milliseconds(observed.received_at) + std::chrono::duration_cast<milliseconds>(observed_every).count(),
        std::memory_order_relaxed);
}

TOLLGATE_DECL bool server_clock::wants_observation() noexcept {
    const std::int64_t at = steady_milliseconds(tollgate::detail::boot_now());
    std::int64_t due = next_observation_at_.load(std::memory_order_relaxed);
    if (at < due) return false;
    // The caller that changes it observes; if that fails, another caller observes one second later.
    return next_observation_at_.compare_exchange_strong(due, at + 1000, std::memory_order_relaxed);
}

}  // namespace tollgate::postgres

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_SERVER_CLOCK_IPP

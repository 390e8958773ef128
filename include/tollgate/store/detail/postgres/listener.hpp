#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_LISTENER_HPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_LISTENER_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/process_life.hpp>
#include <tollgate/base/detail/system/wake_up.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/store/cache_invalidation_feed.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace tollgate::inline v0 {

class postgres_database;

namespace postgres {

class connection;

/// Receives notifications (LISTEN) of due deliveries and of changes to cached rows, by any node, on its own
/// connection and thread. These are started by the first call of `changes_seen`, or at once if rows are cached. A
/// broken connection is reopened with the back-off of a pool.
///
/// **Changes** are sent by triggers in the database on the channel `tollgate_changes`: `users 7 12 ...` (the ids of the
/// users whose rows changed) or `all`. This includes changes made by other nodes, by older releases and by hand. An
/// integrator's own tables may send theirs in the same way: `pg_notify('tollgate_changes', 'users ' || id)`.
///
/// **How long a changed row may still be returned**: `trusted_for` after the commit, usually a few milliseconds. Every
/// 250 ms a heartbeat is sent on the connection that receives the notifications. PostgreSQL delivers notifications in
/// commit order, and before the result of the next statement. So the response to a heartbeat sent at time `t` arrives
/// after all notifications committed before `t`; only then are rows trusted until `t + trusted_for`.
/// `cache_invalidation_feed` shows why no older row is ever returned, even if the connection is cut or hangs, the
/// server stops or sleeps, or this process is suspended. (This relies on the server waking listeners when it commits,
/// which takes microseconds and waits for nothing.) After each LISTEN everything is invalidated before anything is
/// trusted.
///
/// Thread rule: any thread.
class listener {
public:
    /// A tenth less than the promised second, as a margin for the time between the check and the use.
    static constexpr milliseconds trusted_for{900};
    /// Two heartbeats in a row may be late before rows lose trust.
    static constexpr milliseconds heartbeat_interval{250};

    explicit listener(postgres_database& connections) noexcept : connections_{connections} {}
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;
    TOLLGATE_DECL ~listener();

    /// From now on changes are passed to `changes`. Must be called before anything else, if at all.
    TOLLGATE_DECL void feed(std::shared_ptr<cache_invalidation_feed> changes) noexcept;

    /// A number that differs after deliveries became due or may have been missed; empty while nothing can be received.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::uint64_t> changes_seen() noexcept;

private:
    using steady = std::chrono::steady_clock;

    TOLLGATE_DECL void start() noexcept;
    TOLLGATE_DECL void stop() noexcept;
    TOLLGATE_DECL void listen_until_stopped() noexcept;
    TOLLGATE_DECL void listen_while_connected();
    TOLLGATE_DECL void take_notifications(connection& from);
    /// Returns true if the listener should stop.
    TOLLGATE_DECL bool pause(milliseconds length) noexcept;

    postgres_database& connections_;
    std::shared_ptr<cache_invalidation_feed> changes_;  // null: no rows are cached
    std::once_flag started_;
    std::atomic<bool> listens_{false};
    std::atomic<bool> stops_{false};
    std::atomic<std::uint64_t> notifications_{0};
    tollgate::detail::wake_up wake_;
    tollgate::detail::owning_process process_;
    std::thread thread_;
    tollgate::detail::before_openssl_end before_openssl_end_;
};

}  // namespace postgres

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/listener.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_LISTENER_HPP

#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/store/postgres/pool.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

namespace tollgate::postgres {

/// Hears (LISTEN) when deliveries become due, whoever reported them: on a connection and a thread of its own, which
/// come with the first question. A connection that broke is opened again, as a pool's are.
///
/// Thread rule: any thread.
class listener {
public:
    explicit listener(pool& connections) noexcept : connections_{connections} {}
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;
    TOLLGATE_DECL ~listener();

    /// Another number whenever something was heard, or may have been missed; none while nothing can be heard.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::uint64_t> changes_seen() noexcept;

private:
    TOLLGATE_DECL void start() noexcept;
    TOLLGATE_DECL void listen_until_stopped() noexcept;
    TOLLGATE_DECL void listen_while_connected();
    /// True when it is time to stop.
    TOLLGATE_DECL bool pause(milliseconds length) noexcept;

    pool& connections_;
    std::once_flag started_;
    std::atomic<bool> listens_{false};
    std::atomic<bool> stops_{false};
    std::atomic<std::uint64_t> heard_{0};
    int wake_reading_ = -1;
    int wake_writing_ = -1;
    std::thread thread_;
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/postgres/listener.ipp>
#endif

#pragma once

#include <tollgate/base/time.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reference {

/// The program that started this one, if it supports systemd's protocols: sd_notify(3), sd_listen_fds(3).
class service_manager {
public:
    /// Reads the environment and removes what it read, so that no child process uses it. Throws `run_error` for more
    /// sockets than a process can have.
    service_manager();

    /// Listening sockets that it passed (LISTEN_FDS, LISTEN_PID); empty if there are none.
    [[nodiscard]] const std::vector<int>& sockets() const noexcept { return sockets_; }

    /// How often it expects `WATCHDOG=1`, halved as recommended (WATCHDOG_USEC, WATCHDOG_PID); none if it does not.
    [[nodiscard]] std::optional<tollgate::milliseconds> watchdog_interval() const noexcept { return watchdog_interval_; }

    /// Sends one datagram, such as `READY=1`, to NOTIFY_SOCKET, which may be an abstract one (`@`). Does nothing if it is not set; failures
    /// are ignored. Does not wait.
    void notify(std::string_view state) const noexcept;

private:
    std::string socket_;
    std::vector<int> sockets_;
    std::optional<tollgate::milliseconds> watchdog_interval_;
};

}  // namespace reference

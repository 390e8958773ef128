#pragma once

#include <chrono>
#include <csignal>
#include <optional>

namespace reference {

/// SIGTERM, SIGINT and SIGHUP as values, which one thread reads, instead of interruptions. Construct it before other threads
/// start, because they inherit the mask that blocks these signals.
class signals {
public:
    /// Also ignores SIGPIPE: a closed connection must not end the server.
    signals();

    /// Blocks until the next one.
    [[nodiscard]] std::optional<int> wait() const;
    /// The same; none if there was no signal for this long.
    [[nodiscard]] std::optional<int> wait(std::chrono::milliseconds at_most) const;

    /// From now on SIGTERM and SIGINT end the process at once, with exit code 1. So does the end of this time, because a thread may wait
    /// for a disk that hangs.
    void exit_on_next_signal_or_after(std::chrono::seconds at_most) const;

private:
    sigset_t blocked_;
};

}  // namespace reference

#pragma once

#include <chrono>
#include <csignal>
#include <optional>

namespace reference {

/// SIGTERM, SIGINT and SIGHUP as values, taken one by one by the thread that asks, instead of interrupting any. Made
/// before other threads are, which inherit that these are held back.
class signals {
public:
    /// Also ignores SIGPIPE: a client that goes away must not take the server along.
    signals();

    /// Blocks until the next one.
    [[nodiscard]] std::optional<int> wait() const;
    /// The same; none if there was no signal for this long.
    [[nodiscard]] std::optional<int> wait(std::chrono::milliseconds at_most) const;

    /// From now on SIGTERM and SIGINT end the process at once, with exit code 1.
    void let_the_next_one_end_the_process() const;

private:
    sigset_t held_back_;
};

}  // namespace reference

#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tollgate_test {

/// A pipe for integers; an end is closed at the end of the scope, or before.
class number_pipe {
public:
    number_pipe() {
        if (::pipe(ends_.data()) != 0) throw std::runtime_error{"no pipe"};
    }
    number_pipe(const number_pipe&) = delete;
    number_pipe& operator=(const number_pipe&) = delete;
    ~number_pipe() {
        close_reading();
        close_writing();
    }

    [[nodiscard]] int reading() const noexcept { return ends_[0]; }
    [[nodiscard]] int writing() const noexcept { return ends_[1]; }
    void close_reading() noexcept { close_end(0); }
    void close_writing() noexcept { close_end(1); }

    bool put(std::int64_t number) noexcept { return ::write(ends_[1], &number, sizeof number) == sizeof number; }
    /// Empty if every writing end is closed.
    std::optional<std::int64_t> take() noexcept {
        std::int64_t number = 0;
        return ::read(ends_[0], &number, sizeof number) == sizeof number ? std::optional{number} : std::nullopt;
    }

private:
    void close_end(std::size_t which) noexcept {
        if (ends_[which] >= 0) ::close(std::exchange(ends_[which], -1));
    }

    std::array<int, 2> ends_{-1, -1};
};

/// A child process that runs `work` and exits with its result; 255 after an exception. It is killed at the end of the
/// scope if it is still running. Start it while this process has one thread.
class child_process {
public:
    explicit child_process(const std::function<int()>& work) : id_{::fork()} {
        if (id_ < 0) throw std::runtime_error{"no fork"};
        if (id_ > 0) return;
        int code = 255;
        try {
            code = work();
        } catch (...) {
        }
        ::_exit(code);  // without the parent's buffers and tests
    }
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;
    child_process(child_process&& other) noexcept : id_{std::exchange(other.id_, -1)} {}
    ~child_process() {
        if (id_ > 0) kill();
    }

    /// SIGKILL: the process cannot handle it.
    void kill() noexcept {
        ::kill(id_, SIGKILL);
        wait();
    }

    /// The exit code; -1 if a signal ended it.
    int wait() noexcept {
        int status = 0;
        ::waitpid(std::exchange(id_, -1), &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

private:
    pid_t id_;
};

/// The exit codes of `count` processes that run `work(start, number)`, whose `start.take()` returns in all of them at the same time.
inline std::vector<int> run_processes(int count, const std::function<int(number_pipe& start, int number)>& work) {
    number_pipe start;
    std::vector<child_process> processes;
    for (int number = 0; number < count; ++number)
        processes.emplace_back([&, number] {
            start.close_writing();
            return work(start, number);
        });
    start.close_writing();
    std::vector<int> codes;
    for (auto& each : processes) codes.push_back(each.wait());
    return codes;
}

}  // namespace tollgate_test

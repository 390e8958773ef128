#pragma once

#include <tollgate/base/time.hpp>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

/// What the process gets from outside: signals, and what systemd passes.
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

/// Reads files again on a thread of its own. They may be on a file system that hangs, which must delay neither the watchdog nor the
/// signal to stop.
class reload_thread {
public:
    /// `reload` must not throw.
    explicit reload_thread(std::function<void()> reload) : reload_{std::move(reload)}, thread_{[this] { run(); }} {}
    reload_thread(const reload_thread&) = delete;
    reload_thread& operator=(const reload_thread&) = delete;
    /// Waits for a reload that was asked for.
    ~reload_thread() {
        set(is_stopping_);
        thread_.join();
    }

    /// Returns at once. A reload that is in progress is followed by another one.
    void ask() { set(is_asked_); }

private:
    void set(bool& flag) {
        {
            const std::lock_guard hold{mutex_};
            flag = true;
        }
        changed_.notify_all();  // glibc before 2.41 may lose the notification of one thread (its bug 25847)
    }

    void run() {
        std::unique_lock lock{mutex_};
        for (;;) {
            changed_.wait(lock, [this] { return is_asked_ || is_stopping_; });
            if (!std::exchange(is_asked_, false)) return;
            lock.unlock();
            reload_();
            lock.lock();
        }
    }

    const std::function<void()> reload_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_asked_ = false;
    bool is_stopping_ = false;
    std::thread thread_;  // last: it uses the others
};

}  // namespace reference

#include "log_writer.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <exception>
#include <utility>

namespace reference {

namespace {

constexpr std::size_t waiting_bytes_max = 1024 * 1024;      // about ten thousand lines: for a reader that is briefly slow
constexpr auto gathering = std::chrono::milliseconds{20};   // lines of this period share one system call
constexpr auto periodic_pause = std::chrono::seconds{1};    // at most, between two calls of `periodic_lines`
constexpr int poll_milliseconds = 100;                      // between two checks whether to stop
constexpr auto last_lines_max = std::chrono::seconds{1};    // a slow reader must not delay the end of the process

}  // namespace

log_writer::log_writer(int descriptor, periodic_lines periodic)
    : descriptor_{descriptor}, periodic_{std::move(periodic)}, thread_{[this] { run(); }} {}

log_writer::~log_writer() {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
        end_ = std::chrono::steady_clock::now() + last_lines_max;
    }
    changed_.notify_one();
    thread_.join();
}

void log_writer::write(std::string_view line) noexcept {
    bool first = false;
    {
        const std::lock_guard lock{mutex_};
        if (waiting_.size() + line.size() > waiting_bytes_max) {
            ++left_out_;
            return;
        }
        first = waiting_.empty();
        try {
            waiting_ += line;
        } catch (...) {
            ++left_out_;
        }
    }
    if (first) changed_.notify_one();
}

void log_writer::run() {
    std::string lines;
    std::unique_lock lock{mutex_};
    while (true) {
        if (changed_.wait_for(lock, periodic_pause, [this] { return stopping_ || !waiting_.empty(); }))
            changed_.wait_for(lock, gathering, [this] { return stopping_; });
        lines.clear();
        std::swap(lines, waiting_);
        const auto count = std::exchange(left_out_, 0);
        const bool last = stopping_;
        lock.unlock();
        using clock = std::chrono::steady_clock;
        try {
            if (count > 0) lines += "tollgate-server: " + std::to_string(count) + " log lines were dropped\n";
            periodic_(lines, last ? clock::time_point::max() : clock::now());
        } catch (const std::exception&) {  // out of memory: these lines are lost
        }
        write_out(lines);
        lock.lock();
        if (last && waiting_.empty()) return;
    }
}

void log_writer::write_out(std::string_view lines) noexcept {
    while (!lines.empty()) {
        // A blocking write to a pipe without a reader would outlive the server's stop, so check the pipe first. A pipe
        // that is ready accepts PIPE_BUF bytes without blocking (POSIX).
        pollfd ready{descriptor_, POLLOUT, 0};
        const bool reader_accepts = ::poll(&ready, 1, poll_milliseconds) != 0;
        if (is_over(reader_accepts)) return;
        if (!reader_accepts) continue;
        const auto written = ::write(descriptor_, lines.data(), (std::min)(lines.size(), std::size_t{PIPE_BUF}));
        if (written < 0 && errno != EINTR && errno != EAGAIN) return;
        if (written > 0) lines.remove_prefix(static_cast<std::size_t>(written));
    }
}

bool log_writer::is_over(bool reader_accepts) noexcept {
    const std::lock_guard lock{mutex_};
    return stopping_ && (!reader_accepts || std::chrono::steady_clock::now() >= end_);
}

}  // namespace reference

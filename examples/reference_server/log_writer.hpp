#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace reference {

/// Writes lines to a file descriptor on its own thread, many with one system call: threads that serve requests only copy a
/// line. If the reader of the log does not keep up, lines are dropped and counted; requests never wait.
class log_writer {
public:
    /// Appends lines of its own; called about once a second with the time, and at the end with `time_point::max()`.
    using periodic_lines = std::function<void(std::string& lines, std::chrono::steady_clock::time_point now)>;

    /// The descriptor must outlive the writer.
    log_writer(int descriptor, periodic_lines periodic);
    log_writer(const log_writer&) = delete;
    log_writer& operator=(const log_writer&) = delete;
    /// Writes the remaining lines, for at most a second, and only as long as the reader accepts them.
    ~log_writer();

    /// `line` ends in a newline. Any thread.
    void write(std::string_view line) noexcept;

private:
    void run();
    void write_out(std::string_view lines) noexcept;
    /// Whether the remaining lines are dropped.
    [[nodiscard]] bool is_over(bool reader_accepts) noexcept;

    int descriptor_;
    periodic_lines periodic_;
    std::mutex mutex_;  // guards all below but the thread
    std::condition_variable changed_;
    std::string waiting_;
    std::uint64_t left_out_ = 0;
    bool stopping_ = false;
    std::chrono::steady_clock::time_point end_{};  // once it stops
    std::thread thread_;
};

}  // namespace reference

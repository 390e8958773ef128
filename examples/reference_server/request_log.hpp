#pragma once

#include "line_limiter.hpp"
#include "settings.hpp"

#include <tollgate/contract/observer.hpp>
#include <tollgate/monitoring/metrics.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

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

/// One line per request: time, request, result, duration, client and ids. Of the
/// request it shows the method, the path and the User-Agent, never the query, another field or the body, where secrets may be.
/// Control bytes are escaped, so that no client can inject a line.
///
/// Of failures and changes of one kind, and of failed deliveries of one webhook, there is one line, and every few seconds a count: see
/// `line_limiter`.
class request_log {
public:
    /// With `log_form::off`, only failures of the server are written.
    explicit request_log(log_form form);

    void on_request(const tollgate::request_record& record) const noexcept;
    void on_refusal(const tollgate::refusal_record& record) const noexcept;
    void on_problem(const tollgate::problem_record& record) const noexcept;
    void on_attempt(const tollgate::delivery_record& record) const noexcept;
    /// A message for the operator that does not belong to a request: written also with `log_form::off`.
    void on_notice(std::string_view message) const noexcept;
    /// The same about a state that may come and go often.
    void on_change(std::string_view message) const noexcept;
    /// Writes to the audit log; only a failure to do so is a line.
    void on_activity(const tollgate::activity& activity) const noexcept;
    /// Sets where activities are stored. Call it before requests are served.
    void set_audit_log(std::function<tollgate::result<void>(const tollgate::activity&)> record) { record_ = std::move(record); }

private:
    struct entry;
    void write(const entry& record) const;
    /// Appends a line for each kind of failure of which lines were omitted.
    void append_counts(std::string& lines, line_limiter::time_point now) const;
    static void append_text(const entry& record, std::string& line);
    static void append_json(const entry& record, std::string& line);

    log_form form_;
    std::function<tollgate::result<void>(const tollgate::activity&)> record_;
    mutable line_limiter failures_;
    mutable line_limiter deliveries_{1024};  // per webhook, so that one with few failures is named beside others with many; 1 MB
    mutable line_limiter changes_;  // of its own: no kinds of failures displace theirs
    mutable log_writer out_;  // safe to write to from any thread
};

static_assert(tollgate::delivery_observer<request_log> && tollgate::activity_observer<request_log>);

/// The observer of the server: it passes everything to the log and the metrics. Both outlive it.
struct observers {
    request_log& log;
    tollgate::metrics& counts;

    void on_request(const tollgate::request_record& record) const noexcept {
        counts.on_request(record);
        log.on_request(record);
    }
    void on_refusal(const tollgate::refusal_record& record) const noexcept {
        counts.on_refusal(record);
        log.on_refusal(record);
    }
    void on_problem(const tollgate::problem_record& record) const noexcept {
        counts.on_problem(record);
        log.on_problem(record);
    }
    void on_attempt(const tollgate::delivery_record& record) const noexcept {
        counts.on_attempt(record);
        log.on_attempt(record);
    }
    void on_activity(const tollgate::activity& activity) const noexcept {
        counts.on_activity(activity);
        log.on_activity(activity);
    }
};

static_assert(tollgate::delivery_observer<observers> && tollgate::activity_observer<observers>);

}  // namespace reference

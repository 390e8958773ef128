#pragma once

#include "line_limiter.hpp"
#include "log_writer.hpp"
#include "settings.hpp"

#include <tollgate/contract/observer.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace reference {

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

}  // namespace reference

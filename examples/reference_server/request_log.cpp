#include "request_log.hpp"

#include "text_values.hpp"

#include <tollgate/base/secret.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/http/json_writer.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/model/hook.hpp>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <exception>
#include <utility>

namespace reference {

using namespace tollgate;

namespace {

// Longer ones are cut, so that lines stay readable.
constexpr std::size_t method_bytes_max = 16;
constexpr std::size_t path_bytes_max = 512;
constexpr std::size_t agent_bytes_max = 128;

/// How the text of a secret looks: the prefix, in which `?` is any lower-case letter, and the digits.
struct secret_form {
    std::string_view prefix;
    std::string_view other_digits;  // than letters and decimal digits
    std::size_t digits_min;
    std::size_t digits_max;
};
constexpr std::size_t token_digits = secret_text_bytes - 4;
constexpr secret_form secret_forms[] = {{"tg?_", "", token_digits, token_digits},
                                        {hook_secret_prefix, "+/=_-", 1, std::string_view::npos}};

constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_digit(char c, const secret_form& form) {
    return is_lower(c) || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || form.other_digits.find(c) != std::string_view::npos;
}

/// Removes the first character of `text`, which is not empty. It may be percent-encoded, even several times: `%5F`, `%255F`.
char take_character(std::string_view& text) {
    const char first = text.front();
    text.remove_prefix(1);
    if (first != '%') return first;
    auto code = text;
    while (code.starts_with("25")) code.remove_prefix(2);
    unsigned decoded = 0;
    if (code.size() < 2 || std::from_chars(code.data(), code.data() + 2, decoded, 16).ptr != code.data() + 2) return first;
    text = code.substr(2);
    return static_cast<char>(decoded);
}

/// The digits of the secret with which `text` begins; empty if it begins with none.
std::string_view digits_at(std::string_view text, const secret_form& form) {
    for (const char expected : form.prefix) {
        if (text.empty()) return {};
        const char c = take_character(text);
        if (expected == '?' ? !is_lower(c) : c != expected) return {};
    }
    auto rest = text;
    std::size_t count = 0;
    for (auto next = rest; count < form.digits_max && !next.empty() && is_digit(take_character(next), form); rest = next) ++count;
    return count < form.digits_min ? std::string_view{} : text.substr(0, text.size() - rest.size());
}

/// The digits of the first secret of Tollgate in `text`, such as those of `tgp_...`; empty if there is none.
std::string_view find_secret(std::string_view text) {
    for (; !text.empty(); text.remove_prefix(1)) {
        if (text.front() != 't' && text.front() != 'w' && text.front() != '%') continue;
        for (const auto& form : secret_forms)
            if (const auto digits = digits_at(text, form); !digits.empty()) return digits;
    }
    return {};
}

/// The printable form of `text`, in which a client may have put a secret: usually itself, otherwise an escaped, masked or
/// shortened copy in `scratch`.
std::string_view shown(std::string_view text, std::size_t bytes_max, std::string& scratch) {
    const bool harmless = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
    auto secret = find_secret(text);
    if (harmless && text.size() <= bytes_max && secret.empty()) return text;
    std::string masked;
    for (; !secret.empty(); secret = find_secret(text)) {
        const auto shown_bytes = static_cast<std::size_t>(secret.data() - text.data());
        masked.append(text.substr(0, shown_bytes)).append("***");
        text.remove_prefix(shown_bytes + secret.size());
    }
    masked.append(text);
    scratch = escape_controls(std::string_view{masked}.substr(0, bytes_max));
    if (masked.size() > bytes_max) scratch += "...";
    return scratch;
}

std::string_view agent_of(const http::request& request) { return request.fields.find(http::field_id::user_agent); }

/// As `shown`, for the id of a request, which the client may have chosen.
std::string_view shown_id(const request_context& context, std::string& scratch) { return shown(context.id, context.id.size(), scratch); }

void append_quoted(std::string& line, std::string_view text) {
    line += '"';
    for (char c : text) {
        if (c == '"' || c == '\\') line += '\\';
        line += c;
    }
    line += '"';
}

/// Milliseconds with three decimal places: `0.412`.
std::string to_milliseconds(std::chrono::nanoseconds duration) {
    const auto microseconds = std::chrono::round<std::chrono::microseconds>(duration).count();
    const auto rest = std::to_string(microseconds % 1000);
    return std::to_string(microseconds / 1000) + "." + std::string(3 - rest.size(), '0') + rest;
}

std::string words_of(const attempt& attempt) {
    switch (attempt.end) {
        case attempt_end::answered: return "answered " + std::to_string(attempt.status);
        case attempt_end::no_address: return "no such host";
        case attempt_end::refused_address: return "resolves to an address that webhooks may not be sent to";
        case attempt_end::no_connection: return "no connection";
        case attempt_end::no_tls: return "TLS handshake failed";
        case attempt_end::timed_out: return "timed out";
        case attempt_end::broken_off: return "connection closed early";
        case attempt_end::bad_response: return "invalid response";
    }
    return "failed";
}

std::string next_step(const delivery_record& record) {
    if (record.completion == completion::hook_disabled) return "the webhook is disabled";
    if (record.result.outcome == delivery_outcome::retry)
        return "again at " + std::string{to_iso8601(record.result.retry_at).view()};
    return "given up";
}

std::string host_of(const delivery_record& record) {
    const auto url = http::url::parse(record.delivery.target_url);
    return url ? url->origin() : "?";
}

/// What the failed deliveries of one webhook have in common: `webhook 4`.
std::string webhook_name(const delivery_record& record) { return "webhook " + std::to_string(record.delivery.hook.value()); }

/// A failed attempt in a few words: `webhook 4 to https://receiver.example: answered 503`. Of the target it shows the host alone: there
/// may be a secret in the rest.
std::string failure_summary(const delivery_record& record) {
    std::string text = webhook_name(record) + " to " + host_of(record) + ": " + words_of(record.result.attempt);
    const std::string reason = escape_controls(record.reason);
    if (!reason.empty() && reason != words_of(record.result.attempt)) text.append(" (").append(reason).append(")");
    return text;
}

/// A failed attempt as a line of the log, without its end.
std::string delivery_line(const delivery_record& record, log_form form) {
    std::string line;
    const auto time = to_iso8601_milliseconds(system_clock{}.now());
    if (form == log_form::json) {
        http::json_writer json{line};
        json.begin_object();
        json.member("time").string(time);
        json.member("webhook").integer(record.delivery.hook.value());
        json.member("webhook_id").string(std::string_view{record.delivery.message_id});
        json.member("host").string(host_of(record));
        json.member("attempt").integer(record.delivery.attempts_made + 1);
        json.member("duration_ms").integer(record.result.attempt.duration.count());
        json.member("failure").string(words_of(record.result.attempt));
        json.member("cause").string(escape_controls(record.reason));
        json.member("then").string(next_step(record));
        json.member("trace_id").string(record.trace_id);
        json.end_object();
    } else {
        line.append(time).append(" ").append(failure_summary(record));
        line.append(", attempt ").append(std::to_string(record.delivery.attempts_made + 1)).append(" in ");
        line.append(std::to_string(record.result.attempt.duration.count())).append("ms, ").append(next_step(record));
        line.append(" webhook-id=").append(std::string_view{record.delivery.message_id});
        line.append(" trace=").append(record.trace_id);
    }
    return line;
}

}  // namespace

struct request_log::entry {
    const request_context& context;
    http::status status;
    const http::request* request;  // null if its head was malformed or incomplete
    const tollgate::caller* caller = nullptr;
    std::string_view reason = {};  // why the server refused it, if it did
    oauth_outcome oauth = {};
};

request_log::request_log(log_form form)
    : form_{form}, out_{STDERR_FILENO, [this](std::string& lines, line_limiter::time_point now) { append_counts(lines, now); }} {}

void request_log::on_request(const request_record& record) const noexcept {
    if (form_ == log_form::off) return;
    try {
        write({record.context, record.response.status(), &record.request, record.caller, {}, record.oauth});
    } catch (...) {  // no memory for a line; the request itself succeeded
    }
}

void request_log::on_refusal(const refusal_record& record) const noexcept {
    if (form_ == log_form::off) return;
    try {
        write({record.context, record.refusal.status, record.refusal.request, nullptr, record.refusal.reason});
    } catch (...) {
    }
}

void request_log::on_problem(const problem_record& record) const noexcept {
    try {
        const std::string_view failure = record.error.log_text();
        if (!failures_.admit(escape_controls(kind_of_failure(failure)), failure, line_limiter::time_point::clock::now())) return;
        std::string line, scratch;
        const auto time = to_iso8601_milliseconds(system_clock{}.now());
        const auto text = escape_controls(record.error.log_text());
        const request_context* context = record.context;
        if (form_ == log_form::json) {
            http::json_writer json{line};
            json.begin_object();
            json.member("time").string(time);
            json.member("problem").string(text);
            if (context != nullptr) {
                json.member("route").string(context->route);
                json.member("request_id").string(shown_id(*context, scratch));
                json.member("trace_id").string(context->trace_id);
            }
            json.end_object();
        } else {
            line.append(time).append(" problem: ").append(text);
            if (context != nullptr)
                line.append(" request=").append(shown_id(*context, scratch)).append(" trace=").append(context->trace_id);
        }
        out_.write(line + "\n");
    } catch (...) {
    }
}

void request_log::on_notice(std::string_view message) const noexcept {
    try {
        std::string line;
        const auto time = to_iso8601_milliseconds(system_clock{}.now());
        if (form_ == log_form::json)
            http::json_writer{line}
                .begin_object()
                .member("time")
                .string(time)
                .member("notice")
                .string(escape_controls(message))
                .end_object();
        else line.append(time).append(" notice: ").append(escape_controls(message));
        out_.write(line + "\n");
    } catch (...) {
    }
}

void request_log::on_change(std::string_view message) const noexcept {
    try {
        // After several changes, the times of the last ones tell which state remains.
        const auto text = to_iso8601_milliseconds(system_clock{}.now()).append(" ").append(message);
        if (changes_.admit(escape_controls(kind_of_failure(message)), text, line_limiter::time_point::clock::now())) on_notice(message);
    } catch (...) {
    }
}

void request_log::on_activity(const activity& activity) const noexcept {
    try {
        if (!record_) return;
        if (const auto recorded = record_(activity); !recorded) on_problem(recorded.error());
    } catch (...) {
        on_notice("an activity was not recorded: out of memory");
    }
}

void request_log::on_attempt(const delivery_record& record) const noexcept {
    if (form_ == log_form::off || record.result.outcome == delivery_outcome::delivered) return;
    try {
        const bool admitted = deliveries_.admit(webhook_name(record), failure_summary(record), line_limiter::time_point::clock::now());
        if (admitted || record.completion == completion::hook_disabled) out_.write(delivery_line(record, form_) + "\n");
    } catch (...) {
    }
}

void request_log::append_counts(std::string& lines, line_limiter::time_point now) const {
    const auto append = [&](std::string_view kind, std::uint64_t count, std::string_view last) {
        const auto time = to_iso8601_milliseconds(system_clock{}.now());
        if (form_ == log_form::json) {
            http::json_writer json{lines};
            json.begin_object();
            json.member("time").string(time);
            json.member("repeated").string(kind);
            json.member("count").integer(static_cast<std::int64_t>(count));
            if (!last.empty()) json.member("last").string(escape_controls(last));
            json.end_object();
        } else {
            lines.append(time).append(" ").append(std::to_string(count)).append(" more like this: ").append(kind);
            if (!last.empty()) lines.append("; the last: ").append(escape_controls(last));
        }
        lines += '\n';
    };
    failures_.report(now, append);
    deliveries_.report(now, append);
    changes_.report(now, append);
}

void request_log::write(const entry& record) const {
    thread_local std::string line;  // keeps its memory from request to request
    line.clear();
    if (form_ == log_form::json) append_json(record, line);
    else append_text(record, line);
    line += '\n';
    out_.write(line);
}

void request_log::append_text(const entry& record, std::string& line) {
    std::string scratch;
    line.append(to_iso8601_milliseconds(record.context.at)).append(" ");
    if (record.request != nullptr) {
        line.append(shown(record.request->method_name, method_bytes_max, scratch)).append(" ");
        line.append(record.context.route.empty() ? std::string_view{"-"} : record.context.route).append(" ");
    } else {
        line.append("refused ");
    }
    line.append(std::to_string(to_number(record.status))).append(" ").append(to_milliseconds(record.context.duration)).append("ms");
    line.append(" client=").append(record.context.client.to_text());
    if (record.caller != nullptr) {
        line.append(" user=").append(std::to_string(record.caller->user.value()));
        if (record.caller->token) line.append(" token=").append(std::to_string(record.caller->token->value()));
        if (record.caller->application) line.append(" application=").append(std::to_string(record.caller->application->value()));
    }
    if (!record.oauth.client_id.empty()) {
        line.append(" client_id=");
        append_quoted(line, shown(record.oauth.client_id, record.oauth.client_id.size(), scratch));
    }
    if (!record.oauth.error.empty()) line.append(" oauth_error=").append(record.oauth.error);
    line.append(" request=").append(shown_id(record.context, scratch)).append(" trace=").append(record.context.trace_id);
    if (!record.reason.empty()) {
        line.append(" reason=");
        append_quoted(line, record.reason);
    }
    if (record.request == nullptr) return;
    line.append(" path=").append(shown(record.request->target.path, path_bytes_max, scratch)).append(" agent=");
    append_quoted(line, shown(agent_of(*record.request), agent_bytes_max, scratch));
}

void request_log::append_json(const entry& record, std::string& line) {
    std::string scratch;
    http::json_writer json{line};
    json.begin_object();
    json.member("time").string(to_iso8601_milliseconds(record.context.at));
    if (record.request != nullptr) {
        json.member("method").string(shown(record.request->method_name, method_bytes_max, scratch));
        json.member("route").string(record.context.route);
    }
    json.member("status").integer(to_number(record.status));
    json.member("duration_ms").value(to_milliseconds(record.context.duration));
    json.member("client").string(record.context.client.to_text());
    if (record.caller != nullptr) {
        json.member("user").integer(record.caller->user.value());
        if (record.caller->token) json.member("token").integer(record.caller->token->value());
        if (record.caller->application) json.member("application").integer(record.caller->application->value());
    }
    if (!record.oauth.client_id.empty())
        json.member("client_id").string(shown(record.oauth.client_id, record.oauth.client_id.size(), scratch));
    if (!record.oauth.error.empty()) json.member("oauth_error").string(record.oauth.error);
    json.member("request_id").string(shown_id(record.context, scratch));
    json.member("trace_id").string(record.context.trace_id);
    if (!record.reason.empty()) json.member("reason").string(record.reason);
    if (record.request != nullptr) {
        json.member("path").string(shown(record.request->target.path, path_bytes_max, scratch));
        json.member("agent").string(shown(agent_of(*record.request), agent_bytes_max, scratch));
    }
    json.end_object();
}

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

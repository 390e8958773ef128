#include "request_log.hpp"

#include "delivery_lines.hpp"
#include "text_values.hpp"

#include <tollgate/base/secret.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/http/json_writer.hpp>
#include <tollgate/model/hook.hpp>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>

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

}  // namespace reference

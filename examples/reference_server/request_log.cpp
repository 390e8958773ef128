#include "request_log.hpp"

#include "text_values.hpp"

#include <tollgate/http/json_writer.hpp>
#include <tollgate/base/system_sources.hpp>

#include <unistd.h>

#include <algorithm>

namespace reference {

using namespace tollgate;

namespace {

// Longer ones are cut: a line is for a person to read.
constexpr std::size_t method_bytes_max = 16;
constexpr std::size_t path_bytes_max = 512;
constexpr std::size_t agent_bytes_max = 128;

/// What may be shown of `text`: itself, which is nearly always so, or an escaped or shortened copy in `scratch`.
std::string_view shown(std::string_view text, std::size_t bytes_max, std::string& scratch) {
    const bool harmless = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
    if (harmless && text.size() <= bytes_max) return text;
    scratch = escape_controls(text.substr(0, bytes_max));
    if (text.size() > bytes_max) scratch += "...";
    return scratch;
}

void append_quoted(std::string& line, std::string_view text) {
    line += '"';
    for (char c : text) {
        if (c == '"' || c == '\\') line += '\\';
        line += c;
    }
    line += '"';
}

}  // namespace

struct request_log::entry {
    instant at;
    ip_address client;
    http::status status;
    std::string_view method;  // the first three as sent; empty for what was refused before it was a request
    std::string_view path;
    std::string_view agent;
    const caller* who = nullptr;
    std::string_view reason;  // why it was refused
};

request_log::request_log(log_form form) : form_{form}, out_{STDERR_FILENO} {}

void request_log::on_request(const request_record& record) const noexcept {
    if (form_ == log_form::off) return;
    try {
        write({record.now,
               record.client,
               record.answered.status(),
               record.asked.method_name,
               record.asked.target.path,
               record.asked.fields.find(http::field_id::user_agent),
               record.who,
               {}});
    } catch (...) {  // no memory for a line: the request itself went well
    }
}

void request_log::on_refusal(const http::refusal& refused) const noexcept {
    if (form_ == log_form::off) return;
    try {
        write({system_clock{}.now(), refused.peer, refused.status, {}, {}, {}, nullptr, refused.reason});
    } catch (...) {
    }
}

void request_log::on_problem(const error& why) const noexcept { write_event("problem", why.cause); }

void request_log::on_notice(std::string_view what) const noexcept { write_event("notice", what); }

void request_log::write_event(std::string_view kind, std::string_view text) const noexcept {
    try {
        std::string line;
        const auto at = to_iso8601(system_clock{}.now());
        if (form_ == log_form::json) {
            http::json_writer json{line};
            json.begin_object();
            json.member("time").string(at.view());
            (kind == "notice" ? json.member("notice") : json.member("problem")).string(escape_controls(text));
            json.end_object();
        } else {
            line.append(at.view()).append(" ").append(kind).append(": ").append(escape_controls(text));
        }
        out_.write(line + "\n");
    } catch (...) {
    }
}

void request_log::on_attempt(const delivery_record& told) const noexcept {
    try {
        if (const auto line = deliveries_.line(told, form_); !line.empty()) out_.write(line);
    } catch (...) {
    }
}

void request_log::on_activity(const activity& done) const noexcept {
    try {
        if (!record_) return;
        if (const auto kept = record_(done); !kept) on_problem(kept.error());
    } catch (...) {
        on_notice("an activity was not recorded: out of memory");
    }
}

void request_log::write(const entry& told) const {
    thread_local std::string line;  // keeps its memory from request to request
    line.clear();
    if (form_ == log_form::json) append_json(told, line);
    else append_text(told, line);
    line += '\n';
    out_.write(line);
}

void request_log::append_text(const entry& told, std::string& line) {
    std::string scratch;
    line.append(to_iso8601(told.at).view()).append(" ").append(told.client.to_text()).append(" ");
    line.append(std::to_string(to_number(told.status))).append(" ");
    if (told.reason.empty()) {
        line.append(shown(told.method, method_bytes_max, scratch)).append(" ");
        line.append(shown(told.path, path_bytes_max, scratch)).append(" ");
        append_quoted(line, shown(told.agent, agent_bytes_max, scratch));
    } else {
        line.append("refused: ").append(told.reason);
    }
    if (told.who != nullptr) line.append(" user=").append(std::to_string(told.who->user.value()));
}

void request_log::append_json(const entry& told, std::string& line) {
    std::string scratch;
    http::json_writer json{line};
    json.begin_object();
    json.member("time").string(to_iso8601(told.at).view());
    json.member("client").string(told.client.to_text());
    json.member("status").integer(to_number(told.status));
    if (told.reason.empty()) {
        json.member("method").string(shown(told.method, method_bytes_max, scratch));
        json.member("path").string(shown(told.path, path_bytes_max, scratch));
        json.member("agent").string(shown(told.agent, agent_bytes_max, scratch));
    } else {
        json.member("refused").string(told.reason);
    }
    if (told.who != nullptr) json.member("user").integer(told.who->user.value());
    json.end_object();
}

}  // namespace reference

#include "request_log.hpp"

#include "text_values.hpp"

#include <tollgate/http/json_writer.hpp>
#include <tollgate/policy/system_clock.hpp>

#include <unistd.h>

namespace reference {

using namespace tollgate;

namespace {

// Longer ones are cut: a line is for a person to read.
constexpr std::size_t method_bytes_max = 16;
constexpr std::size_t path_bytes_max = 512;
constexpr std::size_t agent_bytes_max = 128;

/// Escaped, and never longer than it was allowed to be by much.
std::string shown(std::string_view text, std::size_t bytes_max) {
    const bool cut = text.size() > bytes_max;
    auto escaped = escape_controls(text.substr(0, bytes_max));
    return cut ? escaped + "..." : escaped;
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
    std::string method;  // the rest is empty for what was refused before it was a request
    std::string path;
    std::string agent;
    const caller* who = nullptr;
    std::string_view reason;  // why it was refused
};

request_log::request_log(log_form form) : form_{form}, out_{STDERR_FILENO} {}

void request_log::on_request(const request_record& record) const noexcept {
    if (form_ == log_form::off) return;
    try {
        write({record.now, record.client, record.answered.status(), shown(record.asked.method_name, method_bytes_max),
               shown(record.asked.target.path, path_bytes_max),
               shown(record.asked.fields.find(http::field_id::user_agent), agent_bytes_max), record.who, {}});
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

void request_log::on_problem(const problem& why) const noexcept {
    try {
        std::string line;
        const auto at = to_iso8601(system_clock{}.now());
        if (form_ == log_form::json) {
            http::json_writer json{line};
            json.begin_object();
            json.member("time").string(at.view());
            json.member("problem").string(escape_controls(why.cause));
            json.end_object();
        } else {
            line.append(at.view()).append(" problem: ").append(escape_controls(why.cause));
        }
        out_.write(line + "\n");
    } catch (...) {
    }
}

void request_log::write(const entry& told) const {
    std::string line;
    if (form_ == log_form::json) {
        http::json_writer json{line};
        json.begin_object();
        json.member("time").string(to_iso8601(told.at).view());
        json.member("client").string(told.client.to_text());
        json.member("status").integer(to_number(told.status));
        if (told.reason.empty()) {
            json.member("method").string(told.method);
            json.member("path").string(told.path);
            json.member("agent").string(told.agent);
        } else {
            json.member("refused").string(told.reason);
        }
        if (told.who != nullptr) json.member("user").integer(told.who->user.value());
        json.end_object();
    } else {
        line.append(to_iso8601(told.at).view()).append(" ").append(told.client.to_text()).append(" ");
        line.append(std::to_string(to_number(told.status))).append(" ");
        if (told.reason.empty()) {
            line.append(told.method).append(" ").append(told.path).append(" ");
            append_quoted(line, told.agent);
        } else {
            line.append("refused: ").append(told.reason);
        }
        if (told.who != nullptr) line.append(" user=").append(std::to_string(told.who->user.value()));
    }
    out_.write(line + "\n");
}

}  // namespace reference

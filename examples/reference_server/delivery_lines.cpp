#include "delivery_lines.hpp"

#include "text_values.hpp"

#include <tollgate/http/json_writer.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/base/system_sources.hpp>

namespace reference {

using namespace tollgate;

namespace {

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

}  // namespace

std::string webhook_name(const delivery_record& record) { return "webhook " + std::to_string(record.delivery.hook.value()); }

std::string failure_summary(const delivery_record& record) {
    std::string text = webhook_name(record) + " to " + host_of(record) + ": " + words_of(record.result.attempt);
    const std::string reason = escape_controls(record.reason);
    if (!reason.empty() && reason != words_of(record.result.attempt)) text.append(" (").append(reason).append(")");
    return text;
}

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

}  // namespace reference

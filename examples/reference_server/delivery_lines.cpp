#include "delivery_lines.hpp"

#include "text_values.hpp"

#include <tollgate/http/json_writer.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/base/system_sources.hpp>

namespace reference {

using namespace tollgate;

namespace {

std::string words_of(const attempt& made) {
    switch (made.end) {
        case attempt_end::answered: return "answered " + std::to_string(made.status);
        case attempt_end::no_address: return "no such host";
        case attempt_end::refused_address: return "leads where webhooks may not go";
        case attempt_end::no_connection: return "no connection";
        case attempt_end::no_tls: return "no TLS";
        case attempt_end::timed_out: return "timed out";
        case attempt_end::broken_off: return "broken off";
        case attempt_end::bad_answer: return "no valid answer";
    }
    return "failed";
}

std::string next_step(const delivery_record& told) {
    if (told.result == completion::hook_disabled) return "the webhook is disabled";
    if (told.ended.outcome == delivery_outcome::retry)
        return "again at " + std::string{to_iso8601(told.ended.retry_at).view()};
    return "given up";
}

}  // namespace

std::optional<std::uint64_t> delivery_lines::admit(const attempt& made) {
    const std::lock_guard hold{mutex_};
    pace& of = paces_[{made.end, made.end == attempt_end::answered ? made.status : 0}];
    const auto now = clock::now();
    if (now - of.began >= period) {
        of.began = now;
        of.lines = 0;
    }
    if (of.lines == lines_a_period) {
        ++of.left_out;
        return std::nullopt;
    }
    ++of.lines;
    return std::exchange(of.left_out, 0);
}

std::string delivery_lines::line(const delivery_record& told, log_form form) {
    if (told.ended.outcome == delivery_outcome::delivered || form == log_form::off) return {};
    const auto left_out = admit(told.ended.made);
    if (!left_out && told.result != completion::hook_disabled) return {};

    const auto url = http::url::parse(told.sent.target_url);
    const std::string host = url ? url->origin() : "?";
    const std::string why = escape_controls(told.why);
    std::string made;
    const auto at = to_iso8601(system_clock{}.now());
    if (form == log_form::json) {
        http::json_writer json{made};
        json.begin_object();
        json.member("time").string(at.view());
        json.member("webhook").integer(told.sent.hook.value());
        json.member("id").string(std::string_view{told.sent.message_id});
        json.member("host").string(host);
        json.member("attempt").integer(told.sent.attempts_made + 1);
        json.member("failure").string(words_of(told.ended.made));
        json.member("cause").string(why);
        json.member("then").string(next_step(told));
        if (left_out.value_or(0) != 0) json.member("left_out").integer(static_cast<std::int64_t>(*left_out));
        json.end_object();
    } else {
        made.append(at.view()).append(" webhook ").append(std::to_string(told.sent.hook.value())).append(" to ").append(host);
        made.append(": ").append(words_of(told.ended.made));
        if (!why.empty()) made.append(" (").append(why).append(")");
        made.append(", attempt ").append(std::to_string(told.sent.attempts_made + 1)).append(", ").append(next_step(told));
        if (left_out.value_or(0) != 0) made.append("; ").append(std::to_string(*left_out)).append(" like it were left out");
    }
    return made + "\n";
}

}  // namespace reference

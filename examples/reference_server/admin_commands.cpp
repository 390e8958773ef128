#include "admin_commands.hpp"

#include "check.hpp"
#include "failure.hpp"
#include "password_hash.hpp"
#include "text_values.hpp"

#include <tollgate/base/limits.hpp>
#include <tollgate/web/cookie_sessions.hpp>

#include <nlohmann/json.hpp>

#include <iostream>

namespace reference {

using namespace tollgate;

namespace {

nlohmann::ordered_json to_json(const std::optional<instant>& at) {
    if (!at) return nullptr;
    return to_iso8601(*at).view();
}

std::string_view name_of(delivery_state state) {
    switch (state) {
        case delivery_state::waiting: return "waiting";
        case delivery_state::delivered: return "delivered";
        case delivery_state::given_up: return "given_up";
        case delivery_state::held: return "held";
    }
    return {};
}

}  // namespace

static_assert(limits::password_bytes_max == 1024 && limits::password_characters_min == 8, "the messages name the bounds");

std::string read_password(std::string_view login) {
    std::string line;
    std::getline(std::cin, line);
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) throw usage_error{"--password-stdin: stdin contains no password."};
    if (!is_valid_utf8(line)) throw usage_error{"--password-stdin: the password is not UTF-8."};
    if (limits::count_characters(normalize_password(line)) < limits::password_characters_min)
        throw usage_error{"--password-stdin: the password is shorter than 8 characters."};
    if (line.size() > limits::password_bytes_max)
        throw usage_error{"--password-stdin: the password is longer than 1024 bytes."};
    if (is_common_password(line, login))
        throw usage_error{"--password-stdin: the password is the login, or one of the most common passwords."};
    return line;
}

nlohmann::ordered_json to_json(const user_record& row) {
    nlohmann::ordered_json json{{"id", row.id.value()},
                                {"login", row.login},
                                {"disabled", row.disabled},
                                {"currency", row.currency.view()},
                                {"balance", row.balance.text()},
                                {"per_day", nullptr}};
    if (row.requests_per_day) json["per_day"] = *row.requests_per_day;
    return json;
}

nlohmann::ordered_json to_json(const personal_token& row) {
    return {{"id", row.id.value()},
            {"username", row.username.view()},
            {"description", row.description},
            {"scopes", row.scopes.text()},
            {"created_at", to_iso8601(row.created_at).view()},
            {"expires_at", to_json(row.expires_at)},
            {"last_used_at", to_json(row.last_used_at)},
            {"last_used_from", row.last_used_from}};
}

nlohmann::ordered_json to_json(const application_grant& row) {
    return {{"user", row.user.value()},
            {"scopes", row.scopes.text()},
            {"created_at", to_iso8601(row.created_at).view()},
            {"last_used_at", to_json(row.last_used_at)}};
}

nlohmann::ordered_json to_json(const application& row) {
    nlohmann::ordered_json json{{"client_id", row.client_id.view()},
            {"user", row.owner.value()},
            {"name", row.name},
            {"website", row.website},
            {"description", row.description},
            {"type", to_text(row.type)},
            {"redirect_urls", row.redirect_urls},
            {"users", row.users},
            {"created_at", to_iso8601(row.created_at).view()},
            {"suspended", nullptr}};
    if (row.suspended) json["suspended"] = to_text(*row.suspended);
    return json;
}

nlohmann::ordered_json to_json(const hook& row) {
    nlohmann::ordered_json json{{"id", row.id.value()},
                                {"event", row.event},
                                {"target_url", row.target_url},
                                {"source", to_text(row.source)},
                                {"type", row.type},
                                {"created_at", to_iso8601(row.created_at).view()},
                                {"failing_since", to_json(row.failing_since)},
                                {"disabled_at", nullptr}};
    if (row.disabled) {
        json["disabled_at"] = to_iso8601(row.disabled->at).view();
        json["disable_reason"] = row.disabled->reason == disable_reason::gone ? "gone" : "failing";
    }
    return json;
}

nlohmann::ordered_json to_json(const delivery& row) {
    return {{"id", row.id.value()},
            {"webhook_id", row.message_id.view()},
            {"event", row.event},
            {"state", name_of(row.state)},
            {"attempts", row.attempts_made},
            {"created_at", to_iso8601(row.created_at).view()},
            {"next_attempt_at", to_json(row.next_attempt_at)}};
}

nlohmann::ordered_json to_json(const attempt& row) {
    nlohmann::ordered_json json{{"at", to_iso8601(row.at).view()},
                                {"duration_ms", row.duration.count()},
                                {"status", nullptr},
                                {"outcome", to_text(row.end)},
                                {"cause", nullptr}};
    if (row.status != 0) json["status"] = row.status;
    if (row.cause != attempt_cause::none) json["cause"] = to_text(row.cause);
    return json;
}

nlohmann::ordered_json to_json(const activity& row) {
    const bool is_reuse = row.kind == activity_kind::access_revoked_after_reuse;
    nlohmann::ordered_json json{{"at", to_iso8601(row.at).view()},
                                {"user", row.user.value()},
                                {"by", is_reuse ? "application" : row.client ? "user" : "operator"},
                                {"what", to_text(row.kind)},
                                {"subject", row.subject},
                                {"client", nullptr}};
    if (row.client) json["client"] = row.client->to_text();
    return json;
}

nlohmann::ordered_json check_without_store(const settings& settings) {
    check_report report;
    report.add("certificate", [&] { return check_certificate(settings); });
    report.add("limits", [&] { return check_limits(settings); });
    return report.finish();
}

nlohmann::ordered_json administer(const command& chosen, const settings& settings) {
#if defined(TOLLGATE_WITH_POSTGRES)
    if (settings.store_location().kind == location::kind::postgres) return administer_on_postgres(chosen, settings);
#endif
    if (settings.store_location().kind == location::kind::memory) return check_without_store(settings);
    return administer_on_sqlite(chosen, settings);
}

}  // namespace reference

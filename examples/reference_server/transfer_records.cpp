#include "transfer_records.hpp"

#include <tollgate/base/decimal.hpp>
#include <tollgate/http/json_body.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/model/account.hpp>
#include <tollgate/model/activity.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/model/resource.hpp>
#include <tollgate/model/scope.hpp>

#include <algorithm>

namespace reference {

namespace {

using enum member_kind;
using std::string_view;

bool is_filled(string_view text) { return !text.empty(); }
bool is_amount(string_view text) { return tollgate::decimal::parse(text).has_value(); }
bool is_currency(string_view text) { return text.size() == 3 && tollgate::currency_code::from(text).has_value(); }
bool is_service(string_view text) { return tollgate::service_name::from(text).has_value(); }
bool is_username(string_view text) { return !text.empty() && tollgate::token_username::from(text).has_value(); }
bool is_client_id(string_view text) { return !text.empty() && tollgate::client_id_text::from(text).has_value(); }
bool are_scopes(string_view text) { return tollgate::scope_set::parse(text).has_value(); }
bool is_url(string_view text) { return !text.empty() && text.find('\n') == string_view::npos; }
bool is_target_url(string_view text) { return tollgate::http::url::parse(text).has_value(); }
bool is_json(string_view text) { return tollgate::http::check_json(text).has_value(); }
bool is_activity(string_view text) { return tollgate::activity_kind_of(text).has_value(); }
bool are_resources(string_view text) { return tollgate::resource_set::parse(text).has_value(); }
bool is_seed(string_view text) { return text.size() == 32; }

constexpr member_rules optional{.may_be_null = true};

constexpr string_view same_service[] = {"service"};
constexpr string_view same_account[] = {"service", "account"};
constexpr string_view same_hook[] = {"hook"};

constexpr stored_value hook_sources[] = {{"api"}, {"manual"}};
constexpr stored_value disable_reasons[] = {{"gone"}, {"failing"}};
constexpr stored_value client_types[] = {{"confidential"}, {"public"}, {"resource_server"}};
constexpr stored_value suspensions[] = {{"operator"}, {"owner_disabled"}};
constexpr stored_value registrations[] = {{"owner"}, {"itself"}, {"document"}};
constexpr stored_value device_code_states[] = {{"pending"}, {"approved"}, {"denied"}};

// Stored as numbers.
constexpr stored_value delivery_states[] = {{"waiting", "0"}, {"delivered", "1"}, {"given_up", "2"}, {"held", "3"}};
constexpr stored_value attempt_ends[] = {{"answered", "0"},
                                         {"no_address", "1"},
                                         {"refused_address", "2"},
                                         {"no_connection", "3"},
                                         {"no_tls", "4"},
                                         {"timed_out", "5"},
                                         {"broken_off", "6"},
                                         {"bad_response", "7"}};
constexpr stored_value attempt_causes[] = {{"none", "0"},
                                           {"name_not_found", "1"},
                                           {"no_name_server", "2"},
                                           {"connection_refused", "3"},
                                           {"unreachable", "4"},
                                           {"connect_timeout", "5"},
                                           {"handshake_timeout", "6"},
                                           {"response_timeout", "7"},
                                           {"certificate_expired", "8"},
                                           {"certificate_not_yet_valid", "9"},
                                           {"certificate_for_other_host", "10"},
                                           {"certificate_not_trusted", "11"},
                                           {"certificate_invalid", "12"}};

constexpr member users[] = {
    {"id", id},
    {"login", text, {}, {.is_valid = is_filled}},
    {"password_hash", text},
    {"currency", text, {}, {.is_valid = is_currency}},
    {"balance", text, {}, {.is_valid = is_amount}},
    {"requests_per_day", integer, {}, optional},
    {"disabled", boolean},
};

constexpr member accounts[] = {
    {"id", id},
    {"service", text, {}, {.is_valid = is_service}},
    {"user", id, "user_id", {.refers_to = "user"}},
    {"name", text},
    {"admin", boolean},
};

constexpr member hooks[] = {
    {"id", id},
    {"service", text, {}, {.is_valid = is_service}},
    {"account", id, "account_id", {.refers_to = "account", .agrees_in = same_service}},
    {"event", text, {}, {.is_valid = is_filled}},
    {"source", text, {}, {.values = hook_sources}},
    {"format", text, "type", {.is_valid = is_filled}},
    {"target_url", text, {}, {.is_valid = is_target_url}},
    {"secret", secret},
    {"secret_digest", digest, {}, optional},
    {"created_at", time},
    {"disabled_at", time, {}, optional},
    {"disable_reason", text, {}, {.may_be_null = true, .values = disable_reasons}},
    {"failing_since", time, {}, optional},
    {"last_failure_at", time, {}, optional},
    {"idempotency_key", digest, {}, optional},
};
constexpr derived_column hooks_postgres[] = {{"host_id", "(SELECT id FROM tollgate_hosts WHERE name = given.host)"}};

// Service and account are those of the hook. The secret is encrypted for them.
constexpr member hook_secrets[] = {
    {"id", id},
    {"hook", id, "hook_id", {.refers_to = "hook", .agrees_in = same_account}},
    {"service", text, "(SELECT service FROM tollgate_hooks WHERE id = r.hook_id)", {.is_valid = is_service}},
    {"account", id, "(SELECT account_id FROM tollgate_hooks WHERE id = r.hook_id)"},
    {"secret", secret},
    {"valid_until", time},
};

constexpr member personal_tokens[] = {
    {"id", id},
    {"user", id, "user_id", {.refers_to = "user"}},
    {"username", text, {}, {.is_valid = is_username}},
    {"secret_digest", digest},
    {"description", text},
    {"scopes", text, {}, {.is_valid = are_scopes}},
    {"created_at", time},
    {"last_used_at", time, {}, optional},
    {"expires_at", time, {}, optional},
    {"last_used_from", text, {}, optional},
};

// An application that no user registered has no owner; the stores keep the largest id.
constexpr member applications[] = {
    {"id", id},
    {"owner", id, "nullif(r.owner_id, 9223372036854775807)", {.may_be_null = true, .refers_to = "user"}},
    {"client_id", text, {}, {.is_valid = is_client_id}},
    {"client_type", text, {}, {.values = client_types}},
    {"secret_digest", digest},
    {"older_secret_digest", digest, {}, optional},
    {"name", text},
    {"website", text},
    {"description", text},
    {"redirect_urls", lines, {}, {.is_valid = is_url}},
    {"created_at", time},
    {"acts_for_owner", boolean},
    {"suspended", text, {}, {.may_be_null = true, .values = suspensions}},
    {"registration", text, {}, {.values = registrations}},
    {"default_scopes", text, {}, {.is_valid = are_scopes}},
    {"registration_digest", digest, {}, optional},
};
constexpr derived_column applications_derived[] = {{"owner_id", "coalesce(given.owner, 9223372036854775807)"}};

constexpr member grants[] = {
    {"id", id},
    {"user", id, "user_id", {.refers_to = "user"}},
    {"application", id, "application_id", {.refers_to = "application"}},
    {"scopes", text, {}, {.is_valid = are_scopes}},
    {"created_at", time},
    {"last_used_at", time, {}, optional},
};

constexpr member refresh_tokens[] = {
    {"id", id},
    {"grant", id, "grant_id", {.refers_to = "grant"}},
    {"token_digest", digest},
    {"scopes", text, {}, {.is_valid = are_scopes}},
    {"expires_at", time},
    {"ends_at", time},
    {"family_digest", digest, {}, optional},
    {"replaced_digest", digest, {}, optional},
    {"replaced_at", time, {}, optional},
    {"successor_seed", digest, {}, optional},
    {"resources", text, {}, {.is_valid = are_resources}},
};

// The refresh token of an access token or a code may have been deleted.
constexpr member access_tokens[] = {
    {"token_digest", digest},
    {"user", id, "user_id", {.refers_to = "user"}},
    {"application", id, "application_id", {.refers_to = "application"}},
    {"scopes", text, {}, {.is_valid = are_scopes}},
    {"created_at", time},
    {"expires_at", time},
    {"refresh_token", id, "refresh_token_id", optional},
    {"last_used_at", time, {}, optional},
    {"resources", text, {}, {.is_valid = are_resources}},
};

constexpr member codes[] = {
    {"id", id},
    {"grant", id, "grant_id", {.refers_to = "grant"}},
    {"code_digest", digest},
    {"scopes", text, {}, {.is_valid = are_scopes}},
    {"redirect", text},
    {"code_challenge", text, {}, optional},
    {"expires_at", time},
    {"forget_at", time},
    {"refresh_token", id, "refresh_token_id", optional},
    {"resources", text, {}, {.is_valid = are_resources}},
};

// The user who answered may have been deleted.
constexpr member device_codes[] = {
    {"id", id},
    {"application", id, "application_id", {.refers_to = "application"}},
    {"device_digest", digest},
    {"user_digest", digest},
    {"scopes", text, {}, {.is_valid = are_scopes}},
    {"requested_from", text},
    {"created_at", time},
    {"expires_at", time},
    {"state", text, {}, {.values = device_code_states}},
    {"answered_by", id, {}, optional},
};

constexpr member sessions[] = {
    {"cookie_digest", digest},
    {"user", id, "user_id", {.refers_to = "user"}},
    {"login", text},
    {"created_at", time},
    {"last_seen_at", time},
    {"signed_in_from", text},
    {"user_agent", text},
};

// The ids of the event's messages are derived from the seed.
constexpr member events[] = {
    {"id", id},
    {"service", text, {}, {.is_valid = is_service}},
    {"account", id, "account_id", {.refers_to = "account", .agrees_in = same_service}},
    {"name", text, {}, {.is_valid = is_filled}},
    {"data", text, {}, {.is_valid = is_json}},
    {"happened_at", time},
    {"message_seed", bytes, "seed", {.is_valid = is_seed}},
};

// `at`: when a delivery that waits is due, or its lease ends; of others, when they ended.
constexpr member deliveries[] = {
    {"id", id},
    {"hook", id, "hook_id", {.refers_to = "hook"}},
    {"event", id, "event_id", {.refers_to = "event"}},
    {"created_at", time},
    {"state", text, {}, {.values = delivery_states}},
    {"at", time},
    {"leased", boolean, "is_leased"},
    {"lease_open", boolean, "lease_is_open"},
    {"lease_number", integer},
    {"attempts_made", integer},
    {"resend_asked", boolean},
};
constexpr derived_column deliveries_sqlite[] = {{"host", "''"}};  // the next lease sets it
constexpr derived_column deliveries_postgres[] = {{"host_id", "(SELECT host_id FROM tollgate_hooks WHERE id = given.hook)"}};

constexpr member attempts[] = {
    {"id", id},
    {"delivery", id, "delivery_id", {.refers_to = "delivery", .agrees_in = same_hook}},
    {"hook", id, "hook_id"},
    {"at", time},
    {"duration_ms", integer, "duration"},
    {"outcome", text, "ended", {.values = attempt_ends}},
    {"cause", text, {}, {.values = attempt_causes}},
    {"status", integer},
    {"response", bytes, "answer"},
    {"request", bytes},
};

// The audit log keeps the entries of deleted users.
constexpr member activities[] = {
    {"id", id},
    {"kind", text, {}, {.is_valid = is_activity}},
    {"user", id, "user_id"},
    {"subject", text},
    {"client", text},
    {"at", time},
};

// A deleted hook has a row until its deliveries are removed.
constexpr string_view hook_exists = "r.account_id <> 0";
constexpr string_view event_is_delivered =
    "r.id IN (SELECT sent.event_id FROM tollgate_deliveries AS sent JOIN tollgate_hooks ON tollgate_hooks.id = sent.hook_id "
    "WHERE tollgate_hooks.account_id <> 0)";

constexpr record_type types[] = {
    {"user", "directory_users", users},
    {"account", "directory_accounts", accounts},
    {"hook", "tollgate_hooks", hooks, hook_exists, {}, {}, hooks_postgres},
    {"hook_secret", "tollgate_hook_secrets", hook_secrets},
    {"personal_token", "tollgate_personal_tokens", personal_tokens},
    {"application", "tollgate_applications", applications, {}, applications_derived},
    {"grant", "tollgate_grants", grants},
    {"refresh_token", "tollgate_refresh_tokens", refresh_tokens},
    {"access_token", "tollgate_access_tokens", access_tokens},
    {"code", "tollgate_codes", codes},
    {"device_code", "tollgate_device_codes", device_codes},
    {"session", "tollgate_sessions", sessions},
    {"event", "tollgate_events", events, event_is_delivered},
    {"delivery", "tollgate_deliveries", deliveries, {}, {}, deliveries_sqlite, deliveries_postgres},
    {"attempt", "tollgate_attempts", attempts},
    {"activity", "directory_activities", activities},
};

}  // namespace

std::span<const record_type> record_types() { return types; }

const record_type* find_record_type(string_view name) {
    const auto found = std::find_if(std::begin(types), std::end(types), [name](const auto& each) { return each.name == name; });
    return found == std::end(types) ? nullptr : found;
}

}  // namespace reference

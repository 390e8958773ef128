#pragma once

#include <tollgate/account/issue_hook.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/random_source.hpp>
#include <tollgate/contract/target_rule.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/json_body.hpp>
#include <tollgate/http/json_writer.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace tollgate::inline v0 {

/// The account's hooks: a bare array.
template <user_directory Users, hook_store Hooks>
[[nodiscard]] result<void> list_hooks(Users& users, Hooks& hooks, user_id user, const account_ref& of, http::json_writer out) {
    if (auto theirs = require_account(users, user, of); !theirs) return theirs;
    const auto found = hooks.hooks_of(of);
    if (!found) return found.error();
    out.begin_array();
    for (const hook& each : *found) {
        out.begin_object();
        out.member("id").integer(each.id.value());
        out.member("event").string(each.event);
        out.member("source").string(to_text(each.source));
        out.member("type").string(each.type);
        out.member("url").string(each.target_url);
        out.member("date_created").string(to_iso8601(each.created_at).view());
        out.end_object();
    }
    out.end_array();
    return {};
}

/// What a client asks for when it creates a hook.
struct hook_request {
    std::string event;
    std::string target_url;

    /// 422 for a member that is missing, no string, or no value that the service and the rule accept: the message names it.
    template <target_rule Rule>
    [[nodiscard]] static result<hook_request> read(const http::json_object& body, const service& at, const Rule& rule);
};

/// A member that has to be a string.
[[nodiscard]] inline result<std::string_view> required_text(const http::json_object& body, std::string_view name) {
    const auto* member = body.find(name);
    if (member == nullptr) return invalid(std::string{name} + " is missing.");
    if (member->kind != http::json_kind::text) return invalid(std::string{name} + " must be a string.");
    return std::string_view{member->value};
}

template <target_rule Rule>
result<hook_request> hook_request::read(const http::json_object& body, const service& at, const Rule& rule) {
    const auto event = required_text(body, "event");
    if (!event) return event.error();
    if (auto known = check_hook_event(at, *event); !known) return std::move(known).error();
    const auto target_url = required_text(body, "target_url");
    if (!target_url) return target_url.error();
    if (auto allowed = check_hook_target(rule, *target_url); !allowed) return std::move(allowed).error();
    return hook_request{std::string{*event}, std::string{*target_url}};
}

/// A new hook of the account. Its secret is in `X-Hook-Secret` of this answer and in no other.
template <user_directory Users, hook_store Hooks, target_rule Rule, random_source Random>
[[nodiscard]] result<void> create_hook(Users& users, Hooks& hooks, const Rule& rule, const Random& random, user_id user,
                                        const service& at, account_id of, const result<http::json_object>& body, instant now,
                                        std::size_t hooks_per_event_max, http::response& out) {
    const account_ref account{at.name, of};
    if (!body) return body.error();
    if (auto theirs = require_account(users, user, account); !theirs) return theirs;
    auto wanted = hook_request::read(*body, at, rule);
    if (!wanted) return std::move(wanted).error();

    const auto made = issue_hook(hooks,
                                 {.account = account,
                                  .event = std::move(wanted->event),
                                  .target_url = std::move(wanted->target_url),
                                  .source = hook_source::api},
                                 now, random, hooks_per_event_max);
    if (!made) return made.error();

    out.set_status(http::status::created);
    if (const auto value = http::field_value::from(made->secret)) out.add("X-Hook-Secret", *value);
    http::json_writer json{out.body()};
    json.begin_object();
    json.member("id").integer(made->id.value());
    json.end_object();
    return {};
}

/// Removes a hook of one of the user's accounts at this service. Any other is a 404, and lives on.
template <user_directory Users, hook_store Hooks>
[[nodiscard]] result<void> delete_hook(Users& users, Hooks& hooks, user_id user, const service& at, hook_id which,
                                        http::response& out) {
    const auto owner = hooks.account_of_hook(at.name, which);
    if (!owner) return owner.error();
    if (!*owner) return not_found();
    if (auto theirs = require_account(users, user, **owner); !theirs) return theirs;
    const auto deleted = hooks.delete_hook(**owner, which);
    if (!deleted) return deleted.error();
    if (!*deleted) return not_found();
    out.set_status(http::status::no_content);
    return {};
}

}  // namespace tollgate

#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_DELIVERIES_PAGE_HPP
#define TOLLGATE_PAGES_DETAIL_DELIVERIES_PAGE_HPP

#include <tollgate/account/new_secret.hpp>
#include <tollgate/account/issue_hook.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/outbox.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/model/account.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/pages/detail/page.hpp>
#include <tollgate/web/html_writer.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// How forms and URLs refer to a hook.
namespace tollgate::inline v0::pages {

inline constexpr std::string_view account_name = "account";
inline constexpr std::string_view hook_name = "hook";

/// An account in a form: `service/id`.
[[nodiscard]] TOLLGATE_DECL std::string account_text(const account_ref& account);
[[nodiscard]] TOLLGATE_DECL std::optional<account_ref> parse_account(std::string_view text);

struct named_hook {
    account_ref account;
    hook_id hook;
};

/// `account=sitesmaker%2F1&hook=5`
[[nodiscard]] TOLLGATE_DECL std::string query_of(const named_hook& hook);

/// A form for an action on a hook.
[[nodiscard]] TOLLGATE_DECL web::form_target hook_action(const page_view& view, std::string_view action, const hook& hook);

/// The account and the id in the fields, if the account belongs to the user; otherwise not_found.
[[nodiscard]] inline result<named_hook> require_hook(page_call& call, const http::form_fields& fields) {
    const auto account = parse_account(fields.value_of(account_name));
    const auto which = hook_id::parse(fields.value_of(hook_name));
    if (!account || !which || call.settings().services.find(account->service) == nullptr) return not_found();
    if (const auto allowed = require_account(call.users(), call.session.user, *account); !allowed) return allowed.error();
    return named_hook{*account, *which};
}

/// The hook, if its account has it; otherwise not_found.
[[nodiscard]] inline result<hook> find_hook(page_call& call, const named_hook& named) {
    auto hooks = call.store().hooks_of(named.account);
    if (!hooks) return std::move(hooks).error();
    for (hook& each : *hooks)
        if (each.id == named.hook) return std::move(each);
    return not_found();
}

}  // namespace tollgate::pages

/// The deliveries of one webhook, if the store is an outbox.
namespace tollgate::inline v0::pages {

inline constexpr std::size_t deliveries_shown_max = 50;  ///< on one page
/// Bound of the attempts on the page of a delivery: 8 of a schedule, and some that the user started.
inline constexpr std::size_t attempts_shown_max = 12;
inline constexpr std::size_t attempts_listed_max = 3;             ///< attempts of each delivery in the list
inline constexpr std::size_t exchanges_bytes_max = 128 * 1024;    ///< bytes of requests and responses in the list

inline constexpr std::string_view delivery_name = "delivery";  ///< query parameter: the delivery whose attempts are displayed
inline constexpr std::string_view since_name = "since";    ///< `hour`, `day`, `week` or `month`
inline constexpr std::string_view state_name = "state";    ///< query parameter: deliveries in this state, as `state_text`
inline constexpr std::string_view before_name = "before";  ///< query parameter: deliveries older than this one

/// Values of `done` after these actions.
inline constexpr std::string_view sent_again_done = "sent_again";
inline constexpr std::string_view enabled_done = "enabled";
inline constexpr std::string_view tested_done = "tested";
inline constexpr std::string_view resent_done = "resent_";  ///< followed by how many

inline constexpr std::string_view test_event_name = "ping";

/// The name of a state in a URL, and back.
[[nodiscard]] TOLLGATE_DECL std::string_view state_text(delivery_state state) noexcept;
[[nodiscard]] TOLLGATE_DECL std::optional<delivery_state> parse_state(std::string_view text) noexcept;
/// The time that the value of `since_name` names.
[[nodiscard]] TOLLGATE_DECL std::optional<seconds> parse_since(std::string_view text) noexcept;

/// A hook and one page of its deliveries, newest first.
struct hook_history {
    tollgate::hook hook;
    std::vector<listed_delivery> deliveries = {};
    bool has_newer = false, has_older = false;
    std::optional<delivery_state> only = std::nullopt;  ///< the state that the page is about
    bool has_waiting = false;                           ///< any of those deliveries waits
};

/// `Active`, `Failing` or `Disabled`.
TOLLGATE_DECL void write_hook_state(html_writer& html, const hook& hook, const delivery_texts& texts);
/// A form with one button; nothing for a hook that is not disabled.
TOLLGATE_DECL void write_enable(html_writer& html, const page_view& view, const hook& hook);

/// The result of an attempt as text.
[[nodiscard]] TOLLGATE_DECL std::string ending_of(const attempt& attempt, const attempt_texts& texts);
/// `340 ms`, `2.5 s`
[[nodiscard]] TOLLGATE_DECL std::string duration_of(const attempt& attempt, const delivery_texts& texts);

/// `fault`: why the action failed; empty if it did not.
TOLLGATE_DECL void write_deliveries(html_writer& html, const page_view& view, const hook_history& history,
                                    std::string_view fault);

/// A delivery of a hook, with its last attempts.
struct delivery_history {
    tollgate::hook hook;
    listed_delivery listed;
};
TOLLGATE_DECL void write_one_delivery(html_writer& html, const page_view& view, const delivery_history& shown);

/// Two store calls, as for one delivery.
[[nodiscard]] inline result<hook_history> read_history(page_call& call, const named_hook& named, std::optional<delivery_id> before,
                                                       std::optional<delivery_state> only) {
    auto found = find_hook(call, named);
    if (!found) return std::move(found).error();
    auto deliveries = call.store().deliveries_of(named.account, {.hook = named.hook,
                                                                 .rows_max = deliveries_shown_max + 1,
                                                                 .older_than = before,
                                                                 .state = only,
                                                                 .attempts_max = attempts_listed_max});
    if (!deliveries) return std::move(deliveries).error();
    hook_history read{*std::move(found), *std::move(deliveries)};
    read.only = only;
    read.has_newer = before.has_value();
    read.has_older = read.deliveries.size() > deliveries_shown_max;
    if (read.has_older) read.deliveries.pop_back();
    read.has_waiting = std::any_of(read.deliveries.begin(), read.deliveries.end(),
                                   [](const listed_delivery& each) { return each.delivery.state == delivery_state::waiting; });
    return read;
}

[[nodiscard]] inline result<void> show_one_delivery(page_call& call, const named_hook& named, delivery_id which) {
    auto found = find_hook(call, named);
    if (!found) return std::move(found).error();
    auto deliveries = call.store().deliveries_of(
        named.account, {.hook = named.hook, .rows_max = 1, .delivery = which, .attempts_max = attempts_shown_max});
    if (!deliveries) return std::move(deliveries).error();
    if (deliveries->empty()) return not_found();
    const delivery_history shown{*std::move(found), std::move(deliveries->front())};
    const auto title = fill_in(call.texts().deliveries.one_title,
                               web::moment_text(shown.listed.delivery.created_at, call.texts().dates));
    call.page(title, {}, [&](html_writer& html) { write_one_delivery(html, call.view(), shown); });
    return {};
}

[[nodiscard]] inline result<void> show_deliveries(page_call& call, const named_hook& named, std::optional<delivery_id> before,
                                                  std::optional<delivery_state> only, std::string_view fault) {
    const auto history = read_history(call, named, before, only);
    if (!history) return history.error();
    const auto title = fill_in(call.texts().deliveries.title, history->hook.event);
    call.page_with_status(title, fault.empty() ? http::status::ok : http::status::conflict,
                          [&](html_writer& html) { write_deliveries(html, call.view(), *history, fault); });
    return {};
}

/// The hook and the first delivery to show are in the query, or the only one.
[[nodiscard]] inline result<void> show_deliveries(page_call& call) {
    const auto named = require_hook(call, call.query);
    if (!named) return named.error();
    if (const auto* one = call.query.find(delivery_name)) {
        const auto which = delivery_id::parse(one->value);
        if (!which) return not_found();
        return show_one_delivery(call, *named, *which);
    }
    const auto text = call.query.value_of(before_name);
    const auto before = delivery_id::parse(text);
    const auto state = call.query.value_of(state_name);
    const auto only = parse_state(state);
    if ((!before && !text.empty()) || (!only && !state.empty())) return not_found();
    return show_deliveries(call, *named, before, only, {});
}

/// Whether there are deliveries.
[[nodiscard]] inline bool is_any(std::size_t deliveries) noexcept { return deliveries != 0; }

/// Sends an event to one of the user's hooks, so that its owner sees what arrives.
[[nodiscard]] inline result<void> send_test(page_call& call, const named_hook& named) {
    if (!call.admit("test events", call.settings().pages.test_events)) return {};
    message_seed seed;
    if (!call.random().fill(seed)) return random_source_error();
    const auto hook = std::to_string(named.hook.value());
    const event ping{named.account, std::string{test_event_name}, "{\"hook\": " + hook + "}", call.now};
    return call.finish_change(call.store().append_event(ping, seed, call.now, named.hook).transform(is_any), activity_kind::hook_tested,
                              hook, tested_done, query_of(named));
}

/// Sends all of a hook's deliveries again that failed since then: at most `limits::resent_deliveries_max`.
[[nodiscard]] inline result<void> resend_failed(page_call& call, const named_hook& named) {
    const auto since = parse_since(call.form.value_of(since_name));
    if (!since) return not_found();
    const auto sent = call.store().resend(
        named.account, given_up_deliveries{named.hook, call.now - *since, limits::resent_deliveries_max}, call.now);
    if (!sent) return sent.error();
    if (*sent != 0) call.report(activity_kind::deliveries_resent, std::to_string(named.hook.value()));
    return call.redirect_to(std::string{resent_done} + std::to_string(*sent), query_of(named));
}

/// Only for a delivery of the user's hooks; otherwise not_found.
[[nodiscard]] inline result<void> send_again(page_call& call, const named_hook& named) {
    const auto which = delivery_id::parse(call.form.value_of(delivery_name));
    if (!which) return not_found();
    return call.finish_change(call.store().resend(named.account, *which, call.now).transform(is_any), activity_kind::delivery_resent,
                              std::to_string(which->value()), sent_again_done, query_of(named));
}

/// The page says if nothing can be sent because the hook is disabled.
[[nodiscard]] inline result<void> post_to_deliveries(page_call& call, const named_hook& named) {
    const auto action = call.form.value_of(action_name);
    if (action == enable_action)
        return call.finish_change(call.store().change_hook(named.account, named.hook, hook_enabling{call.now}), activity_kind::hook_enabled,
                                  std::to_string(named.hook.value()), enabled_done, query_of(named));
    auto sent = action == test_action            ? send_test(call, named)
                : action == resend_failed_action ? resend_failed(call, named)
                : action == send_again_action    ? send_again(call, named)
                                                 : result<void>{not_found()};
    if (!sent && sent.error().kind == error_kind::conflict)
        return show_deliveries(call, named, std::nullopt, std::nullopt, call.texts().deliveries.not_while_disabled);
    return sent;
}

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/detail/deliveries_page.ipp>
#endif

#endif  // TOLLGATE_PAGES_DETAIL_DELIVERIES_PAGE_HPP

#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_DELIVERIES_PAGE_IPP
#define TOLLGATE_PAGES_DETAIL_DELIVERIES_PAGE_IPP

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/pages/detail/deliveries_page.hpp>
#include <tollgate/pages/detail/list_parts.hpp>

#include <chrono>
#include <iterator>
#include <utility>

namespace tollgate::inline v0::pages {

TOLLGATE_DECL std::string account_text(const account_ref& account) {
    return std::string{account.service.view()} + "/" + std::to_string(account.account.value());
}

TOLLGATE_DECL std::optional<account_ref> parse_account(std::string_view text) {
    const auto slash = text.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const auto service = service_name::from(text.substr(0, slash));
    const auto account = account_id::parse(text.substr(slash + 1));
    if (!service || service->empty() || !account) return std::nullopt;
    return account_ref{*service, *account};
}

TOLLGATE_DECL std::string query_of(const named_hook& hook) {
    std::string query{account_name};
    query.append("=").append(tollgate::detail::percent_encode(account_text(hook.account))).append("&");
    return query.append(hook_name).append("=").append(std::to_string(hook.hook.value()));
}

TOLLGATE_DECL web::form_target hook_action(const page_view& view, std::string_view action, const hook& hook) {
    return view.form(action, {{account_name, account_text(hook.account)}, {hook_name, std::to_string(hook.id.value())}});
}

TOLLGATE_DECL void write_hook_state(html_writer& html, const hook& hook, const delivery_texts& texts) {
    if (hook.disabled) html.add("<span class=\"state bad\">{}</span>", texts.disabled);
    else if (hook.failing_since) html.add("<span class=\"state care\">{}</span>", texts.failing);
    else html.add("<span class=\"state good\">{}</span>", texts.active);
}

TOLLGATE_DECL void write_enable(html_writer& html, const page_view& view, const hook& hook) {
    if (!hook.disabled) return;
    web::begin_form(html, hook_action(view, enable_action, hook));
    html.add("<button class=\"quiet\">{}<span class=\"unseen\"> {}</span></button></form>",
             view.texts.deliveries.enable, hook.target_url);
}

TOLLGATE_DECL std::string ending_of(const attempt& attempt, const attempt_texts& texts) {
    switch (attempt.cause) {
        case attempt_cause::none: break;
        case attempt_cause::name_not_found: return std::string{texts.name_not_found};
        case attempt_cause::no_name_server: return std::string{texts.no_name_server};
        case attempt_cause::connection_refused: return std::string{texts.connection_refused};
        case attempt_cause::unreachable: return std::string{texts.unreachable};
        case attempt_cause::connect_timeout: return std::string{texts.connect_timeout};
        case attempt_cause::handshake_timeout: return std::string{texts.handshake_timeout};
        case attempt_cause::response_timeout: return std::string{texts.response_timeout};
        case attempt_cause::certificate_expired: return std::string{texts.certificate_expired};
        case attempt_cause::certificate_not_yet_valid: return std::string{texts.certificate_not_yet_valid};
        case attempt_cause::certificate_for_other_host: return std::string{texts.certificate_for_other_host};
        case attempt_cause::certificate_not_trusted: return std::string{texts.certificate_not_trusted};
        case attempt_cause::certificate_invalid: return std::string{texts.certificate_invalid};
    }
    switch (attempt.end) {
        case attempt_end::answered:
            return fill_in(attempt.status >= 300 && attempt.status < 400 ? texts.redirected : texts.answered,
                           std::to_string(attempt.status));
        case attempt_end::no_address: return std::string{texts.no_address};
        case attempt_end::refused_address: return std::string{texts.refused_address};
        case attempt_end::no_connection: return std::string{texts.no_connection};
        case attempt_end::no_tls: return std::string{texts.no_tls};
        case attempt_end::timed_out: return std::string{texts.timed_out};
        case attempt_end::broken_off: return std::string{texts.broken_off};
        case attempt_end::bad_response: break;
    }
    return std::string{texts.bad_response};
}

TOLLGATE_DECL std::string duration_of(const attempt& attempt, const delivery_texts& texts) {
    const auto count = attempt.duration.count();
    if (count < 1000) return fill_in(texts.milliseconds, std::to_string(count));
    const auto tenths = (count + 50) / 100;
    return fill_in(texts.seconds, std::to_string(tenths / 10).append(texts.decimal_point) + std::to_string(tenths % 10));
}

namespace detail {

struct state_entry {
    delivery_state state;
    std::string_view text;
};
inline constexpr state_entry state_entries[] = {{delivery_state::delivered, "delivered"},
                                                {delivery_state::given_up, "failed"},
                                                {delivery_state::waiting, "pending"},
                                                {delivery_state::held, "held"}};

struct since_entry {
    std::string_view value;
    seconds time;
};
inline constexpr since_entry since_entries[] = {{"hour", std::chrono::hours{1}},
                                                {"day", std::chrono::hours{24}},
                                                {"week", std::chrono::hours{24 * 7}},
                                                {"month", std::chrono::hours{24 * 30}}};

/// Why the hook is failing or disabled.
inline void write_problem(html_writer& html, const page_view& view, const hook_history& history) {
    const delivery_texts& texts = view.texts.deliveries;
    const hook& hook = history.hook;
    if (hook.disabled) {
        const bool gone = hook.disabled->reason == disable_reason::gone;
        html.add("<div class=\"caution bad\"><p>{} {}</p>\n",
                 fill_in(gone ? texts.gone_about : texts.failed_about, web::moment_text(hook.disabled->at, view.texts.dates)),
                 texts.disabled_about);
        write_enable(html, view, hook);
        html.add("</div>\n");
    } else if (hook.failing_since) {
        html.add("<p class=\"caution\">{}", fill_in(texts.failing_about, web::moment_text(*hook.failing_since, view.texts.dates)));
        if (history.has_waiting) html.add(" {}", texts.failing_retries);
        html.add("</p>\n");
    }
}

inline void write_delivery_state(html_writer& html, const delivery& which, const delivery_texts& texts) {
    switch (which.state) {
        case delivery_state::waiting:
            html.add("<span class=\"{}\">{}</span>", which.attempts_made > 0 ? "state care" : "state", texts.waiting);
            break;
        case delivery_state::delivered: html.add("<span class=\"state good\">{}</span>", texts.delivered); break;
        case delivery_state::given_up: html.add("<span class=\"state bad\">{}</span>", texts.given_up); break;
        case delivery_state::held: html.add("<span class=\"state care\">{}</span>", texts.held); break;
    }
}

inline void write_attempt(html_writer& html, const page_view& view, const attempt& attempt, bool with_exchange = true) {
    const delivery_texts& texts = view.texts.deliveries;
    const auto write_line = [&] {
        html.add("<span class=\"ending\">{}</span> <span class=\"quiet\">", ending_of(attempt, texts.attempts));
        web::write_moment(html, attempt.at, view.texts.dates);
        html.add(", {}</span>", duration_of(attempt, texts));
    };
    if (!with_exchange || (attempt.response.empty() && attempt.request.empty())) {
        html.add("<li><p>");
        write_line();
        html.add("</p></li>\n");
        return;
    }
    html.add("<li><details class=\"attempt\"><summary>");
    write_line();
    html.add("</summary>\n<div class=\"exchange\">\n");
    // HTML ignores the first newline in <pre>, so one is added before the text.
    const auto write_part = [&](std::string_view heading, std::string_view text) {
        if (!text.empty())
            html.add("<div><p class=\"hint\">{}</p>\n<pre>\n{}</pre></div>\n", heading,
                     tollgate::detail::make_readable(text));
    };
    write_part(attempt.request.size() >= limits::attempt_request_bytes_max ? texts.request_cut : texts.request, attempt.request);
    write_part(attempt.response.size() >= limits::attempt_response_bytes_max ? texts.response_cut : texts.response, attempt.response);
    html.add("</div></details></li>\n");
}

inline void write_send_again(html_writer& html, const page_view& view, const hook& hook, const delivery& which) {
    auto target = hook_action(view, send_again_action, hook);
    target.hidden.emplace_back(delivery_name, std::to_string(which.id.value()));
    web::begin_form(html, target);
    html.add("<button class=\"quiet\">{}<span class=\"unseen\"> {} {}</span></button></form>\n", view.texts.deliveries.send_again,
             web::moment_text(which.created_at, view.texts.dates), which.message_id.view());
}

inline void write_delivery_facts(html_writer& html, const page_view& view, const hook& hook, const delivery& which) {
    html.add("<p class=\"quiet\"><code>{}</code>", which.message_id.view());
    if (which.event != hook.event) html.add(" <code>{}</code>", which.event);
    if (which.next_attempt_at)
        html.add(" {}", fill_in(view.texts.deliveries.next_attempt, web::moment_text(*which.next_attempt_at, view.texts.dates)));
    html.add("</p>\n");
}

/// `bytes_left` bounds the requests and responses that may still be displayed.
inline void write_delivery(html_writer& html, const page_view& view, const hook& hook, const listed_delivery& listed,
                           std::size_t& bytes_left) {
    const delivery_texts& texts = view.texts.deliveries;
    const delivery& which = listed.delivery;
    html.add("<li>\n<div class=\"heading\"><h2>");
    web::write_moment(html, which.created_at, view.texts.dates);
    html.add(" ");
    write_delivery_state(html, which, texts);
    html.add("</h2>\n<a class=\"button quiet\" href=\"{}?{}&amp;{}={}\">{}<span class=\"unseen\"> {} {}</span></a>\n", view.url,
             query_of({hook.account, hook.id}), delivery_name, which.id.value(), texts.show_attempts,
             web::moment_text(which.created_at, view.texts.dates), which.message_id.view());
    if (!hook.disabled) write_send_again(html, view, hook, which);
    html.add("</div>\n");
    write_delivery_facts(html, view, hook, which);

    if (!listed.attempts.empty()) html.add("<ul class=\"attempts\">\n");
    for (const attempt& each : listed.attempts) {
        const std::size_t bytes = each.request.size() + each.response.size();
        const bool with_exchange = bytes <= bytes_left;
        write_attempt(html, view, each, with_exchange);
        if (with_exchange) bytes_left -= bytes;
    }
    if (!listed.attempts.empty()) html.add("</ul>\n");
    else if (which.attempts_made == 0) html.add("<p class=\"quiet\">{}</p>\n", texts.no_attempt);
    html.add("</li>\n");
}

/// Nothing if all deliveries are on one page.
inline void write_paging(html_writer& html, const page_view& view, const hook_history& history) {
    if (!history.has_newer && !history.has_older) return;
    const delivery_texts& texts = view.texts.deliveries;
    std::string place = std::string{view.url} + "?" + query_of({history.hook.account, history.hook.id});
    if (history.only) place.append("&").append(state_name).append("=").append(state_text(*history.only));
    html.add("<nav aria-label=\"{}\"><p>", texts.paging);
    if (history.has_newer) html.add("<a href=\"{}\">{}</a> ", place, texts.newest);
    if (history.has_older)
        html.add("<a href=\"{}&amp;{}={}\">{}</a>", place, before_name,
                 std::to_string(history.deliveries.back().delivery.id.value()), texts.older);
    html.add("</p></nav>\n");
}

/// A test, and all that failed again; nothing for a disabled hook, which cannot send.
inline void write_hook_actions(html_writer& html, const page_view& view, const hook& hook) {
    if (hook.disabled) return;
    const delivery_texts& texts = view.texts.deliveries;
    html.add("<div class=\"hook-actions\">\n");
    web::begin_form(html, hook_action(view, test_action, hook));
    html.add("<button class=\"quiet\">{}</button></form>\n", texts.test);
    web::begin_form(html, hook_action(view, resend_failed_action, hook));
    html.add("<label for=\"since\">{}</label>\n<select id=\"since\" name=\"{}\">\n", texts.resend_since, since_name);
    const std::string_view names[] = {texts.hour, texts.day, texts.week, texts.month};
    for (std::size_t i = 0; i < std::size(since_entries); ++i)
        html.add("<option value=\"{}\">{}</option>\n", since_entries[i].value, names[i]);
    html.add("</select>\n<button class=\"quiet\">{}</button></form>\n</div>\n", texts.resend_failed);
}

inline void write_filter(html_writer& html, const page_view& view, const hook_history& history) {
    const delivery_texts& texts = view.texts.deliveries;
    const std::string place = std::string{view.url} + "?" + query_of({history.hook.account, history.hook.id});
    const auto write_link = [&](const std::string& url, std::string_view text, bool is_current) {
        html.add("<li><a href=\"{}\"", url);
        if (is_current) html.add(" aria-current=\"true\"");
        html.add(">{}</a></li>\n", text);
    };
    html.add("<nav class=\"filter\" aria-label=\"{}\"><ul>\n", texts.filter);
    write_link(place, texts.all, !history.only);
    for (const auto& [state, text] : state_entries) {
        const std::string_view name = state == delivery_state::delivered  ? texts.delivered
                                      : state == delivery_state::given_up ? texts.given_up
                                      : state == delivery_state::waiting  ? texts.waiting
                                                                          : texts.held;
        write_link(std::string{place}.append("&").append(state_name).append("=").append(text), name, history.only == state);
    }
    html.add("</ul></nav>\n");
}

/// The result of the last action.
inline void write_done(html_writer& html, const page_view& view, const hook& hook) {
    const delivery_texts& texts = view.texts.deliveries;
    // What was queued takes a moment, so the notice leads to this page without the notice.
    const auto write_queued = [&](std::string_view text) {
        html.add("<p class=\"notice\" role=\"status\">{} <a href=\"{}?{}\">{}</a></p>\n", text, view.url,
                 query_of({hook.account, hook.id}), texts.see_result);
    };
    if (view.done == sent_again_done) write_queued(texts.sent_again);
    else if (view.done == tested_done) write_queued(texts.tested);
    else if (view.done == enabled_done && !hook.disabled) write_notice(html, texts.enabled);
    else if (view.done.starts_with(resent_done)) {
        const auto count = view.done.substr(resent_done.size());
        // Anyone can write a URL, so only a number is repeated.
        if (count == "0") write_notice(html, texts.resent_none);
        else if (delivery_id::parse(count)) write_queued(fill_in(texts.resent, count));
    }
}

}  // namespace detail

TOLLGATE_DECL std::string_view state_text(delivery_state state) noexcept {
    for (const auto& each : detail::state_entries)
        if (each.state == state) return each.text;
    return {};
}

TOLLGATE_DECL std::optional<delivery_state> parse_state(std::string_view text) noexcept {
    for (const auto& each : detail::state_entries)
        if (each.text == text) return each.state;
    return std::nullopt;
}

TOLLGATE_DECL std::optional<seconds> parse_since(std::string_view text) noexcept {
    for (const auto& each : detail::since_entries)
        if (each.value == text) return each.time;
    return std::nullopt;
}

TOLLGATE_DECL void write_one_delivery(html_writer& html, const page_view& view, const delivery_history& shown) {
    const delivery_texts& texts = view.texts.deliveries;
    const hook& hook = shown.hook;
    const auto& [delivery, attempts] = shown.listed;
    html.add("<p><a href=\"{}?{}\">{}</a></p>\n<div class=\"heading\">\n<h1>{}</h1>\n", view.url, query_of({hook.account, hook.id}),
             texts.back_to_all, fill_in(texts.one_title, web::moment_text(delivery.created_at, view.texts.dates)));
    if (!hook.disabled) detail::write_send_again(html, view, hook, delivery);
    html.add("</div>\n<p class=\"lead\"><code>{}</code> ", hook.target_url);
    detail::write_delivery_state(html, delivery, texts);
    html.add("</p>\n");
    detail::write_delivery_facts(html, view, hook, delivery);
    if (!attempts.empty()) {
        html.add("<ul class=\"attempts\">\n");
        for (const attempt& each : attempts) detail::write_attempt(html, view, each);
        html.add("</ul>\n");
    }
    if (attempts.size() == attempts_shown_max)
        html.add("<p class=\"quiet\">{}</p>\n", fill_in(texts.last_attempts, std::to_string(attempts.size())));
    else if (attempts.empty() && delivery.attempts_made == 0) html.add("<p class=\"quiet\">{}</p>\n", texts.no_attempt);
}

TOLLGATE_DECL void write_deliveries(html_writer& html, const page_view& view, const hook_history& history,
                                    std::string_view fault) {
    const delivery_texts& texts = view.texts.deliveries;
    const hook& hook = history.hook;
    html.add("<p><a href=\"{}\">{}</a></p>\n<h1>{}</h1>\n", view.url, texts.back, fill_in(texts.title, hook.event));
    html.add("<p class=\"lead\"><code>{}</code> ", hook.target_url);
    write_hook_state(html, hook, texts);
    html.add("</p>\n");
    write_stale(html, view);
    if (!fault.empty()) html.add("<div class=\"faults\" role=\"alert\"><p>{}</p></div>\n", fault);
    else detail::write_done(html, view, hook);
    detail::write_problem(html, view, history);
    detail::write_hook_actions(html, view, hook);

    const bool none = history.deliveries.empty() && !history.has_newer;
    if (none && !history.only) return write_empty_list(html, fill_in(texts.none, hook.event));
    detail::write_filter(html, view, history);
    if (none) return write_empty_list(html, texts.none_in_state);
    if (history.deliveries.empty()) {
        html.add("<p class=\"quiet\">{}</p>\n", texts.none_older);
    } else {
        html.add("<ol class=\"deliveries\">\n");
        std::size_t bytes_left = exchanges_bytes_max;
        for (const listed_delivery& each : history.deliveries) detail::write_delivery(html, view, hook, each, bytes_left);
        html.add("</ol>\n");
    }
    detail::write_paging(html, view, history);
}

}  // namespace tollgate::pages

#endif  // TOLLGATE_PAGES_DETAIL_DELIVERIES_PAGE_IPP

#pragma once

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/pages/detail/deliveries_page.hpp>
#include <tollgate/pages/detail/list_parts.hpp>

namespace tollgate::inline v0::pages {

TOLLGATE_DECL std::string account_text(const account_ref& of) {
    return std::string{of.service.view()} + "/" + std::to_string(of.account.value());
}

TOLLGATE_DECL std::optional<account_ref> parse_account(std::string_view text) {
    const auto slash = text.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const auto service = service_name::from(text.substr(0, slash));
    const auto account = account_id::parse(text.substr(slash + 1));
    if (!service || service->empty() || !account) return std::nullopt;
    return account_ref{*service, *account};
}

TOLLGATE_DECL std::string query_of(const named_hook& of) {
    std::string query{account_name};
    query.append("=").append(percent_encode(account_text(of.account))).append("&");
    return query.append(hook_name).append("=").append(std::to_string(of.hook.value()));
}

TOLLGATE_DECL void write_hook_state(html_writer& html, const hook& of, const delivery_texts& texts) {
    if (of.disabled) html.add("<span class=\"state bad\">{}</span>", texts.disabled);
    else if (of.failing_since) html.add("<span class=\"state care\">{}</span>", texts.failing);
    else html.add("<span class=\"state good\">{}</span>", texts.active);
}

TOLLGATE_DECL void write_enable(html_writer& html, const page_view& view, const hook& of) {
    if (!of.disabled) return;
    web::begin_form(html, {.url = view.url,
                           .form_token = view.form_token,
                           .hidden = {{action_name, std::string{enable_action}},
                                      {account_name, account_text(of.account)},
                                      {hook_name, std::to_string(of.id.value())}}});
    html.add("<button class=\"quiet\">{}<span class=\"unseen\"> {}</span></button></form>",
             view.texts.deliveries.enable, of.target_url);
}

TOLLGATE_DECL std::string ending_of(const attempt& made, const attempt_texts& texts) {
    switch (made.end) {
        case attempt_end::answered:
            return fill_in(made.status >= 300 && made.status < 400 ? texts.redirected : texts.answered,
                           std::to_string(made.status));
        case attempt_end::no_address: return std::string{texts.no_address};
        case attempt_end::refused_address: return std::string{texts.refused_address};
        case attempt_end::no_connection: return std::string{texts.no_connection};
        case attempt_end::no_tls: return std::string{texts.no_tls};
        case attempt_end::timed_out: return std::string{texts.timed_out};
        case attempt_end::broken_off: return std::string{texts.broken_off};
        case attempt_end::bad_answer: break;
    }
    return std::string{texts.bad_answer};
}

TOLLGATE_DECL std::string duration_of(const attempt& made, const delivery_texts& texts) {
    const auto count = made.duration.count();
    if (count < 1000) return fill_in(texts.milliseconds, std::to_string(count));
    const auto tenths = (count + 50) / 100;
    return fill_in(texts.seconds, std::to_string(tenths / 10) + "." + std::to_string(tenths % 10));
}

namespace detail {

/// Why the hook is failing or disabled.
inline void write_problem(html_writer& html, const page_view& view, const hook& of) {
    const delivery_texts& texts = view.texts.deliveries;
    if (of.disabled) {
        const bool gone = of.disabled->why == disable_reason::gone;
        html.add("<div class=\"caution bad\"><p>{} {}</p>\n",
                 fill_in(gone ? texts.gone_about : texts.failed_about, web::moment_text(of.disabled->at)),
                 texts.disabled_about);
        write_enable(html, view, of);
        html.add("</div>\n");
    } else if (of.failing_since) {
        html.add("<p class=\"caution\">{}</p>\n", fill_in(texts.failing_about, web::moment_text(*of.failing_since)));
    }
}

inline void write_delivery_state(html_writer& html, delivery_state state, const delivery_texts& texts) {
    switch (state) {
        case delivery_state::waiting: html.add("<span class=\"state\">{}</span>", texts.waiting); break;
        case delivery_state::delivered: html.add("<span class=\"state good\">{}</span>", texts.delivered); break;
        case delivery_state::given_up: html.add("<span class=\"state bad\">{}</span>", texts.given_up); break;
        case delivery_state::held: html.add("<span class=\"state care\">{}</span>", texts.held); break;
    }
}

inline void write_attempt(html_writer& html, const attempt& made, const delivery_texts& texts) {
    const auto write_line = [&] {
        html.add("<span class=\"ending\">{}</span> <span class=\"quiet\">", ending_of(made, texts.attempts));
        web::write_moment(html, made.at);
        html.add(", {}</span>", duration_of(made, texts));
    };
    if (made.answer.empty()) {
        html.add("<li><p>");
        write_line();
        html.add("</p></li>\n");
        return;
    }
    const bool cut = made.answer.size() >= limits::attempt_answer_bytes_max;
    html.add("<li><details class=\"attempt\"><summary>");
    write_line();
    // HTML ignores the first newline in <pre>, so one is added before the body.
    html.add("</summary>\n<p class=\"hint\">{}</p>\n<pre>\n{}</pre></details></li>\n",
             cut ? texts.answer_cut : texts.answer, make_readable(made.answer));
}

inline void write_send_again(html_writer& html, const page_view& view, const hook& of, const delivery& which) {
    web::begin_form(html, {.url = view.url,
                           .form_token = view.form_token,
                           .hidden = {{action_name, std::string{send_again_action}},
                                      {account_name, account_text(of.account)},
                                      {hook_name, std::to_string(of.id.value())},
                                      {delivery_name, std::to_string(which.id.value())}}});
    html.add("<button class=\"quiet\">{}<span class=\"unseen\"> {}</span></button></form>\n",
             view.texts.deliveries.send_again, web::moment_text(which.created_at));
}

inline void write_delivery(html_writer& html, const page_view& view, const hook_history& history,
                           const delivery& which) {
    const delivery_texts& texts = view.texts.deliveries;
    html.add("<li>\n<div class=\"heading\"><h2>");
    web::write_moment(html, which.created_at);
    html.add(" ");
    write_delivery_state(html, which.state, texts);
    html.add("</h2>\n");
    if (!history.of.disabled) write_send_again(html, view, history.of, which);
    html.add("</div>\n<p class=\"quiet\"><code>{}</code>", which.message_id.view());
    if (which.next_attempt_at) html.add(" {}", fill_in(texts.next_attempt, web::moment_text(*which.next_attempt_at)));
    html.add("</p>\n");

    std::size_t shown = 0;
    for (const recorded_attempt& each : history.attempts) {
        if (each.delivery != which.id) continue;
        if (shown++ == 0) html.add("<ul class=\"attempts\">\n");
        write_attempt(html, each.made, texts);
    }
    if (shown != 0) html.add("</ul>\n");
    if (shown == attempts_shown_max)
        html.add("<p class=\"quiet\">{}</p>\n", fill_in(texts.last_attempts, std::to_string(shown)));
    else if (shown == 0 && which.attempts_made == 0) html.add("<p class=\"quiet\">{}</p>\n", texts.no_attempt);
    html.add("</li>\n");
}

/// Nothing if all deliveries are on one page.
inline void write_paging(html_writer& html, const page_view& view, const hook_history& history) {
    if (!history.has_newer && !history.has_older) return;
    const delivery_texts& texts = view.texts.deliveries;
    const std::string place = std::string{view.url} + "?" + query_of({history.of.account, history.of.id});
    html.add("<nav aria-label=\"{}\"><p>", texts.paging);
    if (history.has_newer) html.add("<a href=\"{}\">{}</a> ", place, texts.newest);
    if (history.has_older)
        html.add("<a href=\"{}&amp;{}={}\">{}</a>", place, before_name,
                 std::to_string(history.deliveries.back().id.value()), texts.older);
    html.add("</p></nav>\n");
}

}  // namespace detail

TOLLGATE_DECL void write_deliveries(html_writer& html, const page_view& view, const hook_history& history,
                                    std::string_view fault) {
    const delivery_texts& texts = view.texts.deliveries;
    const hook& of = history.of;
    html.add("<p><a href=\"{}\">{}</a></p>\n<h1>{}</h1>\n", view.url, texts.back, fill_in(texts.title, of.event));
    html.add("<p class=\"lead\"><code>{}</code> ", of.target_url);
    write_hook_state(html, of, texts);
    html.add("</p>\n");
    if (!fault.empty()) html.add("<div class=\"faults\" role=\"alert\"><p>{}</p></div>\n", fault);
    else if (view.done == sent_again_done) write_notice(html, texts.sent_again);
    else if (view.done == enabled_done && !of.disabled) write_notice(html, texts.enabled);
    detail::write_problem(html, view, of);

    if (history.deliveries.empty() && !history.has_newer) return write_empty_list(html, fill_in(texts.none, of.event));
    if (history.deliveries.empty()) {
        html.add("<p class=\"quiet\">{}</p>\n", texts.none_older);
    } else {
        html.add("<ol class=\"deliveries\">\n");
        for (const delivery& each : history.deliveries) detail::write_delivery(html, view, history, each);
        html.add("</ol>\n");
    }
    detail::write_paging(html, view, history);
}

}  // namespace tollgate::pages

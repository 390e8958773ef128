#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/base/visible_text.hpp>
#include <tollgate/pages/deliveries_page.hpp>
#include <tollgate/pages/list_parts.hpp>

namespace tollgate::pages {

TOLLGATE_DECL void write_hook_state(http::html_writer& html, const hook& of, const delivery_words& words) {
    if (of.disabled) html.add("<span class=\"state bad\">{}</span>", words.disabled);
    else if (of.failing_since) html.add("<span class=\"state care\">{}</span>", words.failing);
    else html.add("<span class=\"state good\">{}</span>", words.active);
}

TOLLGATE_DECL void write_enable(http::html_writer& html, const page_view& view, const hook& of) {
    if (!of.disabled) return;
    pipeline::begin_form(html, {.url = view.url,
                                .form_token = view.form_token,
                                .hidden = {{action_name, std::string{enable_action}},
                                           {account_name, account_text(of.account)},
                                           {hook_name, std::to_string(of.id.value())}}});
    html.add("<button class=\"quiet\">{}<span class=\"unseen\"> {}</span></button></form>",
             view.words.deliveries.enable, of.target_url);
}

TOLLGATE_DECL std::string ending_of(const attempt& made, const attempt_words& words) {
    switch (made.end) {
        case attempt_end::answered:
            return fill_in(made.status >= 300 && made.status < 400 ? words.redirected : words.answered,
                           std::to_string(made.status));
        case attempt_end::no_address: return std::string{words.no_address};
        case attempt_end::refused_address: return std::string{words.refused_address};
        case attempt_end::no_connection: return std::string{words.no_connection};
        case attempt_end::no_tls: return std::string{words.no_tls};
        case attempt_end::timed_out: return std::string{words.timed_out};
        case attempt_end::broken_off: return std::string{words.broken_off};
        case attempt_end::bad_answer: break;
    }
    return std::string{words.bad_answer};
}

TOLLGATE_DECL std::string duration_of(const attempt& made, const delivery_words& words) {
    const auto count = made.duration.count();
    if (count < 1000) return fill_in(words.milliseconds, std::to_string(count));
    const auto tenths = (count + 50) / 100;
    return fill_in(words.seconds, std::to_string(tenths / 10) + "." + std::to_string(tenths % 10));
}

namespace detail {

/// What keeps a hook from getting what it should, and since when.
inline void write_trouble(http::html_writer& html, const page_view& view, const hook& of) {
    const delivery_words& words = view.words.deliveries;
    if (of.disabled) {
        const bool gone = of.disabled->why == disable_reason::gone;
        html.add("<div class=\"caution bad\"><p>{} {}</p>\n",
                 fill_in(gone ? words.gone_about : words.failed_about, pipeline::moment_text(of.disabled->at)),
                 words.disabled_about);
        write_enable(html, view, of);
        html.add("</div>\n");
    } else if (of.failing_since) {
        html.add("<p class=\"caution\">{}</p>\n",
                 fill_in(words.failing_about, pipeline::moment_text(*of.failing_since)));
    }
}

inline void write_delivery_state(http::html_writer& html, delivery_state state, const delivery_words& words) {
    switch (state) {
        case delivery_state::waiting: html.add("<span class=\"state\">{}</span>", words.waiting); break;
        case delivery_state::delivered: html.add("<span class=\"state good\">{}</span>", words.delivered); break;
        case delivery_state::given_up: html.add("<span class=\"state bad\">{}</span>", words.given_up); break;
        case delivery_state::held: html.add("<span class=\"state care\">{}</span>", words.held); break;
    }
}

inline void write_attempt(http::html_writer& html, const attempt& made, const delivery_words& words) {
    const auto write_line = [&] {
        html.add("<span class=\"ending\">{}</span> <span class=\"quiet\">", ending_of(made, words.attempts));
        pipeline::write_moment(html, made.at);
        html.add(", {}</span>", duration_of(made, words));
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
    // Behind the tag, HTML leaves out one line end, which is then none of the answer's.
    html.add("</summary>\n<p class=\"hint\">{}</p>\n<pre>\n{}</pre></details></li>\n",
             cut ? words.answer_cut : words.answer, make_readable(made.answer));
}

inline void write_send_again(http::html_writer& html, const page_view& view, const hook& of, const delivery& which) {
    pipeline::begin_form(html, {.url = view.url,
                                .form_token = view.form_token,
                                .hidden = {{action_name, std::string{send_again_action}},
                                           {account_name, account_text(of.account)},
                                           {hook_name, std::to_string(of.id.value())},
                                           {delivery_name, std::to_string(which.id.value())}}});
    html.add("<button class=\"quiet\">{}<span class=\"unseen\"> {}</span></button></form>\n",
             view.words.deliveries.send_again, pipeline::moment_text(which.created_at));
}

inline void write_delivery(http::html_writer& html, const page_view& view, const hook_history& history,
                           const delivery& which) {
    const delivery_words& words = view.words.deliveries;
    html.add("<li>\n<div class=\"heading\"><h2>");
    pipeline::write_moment(html, which.created_at);
    html.add(" ");
    write_delivery_state(html, which.state, words);
    html.add("</h2>\n");
    if (!history.of.disabled) write_send_again(html, view, history.of, which);
    html.add("</div>\n<p class=\"quiet\"><code>{}</code>", which.message_id.view());
    if (which.next_attempt_at)
        html.add(" {}", fill_in(words.next_attempt, pipeline::moment_text(*which.next_attempt_at)));
    html.add("</p>\n");

    std::size_t shown = 0;
    for (const recorded_attempt& each : history.attempts) {
        if (each.delivery != which.id) continue;
        if (shown++ == 0) html.add("<ul class=\"attempts\">\n");
        write_attempt(html, each.made, words);
    }
    if (shown != 0) html.add("</ul>\n");
    if (shown == attempts_shown_max)
        html.add("<p class=\"quiet\">{}</p>\n", fill_in(words.last_attempts, std::to_string(shown)));
    else if (shown == 0 && which.attempts_made == 0) html.add("<p class=\"quiet\">{}</p>\n", words.no_attempt);
    html.add("</li>\n");
}

/// Nothing where all there is fits one page.
inline void write_paging(http::html_writer& html, const page_view& view, const hook_history& history) {
    if (!history.has_newer && !history.has_older) return;
    const delivery_words& words = view.words.deliveries;
    const std::string place = std::string{view.url} + "?" + query_of({history.of.account, history.of.id});
    html.add("<nav aria-label=\"{}\"><p>", words.paging);
    if (history.has_newer) html.add("<a href=\"{}\">{}</a> ", place, words.newest);
    if (history.has_older)
        html.add("<a href=\"{}&amp;{}={}\">{}</a>", place, before_name,
                 std::to_string(history.deliveries.back().id.value()), words.older);
    html.add("</p></nav>\n");
}

}  // namespace detail

TOLLGATE_DECL void write_deliveries(http::html_writer& html, const page_view& view, const hook_history& history,
                                    std::string_view fault) {
    const delivery_words& words = view.words.deliveries;
    const hook& of = history.of;
    html.add("<p><a href=\"{}\">{}</a></p>\n<h1>{}</h1>\n", view.url, words.back, fill_in(words.title, of.event));
    html.add("<p class=\"lead\"><code>{}</code> ", of.target_url);
    write_hook_state(html, of, words);
    html.add("</p>\n");
    if (!fault.empty()) html.add("<div class=\"faults\" role=\"alert\"><p>{}</p></div>\n", fault);
    else if (view.done == sent_again_done) write_notice(html, words.sent_again);
    else if (view.done == enabled_done && !of.disabled) write_notice(html, words.enabled);
    detail::write_trouble(html, view, of);

    if (history.deliveries.empty() && !history.has_newer) return write_nothing_yet(html, fill_in(words.none, of.event));
    if (history.deliveries.empty()) {
        html.add("<p class=\"quiet\">{}</p>\n", words.none_older);
    } else {
        html.add("<ol class=\"deliveries\">\n");
        for (const delivery& each : history.deliveries) detail::write_delivery(html, view, history, each);
        html.add("</ol>\n");
    }
    detail::write_paging(html, view, history);
}

}  // namespace tollgate::pages

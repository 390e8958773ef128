#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_SECURITY_PAGE_IPP
#define TOLLGATE_PAGES_DETAIL_SECURITY_PAGE_IPP

#include <tollgate/pages/detail/security_page.hpp>
#include <tollgate/web/credential_rules.hpp>

#include <span>

namespace tollgate::inline v0::pages {

namespace detail {

/// A part of a User-Agent, and the name of what sends it.
struct agent_mark {
    std::string_view part;
    std::string_view name;
};

// Chromium's descendants name Chrome and Safari, and Chrome names Safari: the first that is found counts.
inline constexpr agent_mark browsers[] = {{"Edg", "Edge"},         {"OPR/", "Opera"},       {"Firefox/", "Firefox"},
                                          {"FxiOS/", "Firefox"},   {"CriOS/", "Chrome"},    {"SamsungBrowser/", "Samsung Internet"},
                                          {"Chromium/", "Chromium"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"},
                                          {"curl/", "curl"}};
inline constexpr agent_mark systems[] = {{"Windows", "Windows"}, {"Android", "Android"}, {"iPhone", "iPhone"},
                                         {"iPad", "iPad"},       {"CrOS", "ChromeOS"},   {"Mac OS X", "macOS"},
                                         {"Linux", "Linux"}};

[[nodiscard]] inline std::string_view find_mark(std::span<const agent_mark> marks, std::string_view user_agent) noexcept {
    for (const agent_mark& each : marks)
        if (user_agent.find(each.part) != std::string_view::npos) return each.name;
    return {};
}

inline void write_session_row(html_writer& html, const page_view& view, const listed_session& each) {
    const security_texts& texts = view.texts.security;
    const auto browser = browser_text(each.user_agent, texts);
    html.add("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\" data-label=\"{}\"><span title=\"{}\">{}</span>", texts.browser,
             each.user_agent, browser);
    if (each.is_current) html.add(" <span class=\"state good\">{}</span>", texts.current);
    html.add("</th>");
    write_cell(html, texts.signed_in, [&] { web::write_age(html, each.created_at, view.now, view.texts.dates); });
    write_cell(html, texts.last_seen, [&] { web::write_age(html, each.last_seen_at, view.now, view.texts.dates); });
    write_cell(html, texts.from, each.signed_in_from.empty() ? texts.unknown_place : std::string_view{each.signed_in_from});
    write_cell(html, {}, [&] {
        if (each.is_current) return;
        web::begin_form(html, view.form(end_session_action, {{"session", each.id}}));
        html.add("<button class=\"quiet\">{}<span class=\"unseen\"> {}, {}</span></button></form>", texts.end, browser,
                 web::moment_text(each.created_at, view.texts.dates));
    });
    end_row(html);
}

inline void write_sessions(html_writer& html, const page_view& view, const std::vector<listed_session>& sessions) {
    const security_texts& texts = view.texts.security;
    html.add("<div class=\"heading\">\n<h2>{}</h2>\n", texts.sessions);
    if (sessions.size() > 1) {
        web::begin_form(html, view.form(end_others_action));
        html.add("<button class=\"quiet\">{}</button>\n</form>\n", texts.end_others);
    }
    html.add("</div>\n<p class=\"quiet\">{}</p>\n", texts.sessions_about);
    begin_table(html, texts.sessions, {texts.browser, texts.signed_in, texts.last_seen, texts.from}, view.texts.forms.actions);
    const auto page = choose_page(view, sessions.size());
    for (const listed_session& each : items_of(std::span{sessions}, page)) write_session_row(html, view, each);
    end_table(html);
    write_page_links(html, view, page);
}

inline void write_password_form(html_writer& html, const page_view& view, std::string_view login, const web::form_faults& faults) {
    const security_texts& texts = view.texts.security;
    const auto hint = fill_in(texts.new_password_hint, std::to_string(limits::password_characters_min));
    begin_form_section(html, view, texts.password, faults);
    html.add("<p class=\"quiet\">{}</p>\n", texts.password_about);
    web::begin_form(html, view.form(change_password_action));
    // Tells password managers whose password it is.
    html.add("<input type=\"text\" name=\"username\" autocomplete=\"username\" aria-label=\"{}\" value=\"{}\" readonly hidden>\n",
             view.texts.sign_in.login, login);
    web::write_text_field(html,
                          {.name = "current_password",
                           .label = texts.current_password,
                           .type = "password",
                           .autocomplete = "current-password"},
                          faults, view.texts.forms);
    web::write_text_field(html,
                          {.name = "new_password",
                           .label = texts.new_password,
                           .hint = hint,
                           .type = "password",
                           .autocomplete = "new-password"},
                          faults, view.texts.forms);
    web::write_text_field(html,
                          {.name = "repeated_password",
                           .label = texts.repeated_password,
                           .type = "password",
                           .autocomplete = "new-password"},
                          faults, view.texts.forms);
    html.add("<button>{}</button>\n</form>\n", texts.change_password);
    end_form_section(html);
}

}  // namespace detail

TOLLGATE_DECL std::string browser_text(std::string_view user_agent, const security_texts& texts) {
    const auto browser = detail::find_mark(detail::browsers, user_agent), system = detail::find_mark(detail::systems, user_agent);
    if (browser.empty() && system.empty()) return std::string{texts.unknown_browser};
    if (system.empty()) return std::string{browser};
    return fill_in(fill_in(texts.browser_on, browser.empty() ? texts.unknown_browser : browser), system);
}

TOLLGATE_DECL web::form_faults faults_of(const http::form_fields& typed, std::string_view login, const page_texts& texts) {
    web::form_faults found;
    const auto new_password = typed.value_of("new_password");
    if (typed.value_of("current_password").empty()) found.add("current_password", texts.forms.missing, texts.security.current_password);
    if (limits::count_characters(new_password) < limits::password_characters_min)
        found.add("new_password", fill_in(texts.security.too_short, std::to_string(limits::password_characters_min)),
                  texts.security.new_password);
    else if (new_password.size() > limits::password_bytes_max)
        found.add("new_password", fill_in(texts.forms.too_long, std::to_string(limits::password_bytes_max)),
                  texts.security.new_password);
    else if (is_common_password(new_password, login))
        found.add("new_password", texts.security.too_common, texts.security.new_password);
    else if (new_password != typed.value_of("repeated_password"))
        found.add("repeated_password", texts.security.different);
    return found;
}

TOLLGATE_DECL void write_security(html_writer& html, const page_view& view, const security_view& shown,
                                  const web::form_faults& faults) {
    const security_texts& texts = view.texts.security;
    begin_list_page(html, view, {.title = texts.title, .about = texts.about});
    if (view.done == session_ended_done) write_notice(html, texts.ended);
    if (view.done == others_ended_done) write_notice(html, texts.others_ended);
    if (view.done == password_changed_done) write_notice(html, texts.password_changed);
    write_list_faults(html, view, faults);
    if (shown.lists_sessions) detail::write_sessions(html, view, shown.sessions);
    if (shown.changes_password) detail::write_password_form(html, view, shown.login, faults);
}

}  // namespace tollgate::pages

#endif  // TOLLGATE_PAGES_DETAIL_SECURITY_PAGE_IPP

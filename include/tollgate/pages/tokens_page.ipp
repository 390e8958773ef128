#pragma once

#include <tollgate/base/visible_text.hpp>
#include <tollgate/pages/list_parts.hpp>
#include <tollgate/pages/tokens_page.hpp>

namespace tollgate::pages {

TOLLGATE_DECL token_form token_form::read(const http::form_fields& fields) {
    token_form made;
    made.description = fields.value_of("description");
    for (const http::form_member& each : fields)
        if (each.name == "scopes") made.scopes.push_back(each.value);
    return made;
}

TOLLGATE_DECL pipeline::form_faults token_form::faults(const service_catalog& services, const page_words& words) const {
    pipeline::form_faults found;
    judge_line(found,
               {.name = "description",
                .label = words.tokens.description,
                .text = description,
                .bytes_max = limits::token_description_bytes_max,
                .missing = words.tokens.description_missing},
               words.forms);
    scope_set fitting;
    const bool known = std::all_of(scopes.begin(), scopes.end(), [&](const std::string& each) {
        return services.has_scope(each) && fitting.add(each);
    });
    if (!known) found.add("scopes", words.forms.unknown_choice, words.tokens.scopes);
    else if (scopes.empty()) found.add("scopes", words.tokens.scopes_missing);
    return found;
}

TOLLGATE_DECL scope_set token_form::chosen() const {
    scope_set made;
    for (const std::string& each : scopes) static_cast<void>(made.add(each));
    return made;
}

namespace detail {

inline void write_token_row(http::html_writer& html, const page_view& view, const personal_token& token) {
    const token_words& words = view.words.tokens;
    begin_row(html, words.description, token.description);
    begin_cell(html, words.username);
    html.add("<code class=\"whole\">{}</code>", token.username.view());
    next_cell(html, words.may);
    write_scope_codes(html, token.scopes);
    next_cell(html, view.words.forms.created);
    pipeline::write_day(html, token.created_at);
    next_cell(html, view.words.forms.last_used);
    write_day_or_never(html, token.last_used_at, view.words.forms);
    next_cell(html, {});
    pipeline::write_confirmation(html,
                                 {.label = words.revoke,
                                  .about = token.description,
                                  .warning = fill_in(words.revoke_warning, token.description),
                                  .button = words.revoke_button},
                                 {.url = view.url,
                                  .form_token = view.form_token,
                                  .hidden = {{action_name, "revoke"}, {"token", std::to_string(token.id.value())}}});
    end_row(html);
}

inline void write_token_form(http::html_writer& html, const page_view& view, const token_form& typed,
                             const pipeline::form_faults& faults) {
    const token_words& words = view.words.tokens;
    begin_form_section(html, words.add);
    pipeline::begin_form(html, {.url = view.url, .form_token = view.form_token, .hidden = {}});
    pipeline::write_text_field(html,
                               {.name = "description",
                                .label = words.description,
                                .hint = words.description_hint,
                                .value = typed.description,
                                .bytes_max = limits::token_description_bytes_max},
                               faults, view.words.forms);
    std::vector<pipeline::choice> choices;
    for (const auto& each : view.scopes.entries())
        choices.push_back(
            {each.scope, each.text, std::count(typed.scopes.begin(), typed.scopes.end(), each.scope) != 0});
    pipeline::write_checkboxes(html, {.name = "scopes", .label = words.scopes}, choices, faults, view.words.forms);
    html.add("<button>{}</button>\n</form>\n", words.button);
    end_form_section(html);
}

}  // namespace detail

TOLLGATE_DECL void write_tokens(http::html_writer& html, const page_view& view, std::span<const personal_token> tokens,
                                const token_form& typed, const pipeline::form_faults& faults) {
    const token_words& words = view.words.tokens;
    begin_list_page(
        html, {.title = words.title, .about = words.about, .add = tokens.empty() ? std::string_view{} : words.add});
    if (view.done == removal_done) write_notice(html, words.revoked);
    pipeline::write_faults(html, faults, view.words.forms);
    if (tokens.empty()) {
        write_nothing_yet(html, words.none);
    } else {
        begin_table(
            html, words.title,
            {words.description, words.username, words.may, view.words.forms.created, view.words.forms.last_used},
            view.words.forms.actions);
        for (const personal_token& each : tokens) detail::write_token_row(html, view, each);
        end_table(html);
    }
    detail::write_token_form(html, view, typed, faults);
}

TOLLGATE_DECL void write_issued_token(http::html_writer& html, const page_view& view,
                                      const issued_personal_token& issued) {
    const token_words& words = view.words.tokens;
    html.add("<h1>{}</h1>\n<p>{}</p>\n", words.made_title, words.made_about);
    pipeline::write_copied_text(html, {.name = "username", .label = words.username, .text = issued.username});
    pipeline::write_copied_text(html, {.name = "secret", .label = words.secret, .text = issued.secret});
    write_once_only(html, view, words.back);
}

}  // namespace tollgate::pages

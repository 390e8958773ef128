#pragma once

#include <tollgate/pages/authorizations_page.hpp>
#include <tollgate/pages/list_parts.hpp>

namespace tollgate::pages {

TOLLGATE_DECL void write_authorizations(http::html_writer& html, const page_view& view, std::span<const grant> grants) {
    const authorization_words& words = view.words.authorizations;
    begin_list_page(html, {.title = words.title, .about = words.about});
    if (view.done == removal_done) write_notice(html, words.revoked);
    if (grants.empty()) return write_nothing_yet(html, words.none);
    begin_table(html, words.title, {words.application, words.may, words.since, view.words.forms.last_used},
                view.words.forms.actions);
    for (const grant& each : grants) {
        html.add("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\" data-label=\"{}\">{}\n<p>", words.application,
                 each.application_name);
        write_web_link(html, each.application_website, each.application_website);
        html.add("</p></th>\n");
        begin_cell(html, words.may);
        write_scope_texts(html, each.scopes, view.scopes);
        next_cell(html, words.since);
        pipeline::write_day(html, each.created_at);
        next_cell(html, view.words.forms.last_used);
        write_day_or_never(html, each.last_used_at, view.words.forms);
        next_cell(html, {});
        pipeline::write_confirmation(
            html,
            {.label = words.revoke,
             .about = each.application_name,
             .warning = fill_in(words.revoke_warning, each.application_name),
             .button = words.revoke_button},
            {.url = view.url,
             .form_token = view.form_token,
             .hidden = {{action_name, "revoke"}, {"application", std::to_string(each.application.value())}}});
        end_row(html);
    }
    end_table(html);
}

}  // namespace tollgate::pages

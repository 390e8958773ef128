#pragma once

#include <tollgate/pages/detail/authorizations_page.hpp>
#include <tollgate/pages/detail/list_parts.hpp>

namespace tollgate::inline v0::pages {

TOLLGATE_DECL void write_authorizations(html_writer& html, const page_view& view, std::span<const grant> grants) {
    const authorization_texts& texts = view.texts.authorizations;
    begin_list_page(html, {.title = texts.title, .about = texts.about});
    if (view.done == removal_done) write_notice(html, texts.revoked);
    if (grants.empty()) return write_empty_list(html, texts.none);
    begin_table(html, texts.title, {texts.application, texts.may, texts.since, view.texts.forms.last_used},
                view.texts.forms.actions);
    for (const grant& each : grants) {
        html.add("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\" data-label=\"{}\">{}\n<p>", texts.application,
                 each.application_name);
        write_web_link(html, each.application_website, each.application_website);
        html.add("</p></th>\n");
        begin_cell(html, texts.may);
        write_scope_texts(html, each.scopes, view.scopes);
        next_cell(html, texts.since);
        web::write_day(html, each.created_at);
        next_cell(html, view.texts.forms.last_used);
        write_day_or_never(html, each.last_used_at, view.texts.forms);
        next_cell(html, {});
        web::write_confirmation(
            html,
            {.label = texts.revoke,
             .about = each.application_name,
             .warning = fill_in(texts.revoke_warning, each.application_name),
             .button = texts.revoke_button},
            {.url = view.url,
             .form_token = view.form_token,
             .hidden = {{action_name, "revoke"}, {"application", std::to_string(each.application.value())}}});
        end_row(html);
    }
    end_table(html);
}

}  // namespace tollgate::pages

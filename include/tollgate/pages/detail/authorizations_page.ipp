#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_AUTHORIZATIONS_PAGE_IPP
#define TOLLGATE_PAGES_DETAIL_AUTHORIZATIONS_PAGE_IPP

#include <tollgate/pages/detail/authorizations_page.hpp>
#include <tollgate/pages/detail/list_parts.hpp>

namespace tollgate::inline v0::pages {

TOLLGATE_DECL void write_authorizations(html_writer& html, const page_view& view, std::span<const grant> grants) {
    const authorization_texts& texts = view.texts.authorizations;
    begin_list_page(html, view, {.title = texts.title, .about = texts.about});
    if (view.done == removal_done) write_notice(html, texts.revoked);
    if (grants.empty()) return write_empty_list(html, texts.none);
    const auto page = choose_page(view, grants.size());
    begin_items(html, texts.title);
    for (const grant& each : items_of(grants, page)) {
        begin_item(html, each.application_name);
        html.add("<p>");
        write_web_link(html, each.application_website);
        html.add("</p>");
        if (each.application_is_suspended)
            html.add("<p><span class=\"state bad\">{}</span> {}</p>", texts.suspended, texts.suspended_about);
        begin_actions(html);
        const auto revocation = view.form(revoke_action, {{"application", std::to_string(each.application.value())}});
        web::write_confirmation(html,
                                {.label = texts.revoke,
                                 .about = each.application_name,
                                 .warning = fill_in(texts.revoke_warning, each.application_name),
                                 .button = texts.revoke_button,
                                 .is_removal = true,
                                 .is_open = view.is_stale(revocation)},
                                revocation, view.texts.forms);
        begin_facts(html);
        write_fact(html, texts.since, [&] { web::write_day(html, each.created_at, view.texts.dates); });
        write_fact(html, view.texts.forms.last_used, [&] { write_last_use(html, view, each.last_used_at); });
        write_long_fact(html, texts.permissions, [&] { web::write_scopes(html, each.scopes, view.scopes); });
        end_item(html);
    }
    end_items(html);
    write_page_links(html, view, page);
}

}  // namespace tollgate::pages

#endif  // TOLLGATE_PAGES_DETAIL_AUTHORIZATIONS_PAGE_IPP

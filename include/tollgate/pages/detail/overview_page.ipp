#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_OVERVIEW_PAGE_IPP
#define TOLLGATE_PAGES_DETAIL_OVERVIEW_PAGE_IPP

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/pages/detail/deliveries_page.hpp>
#include <tollgate/pages/detail/list_parts.hpp>
#include <tollgate/pages/detail/overview_page.hpp>

namespace tollgate::inline v0::pages {

namespace detail {

inline void write_owned_accounts(html_writer& html, const page_view& view, const account_overview& shown) {
    const overview_texts& texts = view.texts.overview;
    html.add("<h2>{}</h2>\n", texts.accounts);
    if (shown.accounts.empty()) return write_empty_list(html, texts.no_accounts);
    begin_table(html, texts.accounts, {texts.account, texts.service, texts.id, texts.role}, view.texts.forms.actions);
    for (const auto& [service, each] : shown.accounts) {
        begin_row(html, texts.account, shorten(each.name));
        const auto account = account_text({service, each.id});
        write_cell(html, texts.service, service.view());
        write_cell(html, texts.id, each.id.value());
        write_cell(html, texts.role, each.admin ? texts.administrator : texts.member);
        write_cell(html, {}, [&, name = shorten(each.name)] {
            html.add("<a href=\"{}?{}={}\">{}<span class=\"unseen\"> {}</span></a>", view.url_of(page::webhooks), account_name,
                     tollgate::detail::percent_encode(account), texts.webhooks, name);
        });
        end_row(html);
    }
    end_table(html);
    if (shown.accounts_count > shown.accounts.size())
        html.add("<p class=\"quiet\">{}</p>\n",
                 fill_in(texts.more_accounts, std::to_string(shown.accounts_count - shown.accounts.size())));
}

inline void write_window(html_writer& html, const page_view& view, const account_overview& shown) {
    if (!shown.window) return;
    const overview_texts& texts = view.texts.overview;
    const auto used = shown.window->limit - shown.window->remaining;
    html.add("<h2>{}</h2>\n<div class=\"requests\">\n", texts.requests);
    write_bar(html, used, shown.window->limit);
    html.add("<p>{}.", fill_in(fill_in(texts.requests_used, std::to_string(used), std::to_string(shown.window->limit)),
                               std::to_string(shown.window->remaining)));
    if (used > 0) {
        html.add(" <span class=\"quiet\">{} ", texts.requests_reset);
        web::write_moment(html, shown.window->resets_at, view.texts.dates);
        html.add("</span>");
    }
    html.add("</p>\n</div>\n");
}

inline void write_access(html_writer& html, const page_view& view, const account_overview& shown) {
    const overview_texts& texts = view.texts.overview;
    html.add("<h2>{}</h2>\n", texts.access);
    if (shown.access.empty()) {
        write_empty_list(html, texts.no_access);
    } else {
        const auto counted = view.texts.forms.requests_today;
        std::vector<std::string_view> headings{texts.name, texts.type, view.texts.forms.last_used};
        if (shown.counts_requests) headings.push_back(counted);
        begin_table(html, texts.access, headings, {});
        for (const access_holder& each : shown.access) {
            begin_row(html, texts.name, each.name);
            write_cell(html, texts.type, each.is_token ? texts.token : texts.application);
            write_cell(html, view.texts.forms.last_used, [&] { write_last_use(html, view, each.last_used_at); });
            if (shown.counts_requests)
                write_cell(html, counted, [&] {  // in one element, because cards have two columns
                    html.add("<div>");
                    write_usage(html, view, each.requests_today, shown.allowed);
                    html.add("</div>");
                });
            end_row(html);
        }
        end_table(html);
    }
    html.add("<p class=\"links\"><a href=\"{}\">{}</a> <a href=\"{}\">{}</a></p>\n", view.url_of(page::tokens),
             fill_in(texts.all_tokens, std::to_string(shown.tokens_count)), view.url_of(page::authorizations),
             fill_in(texts.all_applications, std::to_string(shown.grants_count)));
}

}  // namespace detail

TOLLGATE_DECL void write_overview(html_writer& html, const page_view& view, const account_overview& shown) {
    const overview_texts& texts = view.texts.overview;
    html.add("<h1>{}</h1>\n<p class=\"lead\">{}: <strong class=\"balance\">{} {}</strong></p>\n", texts.title, texts.balance,
             shown.owned.amount.text(), shown.owned.currency.view());
    detail::write_owned_accounts(html, view, shown);
    detail::write_window(html, view, shown);
    detail::write_access(html, view, shown);
    if (!shown.keeps_activities) return;
    html.add("<h2>{}</h2>\n", texts.activity);
    if (!shown.activities) return write_empty_list(html, texts.no_activity);
    write_activity_table(html, view, *shown.activities);
    if (!shown.activities->empty())
        html.add("<p class=\"links\"><a href=\"{}\">{}</a></p>\n", view.url_of(page::activity), texts.all_activity);
}

}  // namespace tollgate::pages

#endif  // TOLLGATE_PAGES_DETAIL_OVERVIEW_PAGE_IPP

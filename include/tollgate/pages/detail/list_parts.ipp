#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_LIST_PARTS_IPP
#define TOLLGATE_PAGES_DETAIL_LIST_PARTS_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/pages/detail/list_parts.hpp>

#include <algorithm>
#include <string>

namespace tollgate::inline v0::pages {

TOLLGATE_DECL void check_line(web::form_faults& found, const typed_line& typed, const form_texts& texts) {
    if (typed.text.empty()) {
        if (!typed.missing.empty()) found.add(typed.name, typed.missing);
    } else if (typed.text.size() > typed.bytes_max) {
        found.add(typed.name, fill_in(texts.too_long, std::to_string(typed.bytes_max)), typed.label);
    } else if (!tollgate::detail::is_visible_line(typed.text, typed.bytes_max)) {
        const bool blank = typed.text.find_first_not_of(' ') == std::string_view::npos;
        if (blank && !typed.missing.empty()) found.add(typed.name, typed.missing);
        else found.add(typed.name, texts.not_plain, typed.label);
    }
}

TOLLGATE_DECL void begin_list_page(html_writer& html, const page_view& view, const list_heading& heading) {
    html.add("<div class=\"heading\">\n<h1>{}</h1>\n", heading.title);
    if (!heading.add.empty()) html.add("<a class=\"button quiet\" href=\"#new\">{}</a>\n", heading.add);
    html.add("</div>\n<p class=\"lead\">{}</p>\n", heading.about);
    if (view.done == signed_out_done) html.add("<p class=\"caution\" role=\"status\">{}</p>\n", view.texts.forms.signed_out);
    write_stale(html, view);
}

TOLLGATE_DECL void write_stale(html_writer& html, const page_view& view) {
    if (!view.stale.reason.empty()) html.add("<p class=\"caution\" role=\"alert\">{}</p>\n", view.stale.reason);
}

TOLLGATE_DECL list_page choose_page(const page_view& view, std::size_t items, std::size_t items_max) noexcept {
    list_page page;
    page.count = (std::max)((items + items_max - 1) / items_max, std::size_t{1});
    page.number = std::clamp(view.page_number, std::size_t{1}, page.count);
    page.first = (page.number - 1) * items_max;
    page.size = (std::min)(items - page.first, items_max);
    return page;
}

TOLLGATE_DECL void write_page_links(html_writer& html, const page_view& view, const list_page& page, std::string_view query) {
    if (page.count == 1) return;
    const form_texts& texts = view.texts.forms;
    const auto url_of = [&](std::size_t number) {
        std::string url = std::string{view.url}.append("?").append(query).append(query.empty() ? "" : "&");
        return url.append(page_number_name).append("=").append(std::to_string(number));
    };
    html.add("<nav aria-label=\"{}\"><p>", texts.pages);
    if (page.number > 1) html.add("<a rel=\"prev\" href=\"{}\">{}</a> ", url_of(page.number - 1), texts.previous_page);
    html.add("{}", fill_in(texts.page_of, std::to_string(page.number), std::to_string(page.count)));
    if (page.number < page.count) html.add(" <a rel=\"next\" href=\"{}\">{}</a>", url_of(page.number + 1), texts.next_page);
    html.add("</p></nav>\n");
}

TOLLGATE_DECL std::string shorten(std::string_view text, std::size_t characters_max) {
    std::size_t characters = 0, end = 0;  // end: of the text that stays if there is more
    for (std::size_t at = 0; at < text.size();) {
        if (++characters == characters_max) end = at;
        if (characters > characters_max) return std::string{text.substr(0, end)}.append("\xe2\x80\xa6");
        at += (std::max)(tollgate::detail::utf8_sequence_bytes(text.substr(at)), std::size_t{1});
    }
    return std::string{text};
}

TOLLGATE_DECL void write_empty_list(html_writer& html, std::string_view text) {
    html.add("<p class=\"nothing\">{}</p>\n", text);
}

TOLLGATE_DECL void begin_table(html_writer& html, std::string_view caption,
                               const std::vector<std::string_view>& headings, std::string_view actions) {
    html.add(
        "<table role=\"table\">\n<caption class=\"unseen\">{}</caption>\n<thead role=\"rowgroup\"><tr role=\"row\">",
        caption);
    for (const auto each : headings) html.add("<th role=\"columnheader\" scope=\"col\">{}</th>", each);
    if (!actions.empty())
        html.add("<th role=\"columnheader\" scope=\"col\"><span class=\"unseen\">{}</span></th>", actions);
    html.add("</tr></thead>\n<tbody role=\"rowgroup\">\n");
}

TOLLGATE_DECL void end_table(html_writer& html) { html.add("</tbody>\n</table>\n"); }

TOLLGATE_DECL void begin_row(html_writer& html, std::string_view column, std::string_view name) {
    html.add("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\" data-label=\"{}\">{}</th>", column, name);
}

TOLLGATE_DECL void end_row(html_writer& html) { html.add("</tr>\n"); }

TOLLGATE_DECL void begin_items(html_writer& html, std::string_view label) {
    html.add("<ul class=\"items\" aria-label=\"{}\">\n", label);
}
TOLLGATE_DECL void end_items(html_writer& html) { html.add("</ul>\n"); }

TOLLGATE_DECL void begin_item(html_writer& html, std::string_view name, bool is_nested) {
    html.add("<li><div class=\"top\"><div class=\"what\">");
    if (is_nested) html.add("<h3>{}</h3>\n", name);
    else html.add("<h2>{}</h2>\n", name);
}
TOLLGATE_DECL void begin_actions(html_writer& html) { html.add("</div>\n<div class=\"actions\">"); }
TOLLGATE_DECL void begin_facts(html_writer& html) { html.add("</div></div>\n<dl>\n"); }
TOLLGATE_DECL void end_item(html_writer& html) { html.add("</dl></li>\n"); }

TOLLGATE_DECL void write_bar(html_writer& html, std::uint64_t part, std::uint64_t whole) {
    // Thousandths of the width. A part that is not nothing can be seen.
    const auto width = whole == 0 ? 0 : (std::min)(std::uint64_t{1000}, (part * 1000 + whole - 1) / whole);
    html.add("<svg class=\"usage\" viewBox=\"0 0 1000 8\" preserveAspectRatio=\"none\" width=\"160\" height=\"8\" aria-hidden=\"true\" "
             "focusable=\"false\"><rect width=\"1000\" height=\"8\" fill=\"currentColor\" fill-opacity=\".15\"/>"
             "<rect class=\"{}\" width=\"{}\" height=\"8\" fill=\"currentColor\"/></svg>\n",
             part < whole ? "used" : "used up", width);
}

TOLLGATE_DECL void write_usage(html_writer& html, const page_view& view, const usage& counted, const quota& allowed) {
    html.add("{}", counted.requests);
    if (counted.failures > 0)
        html.add(" <span class=\"quiet\">{}</span>", fill_in(view.texts.forms.failed_requests, std::to_string(counted.failures)));
    if (allowed.window > seconds{0} && allowed.requests > 0) write_bar(html, counted.requests, allowed.requests);
}

TOLLGATE_DECL void write_last_use(html_writer& html, const page_view& view, const std::optional<instant>& at) {
    if (at) web::write_age(html, *at, view.now, view.texts.dates);
    else html.add("<span class=\"quiet\">{}</span>", view.texts.forms.never);
}

TOLLGATE_DECL void write_web_link(html_writer& html, std::string_view url) {
    const auto text = shorten(url);
    const auto leads_to = http::url::parse(url);
    // User information can make a URL look like that of another host.
    if (leads_to && !leads_to->has_user_info)
        html.add("<a href=\"{}\" rel=\"external noopener noreferrer\">{}</a>", url, text);
    else html.add("{}", text);
}

TOLLGATE_DECL void write_list_faults(html_writer& html, const page_view& view, const web::form_faults& faults) {
    if (!faults.has_fields()) web::write_faults(html, faults, view.texts.forms);
}

TOLLGATE_DECL void begin_form_section(html_writer& html, const page_view& view, std::string_view heading,
                                      const web::form_faults& faults) {
    html.add("<section class=\"form\" id=\"new\" aria-labelledby=\"new-heading\">\n<h2 id=\"new-heading\">{}</h2>\n",
             heading);
    if (faults.has_fields()) web::write_faults(html, faults, view.texts.forms);
}

TOLLGATE_DECL void end_form_section(html_writer& html) { html.add("</section>\n"); }

TOLLGATE_DECL std::string secret_view::to_text() const {
    std::string text{title};
    const auto append = [&](std::string_view part) { text.append(1, '\0').append(part); };
    append(about);
    append(back);
    for (const item& each : items)
        for (const auto part : {each.name, each.label, each.text}) append(part);
    return text;
}

TOLLGATE_DECL std::optional<secret_view> secret_view::parse(std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto end = (std::min)(text.find('\0', begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    if (parts.size() < 3 || parts.size() % 3 != 0) return std::nullopt;
    secret_view view{parts[0], parts[1], parts[2], {}};
    for (std::size_t i = 3; i < parts.size(); i += 3) view.items.push_back({parts[i], parts[i + 1], parts[i + 2]});
    return view;
}

TOLLGATE_DECL void write_secret(html_writer& html, const page_view& view, const secret_view& shown) {
    html.add("<h1>{}</h1>\n<p>{}</p>\n<p class=\"caution\">{}</p>\n", shown.title, shown.about, view.texts.forms.shown_once);
    for (const auto& each : shown.items)
        web::write_copyable_text(html, {.name = each.name, .label = each.label, .text = each.text}, view.texts.forms);
    html.add("<p><a class=\"button\" href=\"{}\">{}</a></p>\n", view.list_url(), shown.back);
}

}  // namespace tollgate::pages

#endif  // TOLLGATE_PAGES_DETAIL_LIST_PARTS_IPP

#pragma once
#ifndef TOLLGATE_WEB_PAGE_THEME_IPP
#define TOLLGATE_WEB_PAGE_THEME_IPP

#include <tollgate/web/detail/plain_theme_style.hpp>
#include <tollgate/web/page_theme.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

TOLLGATE_DECL std::string plain_theme::scope_text(std::string_view scope, const service_catalog& services,
                                                  const page_texts& texts) const {
    if (scope == balance_scope) return std::string{texts.scopes.balance};
    for (const service& each : services.services()) {
        if (scope == each.read_scope) return fill_in(texts.scopes.read, each.name);
        if (scope == each.write_scope) return fill_in(texts.scopes.write, each.name);
        for (const service_scope& own : each.own_scopes)
            if (scope == own.name) return own.text;
    }
    return std::string{scope};
}

TOLLGATE_DECL std::string plain_theme::style_sheet() const { return std::string{detail::plain_style_sheet}; }

TOLLGATE_DECL std::string plain_theme::icon() const {
    return icon_svg.empty() ? std::string{detail::plain_icon} : icon_svg;
}

TOLLGATE_DECL void plain_theme::begin_page(html_writer& html, const page_frame& frame) const {
    const frame_texts& texts = *frame.texts;
    auto title = frame.has_errors ? fill_in(texts.error_title, frame.title) : std::string{frame.title};
    if (title != texts.site_name) title.append(" - ").append(texts.site_name);
    html.add(R"(<!doctype html>
<html lang="{}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{}</title>
<link rel="stylesheet" href="{}">
<link rel="icon" type="image/svg+xml" href="{}">
)",
             texts.language, title, frame.style_url, frame.icon_url);
    if (!frame.referrer_policy.empty()) html.add("<meta name=\"referrer\" content=\"{}\">\n", frame.referrer_policy);
    if (!frame.script_url.empty()) html.add("<script src=\"{}\" defer></script>\n", frame.script_url);
    html.add(R"(</head>
<body class="{}">
<a class="skip" href="#content">{}</a>
<header><div class="bar"><a class="name" href="{}"><img class="logo" src="{}" alt="">{}</a>
)",
             frame.shape == page_shape::narrow ? "narrow" : "wide", texts.skip, frame.home_url,
             logo_url.empty() ? frame.icon_url : std::string_view{logo_url}, texts.site_name);
    html.add("<div class=\"who\">");
    if (!frame.documentation_url.empty()) {
        html.add("<a href=\"{}\"", frame.documentation_url);
        if (!texts.documentation_language.empty()) html.add(" hreflang=\"{}\"", texts.documentation_language);
        html.add(">{}</a>", texts.documentation);
    }
    if (!frame.login.empty()) {
        html.add("<span>{}</span>", fill_in(texts.signed_in_as, frame.login));
        if (!frame.sign_out_url.empty())
            html.add(R"(<form method="post" action="{}"><input type="hidden" name="form_token" value="{}">)"
                     R"(<button class="quiet">{}</button></form>)",
                     frame.sign_out_url, frame.form_token, texts.sign_out);
    }
    html.add("</div>\n</div></header>\n");
    if (!frame.navigation.empty()) {
        html.add("<nav aria-label=\"{}\"><ul>\n", texts.navigation);
        for (const page_link& each : frame.navigation) {
            html.add("<li><a href=\"{}\"", each.url);
            if (each.current) html.add(" aria-current=\"page\"");
            html.add(">{}</a></li>\n", each.text);
        }
        html.add("</ul></nav>\n");
    }
    html.add("<main id=\"content\">\n");
}

TOLLGATE_DECL void plain_theme::end_page(html_writer& html, const page_frame& frame) const {
    html.add("</main>\n");
    const auto is_shown = [&](const theme_link& each) { return each.language.empty() || each.language == frame.texts->language; };
    const bool has_links = std::any_of(footer_links.begin(), footer_links.end(), is_shown);
    if (has_links || !frame.languages.empty()) html.add("<footer>");
    if (has_links) {
        html.add("<ul class=\"site-links\">\n");
        for (const theme_link& each : footer_links)
            if (is_shown(each)) html.add("<li><a href=\"{}\">{}</a></li>\n", each.url, each.text);
        html.add("</ul>");
    }
    if (!frame.languages.empty()) {
        html.add("<nav aria-label=\"{}\"><ul class=\"languages\">\n", frame.texts->languages);
        for (const page_link& each : frame.languages) {
            html.add("<li><a href=\"{}\" lang=\"{}\" hreflang=\"{}\"", each.url, each.language, each.language);
            if (each.current) html.add(" aria-current=\"true\"");
            html.add(">{}</a></li>\n", each.text);
        }
        html.add("</ul></nav>");
    }
    if (has_links || !frame.languages.empty()) html.add("</footer>\n");
    html.add("</body>\n</html>\n");
}

}  // namespace tollgate

#endif  // TOLLGATE_WEB_PAGE_THEME_IPP

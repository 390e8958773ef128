#pragma once

#include <tollgate/web/detail/plain_theme_style.hpp>
#include <tollgate/web/plain_theme.hpp>

namespace tollgate::inline v0 {

TOLLGATE_DECL std::string plain_theme::scope_text(std::string_view scope, const service_catalog& services) const {
    if (scope == balance_scope) return std::string{wording.scopes.balance};
    for (const service& each : services.services()) {
        if (scope == each.read_scope) return fill_in(wording.scopes.read, each.name);
        if (scope == each.write_scope) return fill_in(wording.scopes.write, each.name);
    }
    return std::string{scope};
}

TOLLGATE_DECL std::string plain_theme::style_sheet() const { return std::string{detail::plain_style_sheet}; }

TOLLGATE_DECL void plain_theme::begin_page(html_writer& html, const page_frame& frame) const {
    const frame_texts& texts = wording.frame;
    const auto title = frame.has_errors ? fill_in(texts.error_title, frame.title) : std::string{frame.title};
    html.add(R"(<!doctype html>
<html lang="{}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{} - {}</title>
<link rel="stylesheet" href="{}">
<link rel="icon" href="{}">
)",
             texts.language, title, texts.site_name, frame.style_url, detail::plain_icon);
    if (!frame.referrer_policy.empty()) html.add("<meta name=\"referrer\" content=\"{}\">\n", frame.referrer_policy);
    html.add(R"(</head>
<body class="{}">
<a class="skip" href="#content">{}</a>
<header><div class="bar"><a class="name" href="{}">{}</a>
)",
             frame.shape == page_shape::narrow ? "narrow" : "wide", texts.skip, frame.home_url, texts.site_name);
    if (!frame.login.empty()) {
        html.add("<div class=\"who\"><span>{}</span>", fill_in(texts.signed_in_as, frame.login));
        if (!frame.sign_out_url.empty())
            html.add(R"(<form method="post" action="{}"><input type="hidden" name="form_token" value="{}">)"
                     R"(<button class="quiet">{}</button></form>)",
                     frame.sign_out_url, frame.form_token, texts.sign_out);
        html.add("</div>\n");
    }
    html.add("</div></header>\n");
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

TOLLGATE_DECL void plain_theme::end_page(html_writer& html, const page_frame&) const {
    html.add("</main>\n</body>\n</html>\n");
}

}  // namespace tollgate

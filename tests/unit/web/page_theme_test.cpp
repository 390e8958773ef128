#include <tollgate/web/page_theme.hpp>

#include <tollgate/web/german.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tollgate;

namespace {

service_catalog two_services() {
    service_catalog services;
    static_cast<void>(services.add("sitesmaker", {"site.created"}));
    static_cast<void>(services.add("itemplatform", {"item.created"}));
    return services;
}

std::string page(const plain_theme& theme, page_frame frame) {
    if (frame.texts == nullptr) frame.texts = &theme.languages.front().frame;
    std::string text;
    html_writer html{text};
    theme.begin_page(html, frame);
    theme.end_page(html, frame);
    return text;
}

// [colors]
/// The default theme in the shop's green, with a link to the legal notice.
struct green_theme : plain_theme {
    green_theme() {
        languages = {page_texts{}, german_texts()};
        footer_links = {{"/legal/", "Legal notice", "en"}, {"/legal/", "Impressum", "de"}, {"https://shop.example/", "Back to the shop"}};
    }
    std::string style_sheet() const {
        return plain_theme::style_sheet() + R"(
:root { --accent: #1b6e3c; --accent-deep: #124d2a; --on-accent: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --accent: #7fd6a0; --accent-deep: #a8e6bf; --on-accent: #0c2415; } }
)";
    }
};
// [/colors]

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("scopes have plain texts") {
    const plain_theme theme;
    const auto services = two_services();
    const auto& english = theme.languages[0];
    CHECK(theme.scope_text("user:balance", services, english) == "View your balance");
    CHECK(theme.scope_text("sitesmaker:read", services, english) ==
          "View your sitesmaker accounts, and manage their webhooks");
    CHECK(theme.scope_text("itemplatform", services, english) == "View and manage your itemplatform accounts");
    CHECK(theme.scope_text("nothing", services, english) == "nothing");
    // All texts are different.
    std::vector<std::string> texts;
    for (const auto& scope : services.scopes()) {
        for (const auto& other : texts) CHECK(theme.scope_text(scope, services, english) != other);
        texts.push_back(theme.scope_text(scope, services, english));
    }
}

TEST_CASE("a frame has the elements that navigation needs") {
    const page_link links[] = {{"/a", "A & B", false}, {"/b", "B", true}};
    const auto text = page({}, {.title = "Tokens",
                                .style_url = "/style.css",
                                .home_url = "/",
                                .navigation = links,
                                .login = "ann<",
                                .sign_out_url = "/out",
                                .form_token = "t.o"});
    for (const auto* part :
         {"<!doctype html>", "<html lang=\"en\">", "<meta charset=\"utf-8\">", "name=\"viewport\"",
          "<title>Tokens - Your account</title>", "href=\"/style.css\"", "<a class=\"skip\" href=\"#content\">",
          "<main id=\"content\">", "Signed in as ann&lt;", "action=\"/out\"", "name=\"form_token\" value=\"t.o\"",
          "<nav aria-label=\"Settings\">", "<a href=\"/a\">A &amp; B</a>", "<a href=\"/b\" aria-current=\"page\">B</a>",
          "</main>", "</html>"})
        CHECK(has(text, part));
    CHECK_FALSE(has(text, "name=\"referrer\""));
    CHECK_FALSE(has(text, "<script"));
}

TEST_CASE("a frame omits elements that a page does not need") {
    const auto text =
        page({}, {.title = "Sign in", .has_errors = true, .shape = page_shape::narrow, .referrer_policy = "same-origin"});
    CHECK(has(text, "<title>Error: Sign in - Your account</title>"));
    CHECK(has(text, "<body class=\"narrow\">"));
    CHECK(has(text, "<meta name=\"referrer\" content=\"same-origin\">"));
    CHECK_FALSE(has(text, "<nav"));
    CHECK_FALSE(has(text, "<form"));
    CHECK_FALSE(has(text, "Signed in"));
    // Signed in by an external session source.
    CHECK_FALSE(has(page({}, {.title = "Tokens", .login = "ann"}), "<form"));
}

TEST_CASE("a page whose title is the site's name does not repeat it") {
    CHECK(has(page({}, {.title = "Your account"}), "<title>Your account</title>"));
    CHECK(has(page({}, {.title = "Your account", .has_errors = true}), "<title>Error: Your account - Your account</title>"));
}

TEST_CASE("the documentation is in English") {
    plain_theme theme;
    theme.languages = {german_texts()};
    CHECK(has(page(theme, {.title = "A", .documentation_url = "/docs/"}), "<a href=\"/docs/\" hreflang=\"en\">Dokumentation</a>"));
}

TEST_CASE("texts can be replaced") {
    plain_theme theme;
    theme.languages = {german_texts()};
    theme.languages[0].frame.site_name = "Example";
    CHECK(has(page(theme, {.title = "Tokens"}), "<html lang=\"de\">"));
    CHECK(has(page(theme, {.title = "Tokens"}), "<title>Tokens - Example</title>"));
    CHECK(theme.scope_text("user:balance", {}, theme.languages[0]) == "Ihren Kontostand ansehen");
}

TEST_CASE("a page links to itself in other languages") {
    const page_link links[] = {{"/en/a?b=c&d", "English", true, "en"}, {"/de/a", "Deutsch", false, "de"}};
    const auto text = page({}, {.title = "Tokens", .languages = links});
    CHECK(has(text, "<nav aria-label=\"Language\">"));
    CHECK(has(text, "<a href=\"/en/a?b=c&amp;d\" lang=\"en\" hreflang=\"en\" aria-current=\"true\">English</a>"));
    CHECK(has(text, "<a href=\"/de/a\" lang=\"de\" hreflang=\"de\">Deutsch</a>"));
    CHECK_FALSE(has(page({}, {.title = "Tokens"}), "hreflang"));
}

TEST_CASE("a theme has an icon and a logo") {
    plain_theme theme;
    CHECK(has(page(theme, {.title = "A", .icon_url = "/icon.svg"}), "<link rel=\"icon\" type=\"image/svg+xml\" href=\"/icon.svg\">"));
    CHECK(has(page(theme, {.title = "A", .icon_url = "/icon.svg"}), "<img class=\"logo\" src=\"/icon.svg\" alt=\"\">"));
    CHECK(theme.icon().starts_with("<svg "));
    theme.logo_url = "/logo.png?a=b&c";
    theme.icon_svg = "<svg/>";
    CHECK(has(page(theme, {.title = "A", .icon_url = "/icon.svg"}), "<img class=\"logo\" src=\"/logo.png?a=b&amp;c\" alt=\"\">"));
    CHECK(theme.icon() == "<svg/>");
}

TEST_CASE("the documentation is linked to on every page") {
    CHECK(has(page({}, {.title = "A", .documentation_url = "/docs/?a&b"}), "<a href=\"/docs/?a&amp;b\">Documentation</a>"));
    CHECK_FALSE(has(page({}, {.title = "A"}), "Documentation"));
}

TEST_CASE("a theme adds links to each page, or to the pages in one language") {
    const green_theme theme;
    const auto english = page(theme, {.title = "A"});
    CHECK(has(english, "<footer><ul class=\"site-links\">\n<li><a href=\"/legal/\">Legal notice</a></li>\n"
                       "<li><a href=\"https://shop.example/\">Back to the shop</a></li>\n</ul></footer>\n"));
    const page_link links[] = {{"/en/a", "English", false, "en"}, {"/de/a", "Deutsch", true, "de"}};
    const auto german = page(theme, {.texts = &theme.languages[1].frame, .title = "A", .languages = links});
    CHECK(has(german, "<footer><ul class=\"site-links\">\n<li><a href=\"/legal/\">Impressum</a></li>\n"));
    CHECK(has(german, "</ul><nav aria-label=\"Sprache\"><ul class=\"languages\">\n"));
    CHECK_FALSE(has(german, "Legal notice"));

    plain_theme only_german;
    only_german.footer_links = {{"/a?b&c", "<A>", "de"}};
    CHECK_FALSE(has(page(only_german, {.title = "A"}), "footer"));
    only_german.footer_links[0].language.clear();
    CHECK(has(page(only_german, {.title = "A"}), "<a href=\"/a?b&amp;c\">&lt;A&gt;</a>"));
    CHECK(has(theme.style_sheet(), plain_theme{}.style_sheet()));
}

TEST_CASE("the style sheet loads no other resource") {
    const auto sheet = plain_theme{}.style_sheet();
    CHECK(has(sheet, "prefers-color-scheme: dark"));
    for (const auto* part : {"url(", "@import", "http:", "https:", "expression"}) CHECK_FALSE(has(sheet, part));
}

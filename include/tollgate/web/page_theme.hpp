#pragma once

#include <tollgate/model/service_catalog.hpp>
#include <tollgate/web/html_writer.hpp>
#include <tollgate/web/texts.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

struct page_link {
    std::string_view url;
    std::string_view text;
    bool current = false;  ///< leads to the page that it stands on
};

/// How much room a page wants.
enum class page_shape : std::uint8_t {
    wide,    ///< lists and tables
    narrow,  ///< one thing to decide, such as signing in
};

/// What surrounds a page's content. Views, valid during the call; all of them are plain text and have to be escaped,
/// which `html_writer` does.
struct page_frame {
    std::string_view title = {};  ///< what the page is about; its content has it as a heading
    bool faulty = false;          ///< something in a form has to be corrected: the title says so first
    page_shape shape = page_shape::wide;
    std::string_view style_url = {};  ///< where the style sheet is
    std::string_view home_url = {};   ///< where the site's name leads
    std::span<const page_link> navigation = {};
    std::string_view login = {};  ///< who is signed in; empty for nobody
    /// Where a form with `form_token` signs them out; empty where that is not done here.
    std::string_view sign_out_url = {};
    std::string_view form_token = {};
    std::string_view referrer_policy = {};  ///< for a `<meta name="referrer">`, if not empty: forms need it then
};

/// How pages look, and what they say.
///
/// Thread rule: callable from many threads at once. Nothing here blocks. No page runs a script or loads anything from
/// other hosts: the content security policy is not the theme's, and allows images and the style sheet of this site
/// alone.
///
/// Exemplar:
///
///     struct bare_theme {
///         page_texts said;
///         const page_texts& texts() const noexcept { return said; }
///         std::string scope_text(std::string_view scope, const service_catalog&) const { return std::string{scope}; }
///         std::string style_sheet() const { return "body { max-width: 40rem; margin: 2rem auto; }"; }
///         void begin_page(http::html_writer& html, const page_frame& frame) const {
///             html.add("<!doctype html><html lang=\"en\"><title>{}</title>", frame.title);
///             html.add("<link rel=\"stylesheet\" href=\"{}\"><main>", frame.style_url);
///         }
///         void end_page(http::html_writer& html, const page_frame&) const { html.add("</main></html>"); }
///     };
template <class T>
concept page_theme = requires(const T& t, std::string_view scope, const service_catalog& services,
                              http::html_writer& html, const page_frame& frame) {
    // Every text. The same object each time, as long as the theme lives.
    { t.texts() } noexcept -> std::same_as<const page_texts&>;
    // What a scope lets a program do, in plain words. Called once for each scope, when a handler is made.
    { t.scope_text(scope, services) } -> std::same_as<std::string>;
    // CSS for all pages. Called once, when a handler is made.
    { t.style_sheet() } -> std::same_as<std::string>;
    // Everything before a page's content: the beginning of the document, its head, what stands above. The content is
    // flow content of HTML and belongs into a `<main>`.
    t.begin_page(html, frame);
    // Everything behind it.
    t.end_page(html, frame);
};

}  // namespace tollgate

#pragma once

#include <tollgate/model/service_catalog.hpp>
#include <tollgate/web/detail/html_writer.hpp>
#include <tollgate/web/texts.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// A link with its text.
struct page_link {
    std::string_view url;
    std::string_view text;
    bool current = false;  ///< this is the link of the current page
};

/// The width of a page's content.
enum class page_shape : std::uint8_t {
    wide,    ///< lists and tables
    narrow,  ///< a single form or message
};

/// What surrounds a page's content. Views, valid during the call. All are plain text and must be escaped, which
/// `html_writer` does.
struct page_frame {
    std::string_view title = {};  ///< the page's subject, which its content has as a heading
    bool has_errors = false;      ///< the page reports errors in a form, which the title should say first
    page_shape shape = page_shape::wide;
    std::string_view style_url = {};  ///< the style sheet
    std::string_view home_url = {};   ///< the target of the site's name
    std::span<const page_link> navigation = {};
    std::string_view login = {};  ///< who is signed in; empty for no one
    /// Where a form with `form_token` signs out; empty if sign-out is elsewhere.
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
///         page_texts wording;
///         const page_texts& texts() const noexcept { return wording; }
///         std::string scope_text(std::string_view scope, const service_catalog&) const { return std::string{scope}; }
///         std::string style_sheet() const { return "body { max-width: 40rem; margin: 2rem auto; }"; }
///         void begin_page(html_writer& html, const page_frame& frame) const {
///             html.add("<!doctype html><html lang=\"en\"><title>{}</title>", frame.title);
///             html.add("<link rel=\"stylesheet\" href=\"{}\"><main>", frame.style_url);
///         }
///         void end_page(html_writer& html, const page_frame&) const { html.add("</main></html>"); }
///     };
template <class T>
concept page_theme = requires(const T& t, std::string_view scope, const service_catalog& services, html_writer& html,
                              const page_frame& frame) {
    // All texts. The same object as long as the theme lives.
    { t.texts() }
    noexcept->std::same_as<const page_texts&>;
    // A description of what a scope permits. Called once per scope, when a handler is constructed.
    { t.scope_text(scope, services) } -> std::same_as<std::string>;
    // CSS of all pages. Called once, when a handler is constructed.
    { t.style_sheet() } -> std::same_as<std::string>;
    // Everything before a page's content: the start of the document, its head and the page header. The content is flow
    // content of HTML and belongs into a `<main>`.
    t.begin_page(html, frame);
    // Everything after it.
    t.end_page(html, frame);
};

}  // namespace tollgate

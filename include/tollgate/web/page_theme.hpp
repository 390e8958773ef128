#pragma once
#ifndef TOLLGATE_WEB_PAGE_THEME_HPP
#define TOLLGATE_WEB_PAGE_THEME_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/contract/detail/reference.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/web/html_writer.hpp>
#include <tollgate/web/texts.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

/// A link with its text.
struct page_link {
    std::string_view url;
    std::string_view text;
    bool current = false;  ///< true for the link of the current page
    std::string_view language = {};  ///< language of the text and the target, if they have a language of their own (BCP 47)
};

/// The width of a page's content.
enum class page_shape : std::uint8_t {
    wide,    ///< lists and tables
    narrow,  ///< a single form or message
};

/// The surroundings of a page's content. The views are valid during the call. All texts are plain and must be escaped, which `html_writer`
/// does.
struct page_frame {
    const frame_texts* texts = nullptr;  ///< texts in the page's language; never null for a theme
    std::string_view title = {};  ///< the page's subject, which its content has as a heading
    bool has_errors = false;      ///< true if the page reports errors in a form, which the title should say first
    page_shape shape = page_shape::wide;
    std::string_view style_url = {};  ///< URL of the style sheet
    std::string_view icon_url = {};   ///< URL of the site's icon, an SVG image
    bool has_secret = false;          ///< true if the page contains a secret to copy
    std::string_view script_url = {};  ///< URL of the script that adds copy buttons to a page with a secret; otherwise empty
    std::string_view home_url = {};   ///< the target of the site's name
    std::string_view documentation_url = {};  ///< URL of the API's documentation; empty for none
    std::span<const page_link> navigation = {};
    /// The page's path below its language, with its query: `/user/settings/tokens/`. Empty if the page cannot be requested again.
    std::string_view path = {};
    /// Links to the page in each of the theme's languages; empty if there is no other language.
    std::span<const page_link> languages = {};
    std::string_view login = {};  ///< login of the signed-in user; empty for none
    /// The URL to which a form with `form_token` is sent to sign out; empty if sign-out is elsewhere.
    std::string_view sign_out_url = {};
    std::string_view form_token = {};
    std::string_view referrer_policy = {};  ///< value of a `<meta name="referrer">`; if it is not empty, forms need that element
};

/// Defines the appearance and the texts of pages.
///
/// A theme that also has `std::string icon() const`, an SVG document, replaces the site's default icon. The icon is served at
/// `page_frame::icon_url` and at `/favicon.ico`. The function is called once, when a handler is constructed.
///
/// Thread rule: callable from many threads at once. No function blocks. Pages load nothing from other hosts: a theme does not control the
/// content security policy, which allows only images and the style sheet of this site, and the script at `page_frame::script_url` on the
/// pages that have it. These pages also work without the script.
///
/// Exemplar:
///
///     struct bare_theme {
///         page_texts wording;
///         std::span<const page_texts> texts() const noexcept { return {&wording, 1}; }
///         std::string scope_text(std::string_view scope, const service_catalog&, const page_texts&) const {
///             return std::string{scope};
///         }
///         std::string style_sheet() const { return "body { max-width: 40rem; margin: 2rem auto; }"; }
///         void begin_page(html_writer& html, const page_frame& frame) const {
///             html.add("<!doctype html><html lang=\"en\"><title>{}</title>", frame.title);
///             html.add("<link rel=\"stylesheet\" href=\"{}\"><main>", frame.style_url);
///         }
///         void end_page(html_writer& html, const page_frame&) const { html.add("</main></html>"); }
///     };
template <class T>
concept page_theme = requires(const T& t, std::string_view scope, const service_catalog& services, html_writer& html,
                              const page_frame& frame, const page_texts& texts) {
    // Returns all texts, as a `page_texts` for each language: at least one language, and the first for readers who prefer no other.
    // `frame.language` is the segment of paths that names the language, so it must be different in each. The result refers to the same
    // objects as long as the theme lives.
    { t.texts() }
    noexcept->std::same_as<std::span<const page_texts>>;
    // Returns a description of what a scope permits, in the language of `texts`, which is an element of `texts()`. Called once per scope
    // and language, when a handler is constructed.
    { t.scope_text(scope, services, texts) } -> std::same_as<std::string>;
    // Returns the CSS of all pages. Called once, when a handler is constructed.
    { t.style_sheet() } -> std::same_as<std::string>;
    // Writes everything before a page's content: the start of the document, its head and the page header. The content is flow content of
    // HTML and belongs in a `<main>`.
    t.begin_page(html, frame);
    // Writes everything after the content.
    t.end_page(html, frame);
};

/// A link that a theme adds to its pages. Unlike a `page_link`, it owns its texts.
struct theme_link {
    std::string url;
    std::string text;
    std::string language = {};  ///< the language of the pages that have the link, such as "de"; empty: all pages
};

/// The default theme: in English, light or dark by the system's setting, from a width of 320 pixels on, and usable
/// without its style sheet.
///
///     plain_theme theme;
///     theme.languages = {french_texts(), page_texts{}};  // your own, and English
///     for (page_texts& each : theme.languages) each.frame.site_name = "Example";
///     theme.logo_url = "/images/logo.svg";
///
/// A custom theme may derive from it and replace a part: the texts, the style sheet, or the frame.
struct plain_theme {
    /// The text sets, the default one first.
    std::vector<page_texts> languages = std::vector<page_texts>(1);
    /// An image beside the site's name, 1.5 times as high as its letters: a URL of this site or a `data:` URL, which the content
    /// security policy of the pages allows. Empty: the icon.
    std::string logo_url = {};
    std::string icon_svg = {};  ///< the icon of browser tabs, an SVG document; empty: a plain icon
    /// Links at the end of each page, such as a privacy policy, a legal notice, or the way back to your site.
    std::vector<theme_link> footer_links = {};

    /// Each implements a function of `page_theme`.
    [[nodiscard]] std::span<const page_texts> texts() const noexcept { return languages; }
    [[nodiscard]] TOLLGATE_DECL std::string scope_text(std::string_view scope, const service_catalog& services,
                                                       const page_texts& texts) const;
    [[nodiscard]] TOLLGATE_DECL std::string style_sheet() const;
    /// Returns `icon_svg` or the default icon. The function is an optional part of `page_theme`.
    [[nodiscard]] TOLLGATE_DECL std::string icon() const;
    TOLLGATE_DECL void begin_page(html_writer& html, const page_frame& frame) const;
    TOLLGATE_DECL void end_page(html_writer& html, const page_frame& frame) const;
};

static_assert(page_theme<plain_theme>);

namespace detail {

struct page_theme_calls {
    std::span<const page_texts> (*texts)(void*) noexcept;
    std::string (*scope_text)(void*, std::string_view, const service_catalog&, const page_texts&);
    std::string (*style_sheet)(void*);
    std::string (*icon)(void*);  // null if the theme has no such function
    void (*begin_page)(void*, html_writer&, const page_frame&);
    void (*end_page)(void*, html_writer&, const page_frame&);
};

template <class T>
struct calls_of_page_theme {
    static std::span<const page_texts> texts(void* object) noexcept { return object_at<const T>(object).texts(); }
    static std::string scope_text(void* object, std::string_view scope, const service_catalog& services, const page_texts& texts) {
        return object_at<const T>(object).scope_text(scope, services, texts);
    }
    static std::string style_sheet(void* object) { return object_at<const T>(object).style_sheet(); }
    static std::string icon(void* object) { return object_at<const T>(object).icon(); }
    static void begin_page(void* object, html_writer& html, const page_frame& frame) { object_at<const T>(object).begin_page(html, frame); }
    static void end_page(void* object, html_writer& html, const page_frame& frame) { object_at<const T>(object).end_page(html, frame); }

    static consteval page_theme_calls make_table() {
        page_theme_calls calls{&texts, &scope_text, &style_sheet, nullptr, &begin_page, &end_page};
        if constexpr (requires(const T& theme) { { theme.icon() } -> std::same_as<std::string>; }) calls.icon = &icon;
        return calls;
    }
    static constexpr page_theme_calls table = make_table();
};

}  // namespace detail

/// Holds a `page_theme` of any class: a copy, or, with `std::ref`, a reference to an object that must outlive it. Copies share the theme.
///
///     any_page_theme plain;                      // plain_theme
///     any_page_theme own{my_theme{}};
///     any_page_theme shared{std::ref(theme)};
class any_page_theme {
public:
    /// Constructs an object that holds a `plain_theme`. Throws std::bad_alloc.
    any_page_theme() : any_page_theme{plain_theme{}} {}
    /// Constructs an object that holds `theme`. Throws std::bad_alloc, and what moving the theme throws.
    template <class T>
        requires(!std::same_as<T, any_page_theme>)
    any_page_theme(T theme) {
        auto held = std::make_shared<T>(std::move(theme));
        refer_to(*held);
        owner_ = std::move(held);
    }
    /// Constructs an object that refers to a theme.
    template <class T>
    any_page_theme(std::reference_wrapper<T> theme) noexcept {
        refer_to(theme.get());
    }

    /// Each calls the theme's function of this name; see `page_theme`.
    [[nodiscard]] std::span<const page_texts> texts() const noexcept { return calls_->texts(object_); }
    [[nodiscard]] std::string scope_text(std::string_view scope, const service_catalog& services, const page_texts& texts) const {
        return calls_->scope_text(object_, scope, services, texts);
    }
    [[nodiscard]] std::string style_sheet() const { return calls_->style_sheet(object_); }
    /// Returns the theme's icon, or the icon of `plain_theme`.
    [[nodiscard]] std::string icon() const { return calls_->icon != nullptr ? calls_->icon(object_) : plain_theme{}.icon(); }
    void begin_page(html_writer& html, const page_frame& frame) const { calls_->begin_page(object_, html, frame); }
    void end_page(html_writer& html, const page_frame& frame) const { calls_->end_page(object_, html, frame); }

private:
    template <class T>
    void refer_to(T& theme) noexcept {
        static_assert(page_theme<T>, "tollgate: this does not satisfy page_theme; read tollgate/web/page_theme.hpp");
        if constexpr (page_theme<T>) {
            object_ = const_cast<void*>(static_cast<const void*>(std::addressof(theme)));
            calls_ = &detail::calls_of_page_theme<T>::table;
        }
    }

    std::shared_ptr<void> owner_;
    void* object_ = nullptr;
    const detail::page_theme_calls* calls_ = nullptr;
};

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/web/page_theme.ipp>
#endif

#endif  // TOLLGATE_WEB_PAGE_THEME_HPP

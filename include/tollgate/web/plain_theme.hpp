#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/web/page_theme.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// The default theme: English and German, light or dark by the system's setting, from a width of 320 pixels on, and usable
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
    std::vector<page_texts> languages = {page_texts{}, german_texts()};
    /// An image beside the site's name, 1.5 times as high as its letters: a URL of this site or a `data:` URL, which the content
    /// security policy of the pages allows. Empty: the icon.
    std::string logo_url = {};
    std::string icon_svg = {};  ///< the icon of browser tabs, an SVG document; empty: a plain one

    /// The contract `page_theme`.
    [[nodiscard]] std::span<const page_texts> texts() const noexcept { return languages; }
    [[nodiscard]] TOLLGATE_DECL std::string scope_text(std::string_view scope, const service_catalog& services,
                                                       const page_texts& texts) const;
    [[nodiscard]] TOLLGATE_DECL std::string style_sheet() const;
    /// `icon_svg` or the default one; an optional function of `page_theme`.
    [[nodiscard]] TOLLGATE_DECL std::string icon() const;
    TOLLGATE_DECL void begin_page(html_writer& html, const page_frame& frame) const;
    TOLLGATE_DECL void end_page(html_writer& html, const page_frame& frame) const;
};

static_assert(page_theme<plain_theme>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/web/plain_theme.ipp>
#endif

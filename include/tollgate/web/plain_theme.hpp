#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/web/page_theme.hpp>

#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// The default theme: light or dark by the system's setting, from a width of 320 pixels on, and usable without its
/// style sheet.
///
///     plain_theme theme;
///     theme.wording.frame.site_name = "Example";
///
/// A custom theme may derive from it and replace a part: the texts, the style sheet, or the frame.
struct plain_theme {
    page_texts wording = {};

    /// The contract `page_theme`.
    [[nodiscard]] const page_texts& texts() const noexcept { return wording; }
    [[nodiscard]] TOLLGATE_DECL std::string scope_text(std::string_view scope, const service_catalog& services) const;
    [[nodiscard]] TOLLGATE_DECL std::string style_sheet() const;
    TOLLGATE_DECL void begin_page(html_writer& html, const page_frame& frame) const;
    TOLLGATE_DECL void end_page(html_writer& html, const page_frame& frame) const;
};

static_assert(page_theme<plain_theme>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/web/plain_theme.ipp>
#endif

#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/web/page_theme.hpp>

#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// The default look: calm, light or dark as the reader's system is, from 320 pixels on, and readable without its style
/// sheet.
///
///     plain_theme theme;
///     theme.said.frame.site_name = "Example";
///
/// A theme of one's own may derive from it and change a part: the words, the style sheet, or what stands around the
/// content.
struct plain_theme {
    page_texts said = {};

    [[nodiscard]] const page_texts& texts() const noexcept { return said; }
    [[nodiscard]] TOLLGATE_DECL std::string scope_text(std::string_view scope, const service_catalog& services) const;
    [[nodiscard]] TOLLGATE_DECL std::string style_sheet() const;
    TOLLGATE_DECL void begin_page(http::html_writer& html, const page_frame& frame) const;
    TOLLGATE_DECL void end_page(http::html_writer& html, const page_frame& frame) const;
};

static_assert(page_theme<plain_theme>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/web/plain_theme.ipp>
#endif

#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/outcome.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::pipeline {

/// Where pages are: what all pages below one `auth_url` have in common.
struct page_site {
    std::string root;       ///< the URL's path without a slash at its end: empty, or such as `/account`
    std::string origin;     ///< `https://example.com`, as browsers write it
    bool secure = true;     ///< whether it is https
    std::string style_url;  ///< the style sheet's path; it changes with the sheet, which can so be kept for ever
    std::string style_sheet;

    /// None for an `auth_url` that is no absolute http or https URL, or has a query or fragment.
    [[nodiscard]] static TOLLGATE_DECL std::optional<page_site> make(std::string_view auth_url,
                                                                     std::string style_sheet);

    /// Whether the request is for the style sheet, which is answered then.
    [[nodiscard]] TOLLGATE_DECL bool answer_style_sheet(const http::request& asked, http::response& out) const;
};

/// Whether another site made the browser send this: what `Sec-Fetch-Site` says (Fetch Metadata), or, from browsers that
/// do not send it, an `Origin` (RFC 6454) that is not the site's. A client that sends neither is no browser, and
/// nobody's cookies are on it.
[[nodiscard]] TOLLGATE_DECL bool is_cross_site(const http::request& asked, const page_site& site) noexcept;

/// Where a page's forms lead in the end.
enum class page_reach : std::uint8_t {
    here,    ///< to this site
    onward,  ///< to an application, with a stop or none: people pass through, perhaps in a window that it opened
};

/// The fields of every page: not to be framed, kept or referred from, and nothing but the site's own style sheet and
/// images is loaded.
///
/// Two of them are for pages that reach no further than `here`. `form-action`, since browsers apply it to all redirects
/// behind a form, and an application's own may lead to any address. `Cross-Origin-Opener-Policy`, since it would take a
/// window from the application that opened it, and waits for it to come back.
TOLLGATE_DECL void add_page_fields(http::response& out, const page_site& site, page_reach reach = page_reach::here);

/// 303 to a path of this site or to another site's URL. An internal error, and no answer, for what cannot stand in a
/// field.
[[nodiscard]] TOLLGATE_DECL outcome<void> answer_see_other(http::response& out, const page_site& site,
                                                           std::string_view url);

}  // namespace tollgate::pipeline

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pipeline/page_site.ipp>
#endif

#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/policy/detail/policy_set.hpp>
#include <tollgate/web/detail/html_writer.hpp>
#include <tollgate/web/page_theme.hpp>
#include <tollgate/web/plain_theme.hpp>
#include <tollgate/web/texts.hpp>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tollgate::inline v0::web {

/// What all pages below one `auth_url` share.
struct page_site {
    std::string root;       ///< the URL's path without a trailing slash: empty, or such as `/account`
    std::string origin;     ///< `https://example.com`, as browsers send it
    bool secure = true;     ///< whether it is https
    std::string style_url;  ///< the style sheet's path; it changes with the content, so browsers may cache it forever
    std::string style_sheet;

    /// Empty if `auth_url` is not an absolute http or https URL, or has a query, fragment or user info.
    [[nodiscard]] static TOLLGATE_DECL std::optional<page_site> make(std::string_view auth_url,
                                                                     std::string style_sheet);

    /// Answers a request for the style sheet; false for any other path.
    [[nodiscard]] TOLLGATE_DECL bool answer_style_sheet(const http::request& request, http::response& response) const;
};

/// Whether a browser sent this on behalf of another site: by `Sec-Fetch-Site` (Fetch Metadata), or, if that is missing,
/// by an `Origin` (RFC 6454) other than the site's. A client that sends neither is not a browser, so it does not carry
/// a user's cookies.
[[nodiscard]] TOLLGATE_DECL bool is_cross_site(const http::request& request, const page_site& site) noexcept;

/// Where a page's forms can lead.
enum class page_reach : std::uint8_t {
    this_site,    ///< only to this site
    other_sites,  ///< to an application, at once or after more pages, perhaps in a window that the application opened
};

/// The header fields of every page: no framing, no caching, no referrer, and only the site's own style sheet and
/// images.
///
/// Pages that lead to other sites omit `form-action`, because browsers apply it to all redirects after a form, and
/// `Cross-Origin-Opener-Policy`, because it would cut the connection to the window of the application that opened the
/// page.
TOLLGATE_DECL void add_page_fields(http::response& response, const page_site& site,
                                   page_reach reach = page_reach::this_site);

/// 303 to a path of this site or a URL of another one. An internal error, and no response, if the URL cannot be in a
/// header field.
[[nodiscard]] TOLLGATE_DECL result<void> answer_see_other(http::response& response, const page_site& site,
                                                          std::string_view url);

/// Scopes with their descriptions, in the order in which pages list them.
class scope_text_list {
public:
    struct entry {
        std::string scope;
        std::string text;
    };

    void add(std::string scope, std::string text) { entries_.push_back({std::move(scope), std::move(text)}); }

    /// The scope itself if it is unknown.
    [[nodiscard]] std::string_view find(std::string_view scope) const noexcept {
        for (const entry& each : entries_)
            if (each.scope == scope) return each.text;
        return scope;
    }

    [[nodiscard]] const std::vector<entry>& entries() const noexcept { return entries_; }

private:
    std::vector<entry> entries_;
};

/// Rounded up: `40 seconds`, `3 minutes`, `2 hours`.
[[nodiscard]] TOLLGATE_DECL std::string duration_text(seconds of, const duration_texts& texts);

/// The error page of a status.
[[nodiscard]] TOLLGATE_DECL const message_texts& message_for(http::status status, const error_texts& texts) noexcept;

TOLLGATE_DECL void write_message(html_writer& html, const message_texts& message);

/// A date for readers and programs: `<time datetime="2026-11-21T14:05:00Z">21 Nov 2026</time>`.
TOLLGATE_DECL void write_day(html_writer& html, instant at);

/// `21 Nov 2026, 14:05:09 UTC`
[[nodiscard]] TOLLGATE_DECL std::string moment_text(instant at);
/// The same in a `<time>`.
TOLLGATE_DECL void write_moment(html_writer& html, instant at);

/// `Theme` if it satisfies `page_theme`; otherwise a default, so that the static_assert of the handler is the only
/// error message.
template <class Theme>
using fitting_theme = std::conditional_t<page_theme<policy_type<Theme>>, Theme, plain_theme>;

template <class Theme>
[[nodiscard]] fitting_theme<Theme> fit_theme(Theme theme) {
    if constexpr (page_theme<policy_type<Theme>>) return theme;
    else return {};
}

/// Renders the pages of one site in one theme. Immutable after construction: any thread.
template <class Theme>
    requires page_theme<policy_type<Theme>>
class page_renderer {
public:
    /// `reach` applies to all pages for which no other is given. Throws std::invalid_argument if auth_url is not an
    /// absolute http or https URL.
    page_renderer(std::string_view auth_url, const service_catalog& services, Theme theme,
                  page_reach reach = page_reach::this_site)
        : theme_{std::move(theme)}, site_{make_site(auth_url)}, scopes_{list_scopes(services)}, reach_{reach} {}

    [[nodiscard]] const page_site& site() const noexcept { return site_; }
    [[nodiscard]] const page_texts& texts() const noexcept { return policy(theme_).texts(); }
    [[nodiscard]] const scope_text_list& scopes() const noexcept { return scopes_; }

    /// A whole page: `write(html)` writes the content between the parts of the theme.
    template <class Write>
    void answer(http::response& response, page_frame frame, Write&& write) const {
        answer(response, frame, std::forward<Write>(write), reach_);
    }
    template <class Write>
    void answer(http::response& response, page_frame frame, Write&& write, page_reach reach) const {
        const auto home_url = site_.root + "/";
        frame.style_url = site_.style_url;
        frame.home_url = home_url;
        // Without TLS browsers omit Sec-Fetch-Site, and with no-referrer their Origin is `null`, so that forms of this
        // site could not be told from those of others.
        if (!site_.secure) frame.referrer_policy = "same-origin";
        add_page_fields(response, site_, reach);
        response.body().clear();
        html_writer html{response.body()};
        policy(theme_).begin_page(html, frame);
        write(html);
        policy(theme_).end_page(html, frame);
    }

    /// An error page. The frame, except for the title and shape, is the caller's.
    void answer_message(http::response& response, http::status status, const message_texts& message,
                        page_frame frame = {}) const {
        frame.title = message.heading;
        frame.shape = page_shape::narrow;
        response.set_status(status);
        answer(response, frame, [&](html_writer& html) {
            write_message(html, message);
            html.add("<p><a href=\"{}/\">{}</a></p>\n", site_.root, texts().errors.home);
        });
    }

    /// The same with the texts of this status.
    void answer_status(http::response& response, http::status status, const page_frame& frame = {}) const {
        answer_message(response, status, message_for(status, texts().errors), frame);
    }

private:
    page_site make_site(std::string_view auth_url) const {
        auto made = page_site::make(auth_url, policy(theme_).style_sheet());
        if (!made)
            throw std::invalid_argument{"tollgate: '" + std::string{auth_url} +
                                        "' is not an absolute http or https URL"};
        return std::move(*made);
    }

    scope_text_list list_scopes(const service_catalog& services) const {
        scope_text_list made;
        for (auto& scope : services.scopes()) {
            auto text = policy(theme_).scope_text(scope, services);
            made.add(std::move(scope), std::move(text));
        }
        return made;
    }

    Theme theme_;
    page_site site_;
    scope_text_list scopes_;
    page_reach reach_;
};

}  // namespace tollgate::web

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/web/detail/page.ipp>
#endif

#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/policy/detail/policy_set.hpp>
#include <tollgate/web/html_writer.hpp>
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

namespace tollgate::inline v0::pipeline {

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
[[nodiscard]] TOLLGATE_DECL result<void> answer_see_other(http::response& out, const page_site& site,
                                                           std::string_view url);

/// Scopes with what they let a program do, in the order in which people choose among them.
class scope_text_list {
public:
    struct entry {
        std::string scope;
        std::string text;
    };

    void add(std::string scope, std::string text) { entries_.push_back({std::move(scope), std::move(text)}); }

    /// The scope itself for one that there is no longer.
    [[nodiscard]] std::string_view find(std::string_view scope) const noexcept {
        for (const entry& each : entries_)
            if (each.scope == scope) return each.text;
        return scope;
    }

    [[nodiscard]] const std::vector<entry>& entries() const noexcept { return entries_; }

private:
    std::vector<entry> entries_;
};

/// At least as long as it is: `40 seconds`, `3 minutes`, `2 hours`.
[[nodiscard]] TOLLGATE_DECL std::string duration_text(seconds of, const duration_texts& texts);

/// What a page says in place of the one that was asked for.
[[nodiscard]] TOLLGATE_DECL const message_texts& message_for(http::status status, const error_texts& texts) noexcept;

TOLLGATE_DECL void write_message(http::html_writer& html, const message_texts& said);

/// A day that people read and programs can, too: `<time datetime="2026-11-21T14:05:00Z">21 Nov 2026</time>`.
TOLLGATE_DECL void write_day(http::html_writer& html, instant at);

/// `21 Nov 2026, 14:05:09 UTC`
[[nodiscard]] TOLLGATE_DECL std::string moment_text(instant at);
/// The same in a `<time>`.
TOLLGATE_DECL void write_moment(http::html_writer& html, instant at);

/// `Theme` if it is one; otherwise one that is, so that a handler's message about it is the only one.
template <class Theme>
using fitting_theme = std::conditional_t<page_theme<policy_type<Theme>>, Theme, plain_theme>;

template <class Theme>
[[nodiscard]] fitting_theme<Theme> fit_theme(Theme theme) {
    if constexpr (page_theme<policy_type<Theme>>) return theme;
    else return {};
}

/// Makes pages of one site in one theme. Nothing in it changes once it is made: any thread.
template <class Theme>
    requires page_theme<policy_type<Theme>>
class page_maker {
public:
    /// `reach` is that of all pages for which nothing else is said. Throws std::invalid_argument for an auth_url that
    /// is no absolute http or https URL.
    page_maker(std::string_view auth_url, const service_catalog& services, Theme theme,
               page_reach reach = page_reach::here)
        : theme_{std::move(theme)}, site_{make_site(auth_url)}, scopes_{list_scopes(services)}, reach_{reach} {}

    [[nodiscard]] const page_site& site() const noexcept { return site_; }
    [[nodiscard]] const page_texts& texts() const noexcept { return policy(theme_).texts(); }
    [[nodiscard]] const scope_text_list& scopes() const noexcept { return scopes_; }

    /// A whole page: `write(html)` writes its content, between what the theme puts around it.
    template <class Write>
    void answer(http::response& out, page_frame frame, Write&& write) const {
        answer(out, frame, std::forward<Write>(write), reach_);
    }
    template <class Write>
    void answer(http::response& out, page_frame frame, Write&& write, page_reach reach) const {
        const auto home_url = site_.root + "/";
        frame.style_url = site_.style_url;
        frame.home_url = home_url;
        // Without TLS browsers send no Sec-Fetch-Site, and where nothing is referred their Origin is `null`: of forms
        // that come from here no more could be told than of any other site's.
        if (!site_.secure) frame.referrer_policy = "same-origin";
        add_page_fields(out, site_, reach);
        out.body().clear();
        http::html_writer html{out.body()};
        policy(theme_).begin_page(html, frame);
        write(html);
        policy(theme_).end_page(html, frame);
    }

    /// A page that says why there is no other. What it has in its frame, besides the title, is the caller's.
    void answer_message(http::response& out, http::status status, const message_texts& said,
                        page_frame frame = {}) const {
        frame.title = said.heading;
        frame.shape = page_shape::narrow;
        out.set_status(status);
        answer(out, frame, [&](http::html_writer& html) {
            write_message(html, said);
            html.add("<p><a href=\"{}/\">{}</a></p>\n", site_.root, texts().errors.home);
        });
    }

    /// The same with the words for this status.
    void answer_status(http::response& out, http::status status, const page_frame& frame = {}) const {
        answer_message(out, status, message_for(status, texts().errors), frame);
    }

private:
    page_site make_site(std::string_view auth_url) const {
        auto made = page_site::make(auth_url, policy(theme_).style_sheet());
        if (!made)
            throw std::invalid_argument{"tollgate: '" + std::string{auth_url} + "' is no absolute http or https URL"};
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

}  // namespace tollgate::pipeline

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/web/detail/page.ipp>
#endif

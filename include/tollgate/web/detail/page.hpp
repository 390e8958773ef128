#pragma once
#ifndef TOLLGATE_WEB_DETAIL_PAGE_HPP
#define TOLLGATE_WEB_DETAIL_PAGE_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/http/site.hpp>
#include <tollgate/model/scope.hpp>
#include <tollgate/web/detail/language.hpp>
#include <tollgate/web/html_writer.hpp>
#include <tollgate/web/page_theme.hpp>
#include <tollgate/web/texts.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tollgate::inline v0::web {

/// A file that pages load.
struct page_asset {
    std::string path;
    std::string_view field_lines;  ///< header fields, each with its line end
    std::string body;
};

/// What all pages below one `auth_url` share.
struct page_site {
    std::string root;    ///< the URL's path without a trailing slash: empty, or such as `/account`
    std::string origin;  ///< `https://example.com`, as browsers send it
    bool secure = true;  ///< true for https
    // Paths that change with the content, so that browsers may cache it forever.
    std::string style_url;
    std::string icon_url;
    std::string script_url;
    std::vector<page_asset> assets;  ///< these, and the icon where browsers look for it: `/favicon.ico`
    std::string authority;  ///< `example.com`, with a port if it is not the default one

    /// `icon`: an SVG document. Throws std::invalid_argument for an `auth_url` that `http::url::root` refuses.
    [[nodiscard]] static TOLLGATE_DECL page_site make(std::string_view auth_url, std::string style_sheet, std::string icon = {});

    /// Null if no asset has this path.
    [[nodiscard]] TOLLGATE_DECL const page_asset* find_asset(std::string_view path) const noexcept;
};

/// Returns true if a browser sent this on behalf of another site: by `Sec-Fetch-Site` (Fetch Metadata), or, if that is missing,
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
///
/// A page with a script allows scripts of this site.
TOLLGATE_DECL void add_page_fields(http::response& response, const page_site& site,
                                   page_reach reach = page_reach::this_site, bool has_script = false);

/// 303 to a path of this site or a URL of another one. An internal error, and no response, if the URL cannot be in a
/// header field.
[[nodiscard]] TOLLGATE_DECL result<void> respond_see_other(http::response& response, const page_site& site,
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
[[nodiscard]] TOLLGATE_DECL std::string duration_text(seconds duration, const duration_texts& texts);

/// The error page of a status.
[[nodiscard]] TOLLGATE_DECL const message_texts& message_for(http::status status, const error_texts& texts) noexcept;

TOLLGATE_DECL void write_message(html_writer& html, const message_texts& message);

/// A date for readers and programs, the time in a tooltip:
/// `<time datetime="2026-11-21T14:05:00Z" title="21 Nov 2026, 14:05:00 UTC">21 Nov 2026</time>`.
TOLLGATE_DECL void write_day(html_writer& html, instant at, const date_texts& texts);

/// `21 Nov 2026, 14:05:09 UTC`
[[nodiscard]] TOLLGATE_DECL std::string moment_text(instant at, const date_texts& texts);
/// Writes the text of `moment_text` in a `<time>`.
TOLLGATE_DECL void write_moment(html_writer& html, instant at, const date_texts& texts);

/// `3 hours ago`, in a `<time>` with the time as a tooltip; the date after 30 days.
TOLLGATE_DECL void write_age(html_writer& html, instant at, instant now, const date_texts& texts);

/// What scopes permit, each with its name.
TOLLGATE_DECL void write_scopes(html_writer& html, const scope_set& scopes, const scope_text_list& texts);

/// The pages in one language.
struct page_language {
    const page_texts* texts;  ///< the theme's
    scope_text_list scopes;
    std::string root;  ///< root of its pages: `/account/de`
};

/// Where a path leads.
struct page_place {
    const page_language* language;  ///< null if the path names none
    std::string_view path;          ///< below the language's root, or the site's
};

class localized_pages;

/// The pages of one site in one theme and its languages. Immutable after construction: any thread.
class page_renderer {
public:
    /// `reach` applies to all pages for which no other is given; `documentation_url` is where all pages link to, unless it is
    /// empty. Throws std::invalid_argument for an auth_url that `http::url::root` refuses.
    page_renderer(std::string_view auth_url, const service_catalog& services, any_page_theme theme,
                  page_reach reach = page_reach::this_site, std::string documentation_url = {})
        : theme_{std::move(theme)},
          site_{page_site::make(auth_url, theme_.style_sheet(), theme_.icon())},
          reach_{reach},
          documentation_url_{std::move(documentation_url)} {
        add_languages(services);
    }

    // Not copyable, because its languages refer to its theme.
    page_renderer(const page_renderer&) = delete;
    page_renderer& operator=(const page_renderer&) = delete;

    [[nodiscard]] const page_site& site() const noexcept { return site_; }
    [[nodiscard]] const any_page_theme& theme() const noexcept { return theme_; }
    [[nodiscard]] page_reach reach() const noexcept { return reach_; }

    [[nodiscard]] std::string_view documentation_url() const noexcept { return documentation_url_; }

    /// At least one; the first is for readers who prefer no other.
    [[nodiscard]] const std::vector<page_language>& languages() const noexcept { return languages_; }
    /// Their tags, in the same order.
    [[nodiscard]] std::span<const std::string_view> language_tags() const noexcept { return tags_; }

    /// The result is empty for a path outside of the site.
    [[nodiscard]] std::optional<page_place> find(std::string_view path) const noexcept {
        for (const page_language& each : languages_)
            if (http::detail::is_below(path, each.root)) return page_place{&each, path.substr(each.root.size())};
        if (!http::detail::is_below(path, site_.root)) return std::nullopt;
        return page_place{nullptr, path.substr(site_.root.size())};
    }

    /// The language that the path names, or else the one that the reader's browser prefers.
    [[nodiscard]] const page_language& language_of(const http::request& request) const noexcept {
        if (const auto at = find(request.target.path); at && at->language != nullptr) return *at->language;
        return languages_[accepted_language(request.fields.find("Accept-Language"), tags_).value_or(0)];
    }

    [[nodiscard]] localized_pages in(const page_language& language) const noexcept;

    /// The page of what the server refused. `refused.reason` is for programs and in English.
    TOLLGATE_COLD void respond_refusal(const http::refusal& refused, http::response& response) const;

private:
    TOLLGATE_COLD void add_languages(const service_catalog& services);

    any_page_theme theme_;
    page_site site_;
    std::vector<page_language> languages_;
    std::vector<std::string_view> tags_;
    page_reach reach_;
    std::string documentation_url_;
};

/// Renders the pages in one language: what answers one request. Refers to the renderer.
class localized_pages {
public:
    localized_pages(const page_renderer& renderer, const page_language& language) noexcept
        : renderer_{std::addressof(renderer)}, language_{&language} {}

    [[nodiscard]] const page_site& site() const noexcept { return renderer_->site(); }
    [[nodiscard]] const page_texts& texts() const noexcept { return *language_->texts; }
    [[nodiscard]] const scope_text_list& scopes() const noexcept { return language_->scopes; }

    /// Returns the name of the site's operator.
    [[nodiscard]] std::string_view operator_name() const noexcept {
        const auto named = texts().frame.operator_name;
        return named.empty() ? std::string_view{site().authority} : named;
    }

    /// The path of a page: `/account/de/user/settings/tokens/` of `/user/settings/tokens/`.
    [[nodiscard]] std::string url(std::string_view path) const { return std::string{language_->root}.append(path); }

    /// A path of this site, with its query, in this language; any other text as it is.
    [[nodiscard]] std::string translate(std::string_view target) const {
        const auto end = target.find('?');
        const auto at = renderer_->find(target.substr(0, end));
        if (!at || at->language == nullptr) return std::string{target};
        auto translated = url(at->path);
        return end == std::string_view::npos ? translated : translated.append(target.substr(end));
    }

    /// The reverse: the part of a path in this language that is below the language.
    [[nodiscard]] std::string path_of(std::string_view url) const { return std::string{url.substr(language_->root.size())}; }

    /// A whole page: `write(html)` writes the content between the parts of the theme.
    template <class Write>
    void respond(http::response& response, page_frame frame, Write&& write) const {
        respond(response, frame, std::forward<Write>(write), renderer_->reach());
    }
    template <class Write>
    void respond(http::response& response, page_frame frame, Write&& write, page_reach reach) const {
        const auto home_url = url("/");
        const auto urls = urls_in_other_languages(frame.path);
        const auto links = links_to(urls);
        frame.texts = &texts().frame;
        frame.style_url = site().style_url;
        frame.icon_url = site().icon_url;
        frame.home_url = home_url;
        frame.documentation_url = renderer_->documentation_url();
        frame.languages = links;
        // Without TLS browsers omit Sec-Fetch-Site, and with no-referrer their Origin is `null`, so that forms of this
        // site could not be distinguished from those of others.
        if (!site().secure) frame.referrer_policy = "same-origin";
        if (frame.has_secret) frame.script_url = site().script_url;
        add_page_fields(response, site(), reach, frame.has_secret);
        response.body().clear();
        html_writer html{response.body()};
        renderer_->theme().begin_page(html, frame);
        write(html);
        renderer_->theme().end_page(html, frame);
    }

    /// An error page. The frame, except for the title and shape, is the caller's.
    void respond_message(http::response& response, http::status status, const message_texts& message,
                         page_frame frame = {}) const {
        respond_message(response, status, message, frame, [](html_writer&) {});
    }

    /// Responds with a message to which `write_details(html)` adds.
    template <class WriteDetails>
    void respond_message(http::response& response, http::status status, const message_texts& message, page_frame frame,
                         WriteDetails write_details) const {
        frame.title = message.heading;
        frame.shape = page_shape::narrow;
        response.set_status(status);
        respond(response, frame, [&](html_writer& html) {
            write_message(html, message);
            write_details(html);
            html.add("<p><a href=\"{}\">{}</a></p>\n", url("/"), texts().errors.home);
        });
    }

    /// Responds with the message for this status.
    void respond_status(http::response& response, http::status status, const page_frame& frame = {}) const {
        respond_message(response, status, message_for(status, texts().errors), frame);
    }

private:
    /// Returns a link for each language; empty if the page has no path.
    [[nodiscard]] std::vector<std::string> urls_in_other_languages(std::string_view path) const {
        std::vector<std::string> urls;
        if (path.empty() || renderer_->languages().size() < 2) return urls;
        for (const page_language& each : renderer_->languages()) urls.push_back(std::string{each.root}.append(path));
        return urls;
    }
    [[nodiscard]] std::vector<page_link> links_to(const std::vector<std::string>& urls) const {
        std::vector<page_link> links;
        for (std::size_t i = 0; i < urls.size(); ++i) {
            const page_language& to = renderer_->languages()[i];
            links.push_back({urls[i], to.texts->frame.language_name, &to == language_, to.texts->frame.language});
        }
        return links;
    }

    const page_renderer* renderer_;
    const page_language* language_;
};

inline localized_pages page_renderer::in(const page_language& language) const noexcept { return {*this, language}; }

}  // namespace tollgate::web

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/web/detail/page.ipp>
#endif

#endif  // TOLLGATE_WEB_DETAIL_PAGE_HPP

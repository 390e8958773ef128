#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_LIST_PARTS_HPP
#define TOLLGATE_PAGES_DETAIL_LIST_PARTS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/limits/usage_counter.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/model/scope.hpp>
#include <tollgate/pages/detail/page.hpp>
#include <tollgate/web/detail/form.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The parts of settings pages: a list, and a form for a new item.
namespace tollgate::inline v0::pages {

/// A submitted line of text.
struct typed_line {
    std::string_view name;
    std::string_view label;
    std::string_view text;
    std::size_t bytes_max;
    std::string_view missing = {};  ///< the error for an empty one; empty if it is optional
};

/// Adds the errors of a line.
TOLLGATE_DECL void check_line(web::form_faults& found, const typed_line& typed, const form_texts& texts);

struct list_heading {
    std::string_view title;
    std::string_view about;
    std::string_view add = {};  ///< links to the form below a list; empty if there is no list
};
TOLLGATE_DECL void begin_list_page(html_writer& html, const page_view& view, const list_heading& heading);

/// Writes the reason for displaying the form of this page again, if there is one.
TOLLGATE_DECL void write_stale(html_writer& html, const page_view& view);

/// Returns true if a creation may have been refused because the same submission has done it before: its id exists, or the bound is reached.
[[nodiscard]] inline bool may_be_repeated(const error& refused) noexcept {
    return refused.kind == error_kind::conflict || refused.kind == error_kind::invalid;
}

/// A page of a list. Pages are bounded, so that no response gets large, however much a user has.
inline constexpr std::size_t list_items_max = 25;
struct list_page {
    std::size_t number = 1;  ///< number of the page, from 1
    std::size_t count = 1;   ///< number of all pages
    std::size_t first = 0;   ///< item, from 0
    std::size_t size = 0;    ///< items
};
/// The requested page of a list with this many items; the last one if there are fewer.
[[nodiscard]] TOLLGATE_DECL list_page choose_page(const page_view& view, std::size_t items,
                                                  std::size_t items_max = list_items_max) noexcept;

/// The items of a page.
template <class Item>
[[nodiscard]] std::span<const Item> items_of(std::span<const Item> all, const list_page& page) noexcept {
    return all.subspan(page.first, page.size);
}

/// Links to the pages before and after; nothing if there is one page. `query`: further parameters of this page.
TOLLGATE_DECL void write_page_links(html_writer& html, const page_view& view, const list_page& page, std::string_view query = {});

/// The beginning of a long text, for lists: at most this many characters, the last one an ellipsis.
inline constexpr std::size_t list_text_characters_max = 100;
[[nodiscard]] TOLLGATE_DECL std::string shorten(std::string_view text, std::size_t characters_max = list_text_characters_max);

/// Displayed instead of an empty list.
TOLLGATE_DECL void write_empty_list(html_writer& html, std::string_view text);

/// A table that narrow screens show as cards. The ARIA roles are explicit, since browsers drop them from tables with
/// another display type. Without `actions` there is no column for them.
TOLLGATE_DECL void begin_table(html_writer& html, std::string_view caption,
                               const std::vector<std::string_view>& headings, std::string_view actions);
TOLLGATE_DECL void end_table(html_writer& html);
/// `name` is the row's heading.
TOLLGATE_DECL void begin_row(html_writer& html, std::string_view column, std::string_view name);
TOLLGATE_DECL void end_row(html_writer& html);

/// `content` is a text or number, or a function that writes.
template <class Content>
void write_content(html_writer& html, const Content& content) {
    if constexpr (std::invocable<const Content&>) content();
    else html.add("{}", content);
}

/// Cards show the column's name beside the cell; the actions have none.
template <class Content>
void write_cell(html_writer& html, std::string_view column, const Content& content) {
    if (column.empty()) html.add("\n<td role=\"cell\" class=\"actions\">");
    else html.add("\n<td role=\"cell\" data-label=\"{}\">", column);
    write_content(html, content);
    html.add("</td>");
}

/// A list of what can be changed: each item has a heading, buttons, and facts with labels.
///
///     begin_items(html, "Tokens");
///     begin_item(html, "Nightly backup");
///     begin_actions(html);
///     web::write_confirmation(html, ...);
///     begin_facts(html);
///     write_fact(html, "Username", token.username.view());
///     write_fact(html, "Created", [&] { web::write_day(html, ...); });
///     end_item(html);
///     end_items(html);
TOLLGATE_DECL void begin_items(html_writer& html, std::string_view label);
TOLLGATE_DECL void end_items(html_writer& html);
/// `name` is the heading; of the third level in a part of a page that has its own.
TOLLGATE_DECL void begin_item(html_writer& html, std::string_view name, bool is_nested = false);
TOLLGATE_DECL void begin_actions(html_writer& html);
TOLLGATE_DECL void begin_facts(html_writer& html);
TOLLGATE_DECL void end_item(html_writer& html);
template <class Content>
void write_fact(html_writer& html, std::string_view label, const Content& content) {
    html.add("<div><dt>{}</dt><dd>", label);
    write_content(html, content);
    html.add("</dd></div>\n");
}
/// One that needs the whole width.
template <class Content>
void write_long_fact(html_writer& html, std::string_view label, const Content& content) {
    html.add("<div class=\"long\"><dt>{}</dt><dd>", label);
    write_content(html, content);
    html.add("</dd></div>\n");
}

/// A bar that shows a part of a whole, without a script or a style. Write the numbers beside it, because it is hidden from screen readers.
TOLLGATE_DECL void write_bar(html_writer& html, std::uint64_t part, std::uint64_t whole);
/// Today's requests, and how many failed: `12`, or `12 (3 failed)`; with a bar unless the quota has no bound.
TOLLGATE_DECL void write_usage(html_writer& html, const page_view& view, const usage& counted, const quota& allowed = {});

/// `3 hours ago`, or `Never`.
TOLLGATE_DECL void write_last_use(html_writer& html, const page_view& view, const std::optional<instant>& at);

/// A link for http and https URLs; otherwise text. A long one is shortened.
TOLLGATE_DECL void write_web_link(html_writer& html, std::string_view url);

/// Errors that no field of the form below the list has. They are displayed at the top, where the page begins.
TOLLGATE_DECL void write_list_faults(html_writer& html, const page_view& view, const web::form_faults& faults);

/// The form below a list, with a summary of the errors of its fields: the browser scrolls to the first of them.
TOLLGATE_DECL void begin_form_section(html_writer& html, const page_view& view, std::string_view heading,
                                      const web::form_faults& faults);
TOLLGATE_DECL void end_form_section(html_writer& html);

/// A new secret and the values that belong to it, which are displayed for a short time.
struct secret_view {
    struct item {
        std::string_view name;  ///< unique on the page
        std::string_view label;
        std::string_view text;
    };
    std::string_view title;
    std::string_view about;
    std::string_view back;  ///< the text of the link to the list
    std::vector<item> items;

    /// Converts the parts to a text and back, as views of it. No part contains a zero byte.
    [[nodiscard]] TOLLGATE_DECL std::string to_text() const;
    [[nodiscard]] static TOLLGATE_DECL std::optional<secret_view> parse(std::string_view text);
};
TOLLGATE_DECL void write_secret(html_writer& html, const page_view& view, const secret_view& shown);

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/detail/list_parts.ipp>
#endif

#endif  // TOLLGATE_PAGES_DETAIL_LIST_PARTS_HPP

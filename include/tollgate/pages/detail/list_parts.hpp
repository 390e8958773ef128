#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/model/scope.hpp>
#include <tollgate/pages/detail/page.hpp>
#include <tollgate/web/detail/form.hpp>

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

/// What the pages of the settings are put together from: a list of things, and a form for one more.
namespace tollgate::inline v0::pages {

/// A line of text as a form brought it.
struct typed_line {
    std::string_view name;
    std::string_view label;
    std::string_view text;
    std::size_t bytes_max;
    std::string_view missing = {};  ///< what to say of an empty one; nothing if that is fine
};

/// Adds what is wrong with it.
TOLLGATE_DECL void judge_line(pipeline::form_faults& found, const typed_line& typed, const form_texts& texts);

struct list_heading {
    std::string_view title;
    std::string_view about;
    std::string_view add = {};  ///< leads to the form below a list; nothing where there is no list
};
TOLLGATE_DECL void begin_list_page(http::html_writer& html, const list_heading& heading);

/// What was just done.
TOLLGATE_DECL void write_notice(http::html_writer& html, std::string_view text);
/// In place of a list.
TOLLGATE_DECL void write_nothing_yet(http::html_writer& html, std::string_view text);

/// A table that a narrow screen shows as a card a row. It names the roles that tables have by themselves, since
/// browsers forget those of a table that is laid out in another way.
TOLLGATE_DECL void begin_table(http::html_writer& html, std::string_view caption,
                               const std::vector<std::string_view>& columns, std::string_view actions);
TOLLGATE_DECL void end_table(http::html_writer& html);
/// `name` is what the row is about, and its heading.
TOLLGATE_DECL void begin_row(http::html_writer& html, std::string_view column, std::string_view name);
TOLLGATE_DECL void end_row(http::html_writer& html);
/// The column's name stands beside the cell on a card; the cell of the actions has none.
TOLLGATE_DECL void begin_cell(http::html_writer& html, std::string_view column);
TOLLGATE_DECL void next_cell(http::html_writer& html, std::string_view column);

/// Each as programs write it.
TOLLGATE_DECL void write_scope_codes(http::html_writer& html, const scope_set& scopes);
/// Each as people understand it.
TOLLGATE_DECL void write_scope_texts(http::html_writer& html, const scope_set& scopes,
                                     const pipeline::scope_text_list& texts);

TOLLGATE_DECL void write_day_or_never(http::html_writer& html, const std::optional<instant>& at,
                                      const form_texts& texts);

/// A link, if it leads to the web; otherwise the text of it.
TOLLGATE_DECL void write_web_link(http::html_writer& html, std::string_view url, std::string_view text);

TOLLGATE_DECL void begin_form_section(http::html_writer& html, std::string_view heading);
TOLLGATE_DECL void end_form_section(http::html_writer& html);

/// Ends a page that shows a secret: that it is the only time, and the way on.
TOLLGATE_DECL void write_once_only(http::html_writer& html, const page_view& view, std::string_view back);

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/detail/list_parts.ipp>
#endif

#pragma once
#ifndef TOLLGATE_MANUAL_DETAIL_TEMPLATE_HPP
#define TOLLGATE_MANUAL_DETAIL_TEMPLATE_HPP

#include <tollgate/base/config.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::manual {

/// HTML with tags in double braces. Only literals convert to it, so that text of a user or an operator cannot become markup.
///
///     {{name}}                                  the text of that name, escaped
///     {{#if name}} ... {{else}} ... {{/if}}     the first part if the text or the list is not empty, otherwise the second one
///     {{#each name}} ... {{/each}}              repeated for each element of the list; its names hide those outside
///     {{>name}}                                 another template, with the names that are known here
///
/// A line that consists of one tag, other than `{{name}}`, leaves no empty line.
class page_template {
public:
    consteval page_template(const char* literal) : text_{literal} {}
    [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

private:
    std::string_view text_;
};

/// What the tags of a template can name. A name without a value is an error even if it is used for `#if`: an empty text or
/// list must be set, too. The names have static storage.
class template_values {
public:
    struct value {
        std::string_view name;
        std::string text;
        std::vector<template_values> list;
        std::string_view markup;  ///< text of a template
    };

    TOLLGATE_COLD template_values& set(std::string_view name, std::string_view text);
    TOLLGATE_COLD template_values& set_flag(std::string_view name, bool flag);  ///< Sets a value for `#if`.
    TOLLGATE_COLD template_values& set_list(std::string_view name, std::vector<template_values> list);
    TOLLGATE_COLD template_values& set_template(std::string_view name, page_template markup);

    /// Null if the name has no value.
    [[nodiscard]] TOLLGATE_COLD const value* find(std::string_view name) const noexcept;

private:
    std::vector<value> values_;
};

/// Appends the filled template to `out`. Names that `values` does not have are looked up in `outer`. Throws std::logic_error for a name
/// without a value and for a block that is not closed.
TOLLGATE_COLD void fill(page_template markup, const template_values& values, const template_values& outer, std::string& out);

}  // namespace tollgate::manual

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/manual/detail/template.ipp>
#endif

#endif  // TOLLGATE_MANUAL_DETAIL_TEMPLATE_HPP

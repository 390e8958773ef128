#pragma once
#ifndef TOLLGATE_MANUAL_DETAIL_TEMPLATE_IPP
#define TOLLGATE_MANUAL_DETAIL_TEMPLATE_IPP

#include <tollgate/manual/detail/template.hpp>
#include <tollgate/web/html_writer.hpp>

#include <cstddef>
#include <stdexcept>
#include <utility>

namespace tollgate::inline v0::manual {

TOLLGATE_COLD template_values& template_values::set(std::string_view name, std::string_view text) {
    values_.push_back({name, std::string{text}, {}, {}});
    return *this;
}

TOLLGATE_COLD template_values& template_values::set_flag(std::string_view name, bool flag) { return set(name, flag ? "yes" : ""); }

TOLLGATE_COLD template_values& template_values::set_list(std::string_view name, std::vector<template_values> list) {
    values_.push_back({name, {}, std::move(list), {}});
    return *this;
}

TOLLGATE_COLD template_values& template_values::set_template(std::string_view name, page_template markup) {
    values_.push_back({name, {}, {}, markup.text()});
    return *this;
}

TOLLGATE_COLD const template_values::value* template_values::find(std::string_view name) const noexcept {
    for (const value& each : values_)
        if (each.name == name) return &each;
    return nullptr;
}

namespace detail {

/// The values of a block, and those around it.
struct template_scope {
    const template_values& values;
    const template_scope* outer;

    [[nodiscard]] const template_values::value& find(std::string_view name) const {
        for (const auto* each = this; each != nullptr; each = each->outer)
            if (const auto* found = each->values.find(name)) return *found;
        throw std::logic_error{"a template names " + std::string{name} + ", which has no value"};
    }
};

class template_filler {
public:
    template_filler(std::string_view markup, std::string& out) noexcept : markup_{markup}, out_{out} {}

    void fill(const template_scope& scope) {
        if (const auto end = fill_block(scope, true); !end.empty())
            throw std::logic_error{"a template has " + std::string{end} + " outside a block"};
    }

private:
    // Appends the text before the next tag and returns the tag without its braces. Empty: the template has ended.
    std::string_view next_tag(bool writes) {
        const auto open = markup_.find("{{", at_);
        if (writes) out_.append(markup_.substr(at_, open == std::string_view::npos ? open : open - at_));
        at_ = markup_.size();
        if (open == std::string_view::npos) return {};
        const auto close = markup_.find("}}", open);
        if (close == std::string_view::npos || close == open + 2) throw std::logic_error{"a template has an incomplete tag"};
        const auto tag = markup_.substr(open + 2, close - open - 2);
        at_ = close + 2;
        const bool is_control = tag == "else" || tag.starts_with('#') || tag.starts_with('/') || tag.starts_with('>');
        const bool begins_line = open == 0 || markup_[open - 1] == '\n';
        if (is_control && begins_line && markup_.substr(at_).starts_with('\n')) ++at_;
        return tag;
    }

    // Fills the rest of a block, or passes over it, and returns the tag that ends it: `else`, `/if`, `/each`, or nothing.
    std::string_view fill_block(const template_scope& scope, bool writes) {
        for (;;) {
            const auto tag = next_tag(writes);
            if (tag.empty() || tag == "else" || tag.starts_with('/')) return tag;
            if (tag.starts_with("#if ")) fill_if(tag.substr(4), scope, writes);
            else if (tag.starts_with("#each ")) fill_each(tag.substr(6), scope, writes);
            else if (tag.starts_with('#')) throw std::logic_error{"a template has an unknown tag: " + std::string{tag}};
            else if (!writes) continue;
            else if (tag.starts_with('>')) template_filler{scope.find(tag.substr(1)).markup, out_}.fill(scope);
            else html_writer{out_}.add("{}", scope.find(tag).text);
        }
    }

    void fill_if(std::string_view name, const template_scope& scope, bool writes) {
        bool holds = false;
        if (writes) {
            const auto& value = scope.find(name);
            holds = !value.text.empty() || !value.list.empty();
        }
        auto end = fill_block(scope, writes && holds);
        if (end == "else") end = fill_block(scope, writes && !holds);
        expect(end, "/if");
    }

    void fill_each(std::string_view name, const template_scope& scope, bool writes) {
        const auto begin = at_;
        if (writes) {
            for (const auto& each : scope.find(name).list) {
                at_ = begin;
                fill_block({each, &scope}, true);
            }
        }
        at_ = begin;  // once more without writing: the list may be empty
        expect(fill_block(scope, false), "/each");
    }

    static void expect(std::string_view end, std::string_view expected) {
        if (end != expected) throw std::logic_error{"a template has a block without " + std::string{expected}};
    }

    std::string_view markup_;
    std::size_t at_ = 0;
    std::string& out_;
};

}  // namespace detail

TOLLGATE_COLD void fill(page_template markup, const template_values& values, const template_values& outer, std::string& out) {
    const detail::template_scope around{outer, nullptr};
    detail::template_filler{markup.text(), out}.fill({values, &around});
}

}  // namespace tollgate::manual

#endif  // TOLLGATE_MANUAL_DETAIL_TEMPLATE_IPP

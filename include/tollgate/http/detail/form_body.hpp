#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_FORM_BODY_HPP
#define TOLLGATE_HTTP_DETAIL_FORM_BODY_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0::http {

struct form_member {
    std::string name;
    std::string value;
};

/// The members of a form or a query string, decoded, in their order. Names may repeat; use `count` where that is
/// forbidden (RFC 6749 section 3.1).
class form_fields {
public:
    explicit form_fields(std::vector<form_member> members) noexcept : members_{std::move(members)} {}

    /// The first member with this name; null if there is none.
    [[nodiscard]] const form_member* find(std::string_view name) const noexcept {
        for (const form_member& member : members_)
            if (member.name == name) return &member;
        return nullptr;
    }

    /// The first value with this name; empty if there is none.
    [[nodiscard]] std::string_view value_of(std::string_view name) const noexcept {
        const form_member* found = find(name);
        return found == nullptr ? std::string_view{} : std::string_view{found->value};
    }

    [[nodiscard]] std::size_t count(std::string_view name) const noexcept {
        std::size_t line_count = 0;
        for (const form_member& member : members_) line_count += member.name == name ? 1U : 0U;
        return line_count;
    }

    [[nodiscard]] const form_member* begin() const noexcept { return members_.data(); }
    [[nodiscard]] const form_member* end() const noexcept { return members_.data() + members_.size(); }
    [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }

private:
    std::vector<form_member> members_;
};

/// Parses `application/x-www-form-urlencoded` (WHATWG URL section 5.1), from a body or a query string: `name=value`
/// pairs separated by `&`, `+` for a space, `%XX` for any byte. An empty piece between two `&` is skipped; a piece
/// without `=` has an empty value. Error (malformed) for a `%` without two hexadecimal digits, decoded bytes that are
/// not UTF-8, unencoded control bytes, and more than `limits::form_members_max` members.
[[nodiscard]] TOLLGATE_DECL result<form_fields> parse_form(std::string_view bytes);

}  // namespace tollgate::http

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/detail/form_body.ipp>
#endif

#endif  // TOLLGATE_HTTP_DETAIL_FORM_BODY_HPP

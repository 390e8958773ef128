#pragma once
#ifndef TOLLGATE_HTTP_JSON_BODY_HPP
#define TOLLGATE_HTTP_JSON_BODY_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0::http {

/// The kind of a JSON value (RFC 8259 section 3). `integer` is a number without fraction and exponent.
enum class json_kind : std::uint8_t { null, boolean, integer, number, text, object, array };

/// A member of an object: its name and its value.
struct json_member {
    std::string name;   ///< unescaped
    json_kind kind = json_kind::null;
    /// The value. Text is unescaped, valid UTF-8, and may contain NUL (from `\u0000`). An integer (no fraction or exponent; fits 64 bits,
    /// signed or unsigned) is its digits; any other number is as sent. A boolean is `true` or `false`. The value of null, objects and
    /// arrays is empty.
    std::string value;
    std::vector<std::string> texts = {};  ///< the elements of an array, unescaped; empty unless all of them are text
};

/// The members of a JSON object, in document order, with unique names.
class json_object {
public:
    /// Constructs an object from members in the order of the document.
    explicit json_object(std::vector<json_member> members) noexcept : members_{std::move(members)} {}

    /// Returns the member with this name, or null if there is none.
    [[nodiscard]] const json_member* find(std::string_view name) const noexcept {
        for (const json_member& member : members_)
            if (member.name == name) return &member;
        return nullptr;
    }

    /// Returns the members, in the order of the document, or their number.
    [[nodiscard]] const json_member* begin() const noexcept { return members_.data(); }
    [[nodiscard]] const json_member* end() const noexcept { return members_.data() + members_.size(); }
    [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }

private:
    std::vector<json_member> members_;
};

/// Parses one JSON object (RFC 8259) strictly, so that all readers interpret it in the same way. Error (malformed) for text that is not
/// JSON, trailing bytes, a top level that is not an object, a repeated name in an object at any depth, nesting deeper than
/// `limits::json_depth_max`, and invalid UTF-8. JSON whitespace around the object is allowed; a byte order mark and NUL are not. Nested
/// values are checked and discarded, except for the elements of an array of texts.
[[nodiscard]] TOLLGATE_DECL result<json_object> parse_json_object(std::string_view bytes);

/// Checks that `bytes` are one JSON value of any kind, by the rules of `parse_json_object`. Error: malformed.
[[nodiscard]] TOLLGATE_DECL result<void> check_json(std::string_view bytes);

}  // namespace tollgate::http

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/json_body.ipp>
#endif

#endif  // TOLLGATE_HTTP_JSON_BODY_HPP

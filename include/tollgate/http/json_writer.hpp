#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/text.hpp>

#include <cassert>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tollgate::inline v0::http {

/// The name of a member: a literal, checked at compile time to need no escaping.
class json_name {
public:
    // the library's names have under 30; bounded so that it can be assembled on the stack
    static constexpr std::size_t bytes_max = 60;

    /// From a literal that needs no escaping; any other does not compile.
    consteval json_name(const char* literal) : text_{literal} {
        if (text_.size() > bytes_max) throw "a member's name is at most 60 bytes";
        for (char c : text_)
            if (c < ' ' || c > '~' || c == '"' || c == '\\')
                throw "a member's name is printable ASCII without quote and backslash";
    }
    /// The name without quotes.
    [[nodiscard]] constexpr std::string_view view() const noexcept { return text_; }

private:
    std::string_view text_;
};

/// Appends JSON (RFC 8259) to `out`, which must outlive the writer and not be changed otherwise meanwhile. Commas are
/// inserted automatically. Invalid structure (a value without a name in an object, an end without a begin) is asserted.
/// Text may be any bytes: invalid UTF-8 becomes U+FFFD, so the output is always valid.
///
/// Exemplar:
///
///     json_writer json{out};
///     json.begin_object();
///     json.member("id").integer(7);
///     json.member("names").begin_array().string("a").string("b").end_array();
///     json.end_object();
class json_writer {
public:
    // one bit per level, for the assertions; the library's deepest document has 8
    static constexpr unsigned depth_max = 64;

    /// Appends to `out`, which must outlive the writer.
    explicit json_writer(std::string& out) noexcept : out_{&out}, begin_{out.size()} {}

    /// Opens or closes an object or array. At most `depth_max` may be open at once.
    json_writer& begin_object() { return open('{', true); }
    json_writer& end_object() { return close('}', true); }
    json_writer& begin_array() { return open('[', false); }
    json_writer& end_array() { return close(']', false); }

    /// The name of the next value, in an object.
    json_writer& member(json_name name);
    /// The same for a name that is not a literal, such as a path; escaped like text.
    json_writer& member_named(std::string_view name);

    /// A text value; escaped.
    json_writer& string(std::string_view value);
    /// An integer value.
    json_writer& integer(std::integral auto value)
        requires(!std::same_as<decltype(value), bool> && !std::same_as<decltype(value), char>);
    /// A boolean value, or null.
    json_writer& boolean(bool value) { return raw(value ? "true" : "false"); }
    json_writer& null() { return raw("null"); }

    /// A number in these characters, which must be valid: a decimal keeps its digits. There is no function for floats.
    json_writer& number(std::string_view digits) { return raw(digits); }

    /// A complete JSON value, already checked by `check_json`.
    json_writer& value(std::string_view json) { return raw(json); }

private:
    json_writer& open(char bracket, bool object);
    json_writer& close(char bracket, bool object);
    json_writer& raw(std::string_view token);
    [[nodiscard]] bool needs_comma() const noexcept;
    void separate();
    TOLLGATE_DECL void escape(std::string_view value);

    [[nodiscard]] bool in_object() const noexcept { return depth_ != 0 && (objects_ >> (depth_ - 1) & 1) != 0; }

    std::string* out_;
    std::size_t begin_;            // start of the document in `out_`
    std::uint64_t objects_ = 0;    // one bit per level: object or array
    unsigned depth_ = 0;
    bool named_ = false;           // a name was written and its value is due
};

namespace detail {

/// Whether a byte represents itself in a JSON string; bytes of 0x80 and above are checked as UTF-8 first.
[[nodiscard]] constexpr bool is_plain_json(char c) noexcept {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
}

}  // namespace detail

/// Whether a value precedes. The last character tells: text ends in a quote, so a bracket or colon at the end never
/// belongs to a value.
inline bool json_writer::needs_comma() const noexcept {
    if (out_->size() == begin_) return false;
    const char last = out_->back();
    return last != '{' && last != '[' && last != ':';
}

inline void json_writer::separate() {
    if (needs_comma()) out_->push_back(',');
}

inline json_writer& json_writer::open(char bracket, bool object) {
    assert(in_object() == named_ && "a member needs a name, and only a member has one");
    assert(depth_ < depth_max);
    separate();
    out_->push_back(bracket);
    objects_ = (objects_ & ~(std::uint64_t{1} << depth_)) | std::uint64_t{object} << depth_;
    ++depth_;
    named_ = false;
    return *this;
}

inline json_writer& json_writer::close(char bracket, [[maybe_unused]] bool object) {
    assert(depth_ != 0 && in_object() == object && !named_ && "every end has its begin");
    --depth_;
    out_->push_back(bracket);
    return *this;
}

inline json_writer& json_writer::member(json_name name) {
    assert(in_object() && !named_ && "only an object's members have names");
    char piece[json_name::bytes_max + 4];  // comma, name in quotes and colon: one append costs a third of four
    char* end = piece;
    *end = ',';
    end += needs_comma();
    *end++ = '"';
    std::memcpy(end, name.view().data(), name.view().size());
    end += name.view().size();
    *end++ = '"';
    *end++ = ':';
    out_->append(piece, static_cast<std::size_t>(end - piece));
    named_ = true;
    return *this;
}

inline json_writer& json_writer::member_named(std::string_view name) {
    assert(in_object() && !named_ && "only an object's members have names");
    separate();
    out_->push_back('"');
    escape(name);
    out_->append("\":", 2);
    named_ = true;
    return *this;
}

inline json_writer& json_writer::raw(std::string_view token) {
    assert(in_object() == named_ && "a member needs a name, and only a member has one");
    assert(!token.empty());
    separate();
    out_->append(token);
    named_ = false;
    return *this;
}

inline json_writer& json_writer::integer(std::integral auto value)
    requires(!std::same_as<decltype(value), bool> && !std::same_as<decltype(value), char>)
{
    char digits[20];  // of 2^64 - 1, and of -2^63 with its sign
    const auto done = std::to_chars(digits, digits + sizeof digits, value);
    return raw({digits, static_cast<std::size_t>(done.ptr - digits)});
}

inline json_writer& json_writer::string(std::string_view value) {
    assert(in_object() == named_ && "a member needs a name, and only a member has one");
    separate();
    out_->push_back('"');
    std::size_t plain = 0;
    while (plain < value.size() && detail::is_plain_json(value[plain])) ++plain;
    out_->append(value.substr(0, plain));
    if (plain != value.size()) [[unlikely]] escape(value.substr(plain));
    out_->push_back('"');
    named_ = false;
    return *this;
}

}  // namespace tollgate::http

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/json_writer.ipp>
#endif

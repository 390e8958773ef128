#pragma once
#ifndef TOLLGATE_HTTP_JSON_WRITER_HPP
#define TOLLGATE_HTTP_JSON_WRITER_HPP

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
#include <utility>

namespace tollgate::inline v0::http {

/// The name of a member: a literal of which the compiler checks that it needs no escaping.
class json_name {
public:
    // The library's names have fewer than 30 bytes. The bound lets a name be assembled on the stack.
    static constexpr std::size_t bytes_max = 60;

    /// Constructs the name from a literal that needs no escaping. Any other literal does not compile.
    consteval json_name(const char* literal) : text_{literal} {
        if (text_.size() > bytes_max) throw "a member's name is at most 60 bytes";
        for (char c : text_)
            if (c < ' ' || c > '~' || c == '"' || c == '\\')
                throw "a member's name is printable ASCII without quote and backslash";
    }
    /// Returns the name without quotes.
    [[nodiscard]] constexpr std::string_view view() const noexcept { return text_; }

private:
    std::string_view text_;
};

/// Appends JSON (RFC 8259) to a string. The string has the document when the document is complete; until then it must not be used. Commas
/// are inserted automatically. Invalid structure (a value without a name in an object, an end without a begin) is asserted. Text may be any
/// bytes: invalid UTF-8 becomes U+FFFD, so the output is always valid.
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
    // A bit per level, for the assertions. The library's deepest document has 8 levels.
    static constexpr unsigned depth_max = 64;

    /// Constructs a writer that appends to `out`, which must outlive the writer.
    explicit json_writer(std::string& out) noexcept : out_{&out} {}
    json_writer(const json_writer&) = delete;
    json_writer& operator=(const json_writer&) = delete;

    /// Opens or closes an object or array. At most `depth_max` may be open at once.
    json_writer& begin_object() { return open('{', true); }
    json_writer& end_object() { return close('}', true); }
    json_writer& begin_array() { return open('[', false); }
    json_writer& end_array() { return close(']', false); }

    /// Writes the name of the next value, in an object.
    json_writer& member(json_name name);
    /// Writes a name that is not a literal, such as a path, with escapes where it needs them.
    TOLLGATE_DECL json_writer& member_named(std::string_view name);

    /// Writes a text value, with escapes where it needs them.
    TOLLGATE_DECL json_writer& string(std::string_view value);
    /// Writes an integer value.
    json_writer& integer(std::integral auto value)
        requires(!std::same_as<decltype(value), bool> && !std::same_as<decltype(value), char>);
    /// Each writes a boolean value, or null.
    json_writer& boolean(bool value) { return raw(value ? "true" : "false"); }
    json_writer& null() { return raw("null"); }

    /// Writes a number in these characters, which must be valid, so that a decimal keeps its digits. There is no function for floats.
    json_writer& number(std::string_view digits) { return raw(digits); }

    /// Writes a complete JSON value, which `check_json` has accepted.
    json_writer& value(std::string_view json) { return raw(json); }

private:
    TOLLGATE_DECL json_writer& open(char bracket, bool object);
    TOLLGATE_DECL json_writer& close(char bracket, bool object);
    TOLLGATE_DECL json_writer& raw(std::string_view token);
    void escape(std::string_view value);

    // Most documents are short. They are assembled in `buffer_` and appended once, because each append is a call.
    static constexpr std::size_t buffer_bytes = 256;

    /// Returns the address to which the next `bytes`, at most `buffer_bytes`, may be written.
    [[nodiscard]] char* space(std::size_t bytes) {
        if (buffer_bytes - used_ < bytes) flush();
        return buffer_ + used_;
    }
    void wrote(const char* end) noexcept { used_ = static_cast<std::size_t>(end - buffer_); }
    void put(char c) {
        *space(1) = c;
        ++used_;
    }
    TOLLGATE_DECL void put(std::string_view text);
    // Not inlined, like `escape`: these functions are long, and seldom called.
    [[gnu::noinline]] void flush() { out_->append(buffer_, std::exchange(used_, 0)); }
    [[gnu::noinline]] void put_long(std::string_view text) {
        flush();
        out_->append(text);
    }
    /// Writes a comma before a value or a name that needs it.
    void separate() {
        if (follows_value_) put(',');
    }
    /// Records the end of a value. The last value of a document completes it.
    json_writer& end_value() {
        follows_value_ = true;
        named_ = false;
        if (depth_ == 0) flush();
        return *this;
    }
    /// Records the end of a name.
    json_writer& end_name() noexcept {
        follows_value_ = false;
        named_ = true;
        return *this;
    }
    [[nodiscard]] bool in_object() const noexcept { return depth_ != 0 && (objects_ >> (depth_ - 1) & 1) != 0; }

    std::string* out_;
    std::uint64_t objects_ = 0;    // a bit per level: object or array
    unsigned depth_ = 0;
    bool follows_value_ = false;   // the next value or name needs a comma
    bool named_ = false;           // a name was written and its value is due
    std::size_t used_ = 0;         // bytes in buffer_
    char buffer_[buffer_bytes];    // only the first used_ are read
};

namespace detail {

/// Returns true if a byte represents itself in a JSON string. Bytes of 0x80 and above are checked as UTF-8 first.
[[nodiscard]] constexpr bool is_plain_json(char c) noexcept {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
}

}  // namespace detail

inline json_writer& json_writer::member(json_name name) {
    assert(in_object() && !named_ && "only an object's members have names");
    const auto text = name.view();
    char* end = space(json_name::bytes_max + 4);  // comma, name in quotes, colon
    *end = ',';
    end += follows_value_;
    *end++ = '"';
    std::memcpy(end, text.data(), text.size());
    end += text.size();
    *end++ = '"';
    *end++ = ':';
    wrote(end);
    return end_name();
}

inline json_writer& json_writer::integer(std::integral auto value)
    requires(!std::same_as<decltype(value), bool> && !std::same_as<decltype(value), char>)
{
    assert(in_object() == named_ && "a member needs a name, and only a member has one");
    separate();
    constexpr std::size_t digits_max = 20;  // digits of 2^64 - 1, and of -2^63 with its sign
    char* const to = space(digits_max);
    wrote(std::to_chars(to, to + digits_max, value).ptr);
    return end_value();
}

}  // namespace tollgate::http

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/json_writer.ipp>
#endif

#endif  // TOLLGATE_HTTP_JSON_WRITER_HPP

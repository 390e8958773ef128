#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_FIELDS_HPP
#define TOLLGATE_HTTP_DETAIL_FIELDS_HPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/http/detail/scan.hpp>
#include <tollgate/http/response.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace tollgate::inline v0::http {

/// The request fields that are read on every request, found without comparing names again.
enum class field_id : std::uint8_t {
    other,
    host,
    user_agent,
    authorization,
    content_type,
    content_length,
    transfer_encoding,
    connection,
    expect,
    x_forwarded_for,
    forwarded,
    cookie,
    origin,
    x_request_id,
    traceparent,
    count_,  ///< the number of ids; not a field
};

[[nodiscard]] constexpr field_id to_field_id(std::string_view name) noexcept;

/// A field of a message, as views that are valid as long as the message's bytes.
struct field {
    std::string_view name;   ///< a token, as sent
    std::string_view value;  ///< value without surrounding whitespace, otherwise as sent
};

/// Field lines in the order of the message: a bounded number of views, without heap memory.
class field_lines {
public:
    /// The maximum number of fields in one message; more are refused.
    static constexpr std::size_t size_max = limits::field_count_max;

    /// Removes all fields.
    void clear() noexcept {
        size_ = 0;
        lookup_ = {};
    }

    /// Returns false and changes nothing if there are already `size_max`.
    bool add(std::string_view name, std::string_view value) noexcept { return add(to_field_id(name), name, value); }
    bool add(field_id id, std::string_view name, std::string_view value) noexcept;

    /// Returns the number of lines with this name.
    [[nodiscard]] std::size_t count(field_id id) const noexcept { return lookup_[index(id)].line_count; }

    /// The first line's value; empty if there is none (`count` distinguishes that from an empty value).
    [[nodiscard]] std::string_view find(field_id id) const noexcept {
        const auto& known = lookup_[index(id)];
        return known.line_count == 0 ? std::string_view{} : lines_[known.first].value;
    }
    /// Returns the first line's value by name, which is compared case-insensitively. A linear search.
    [[nodiscard]] std::string_view find(std::string_view name) const noexcept;

    /// Updates the views after their bytes moved from address `from` to `to`.
    void relocate(std::uintptr_t from, const char* to) noexcept;

    /// The fields in the order of the message.
    [[nodiscard]] const field* begin() const noexcept { return lines_.data(); }
    [[nodiscard]] const field* end() const noexcept { return lines_.data() + size_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    struct known_line {
        std::uint8_t first = 0;
        std::uint8_t line_count = 0;
    };
    static constexpr std::size_t index(field_id id) noexcept { return static_cast<std::size_t>(id); }

    std::array<field, size_max> lines_;  // only the first size_ are ever read
    std::size_t size_ = 0;
    // Has a size that is cleared by whole words.
    std::array<known_line, std::bit_ceil(static_cast<std::size_t>(field_id::count_))> lookup_{};
    static_assert(size_max <= UINT8_MAX);
};

namespace detail {

/// A lower-case name of 4 to 17 bytes as two words that may overlap, so that a field name is matched case-insensitively
/// by two comparisons with constants. This runs for every field line of every request.
template <std::size_t Size>
struct known_name {
    static_assert(Size >= 4 && Size <= 17, "two words and one byte hold at most 17");
    using word = std::conditional_t<(Size < 8), std::uint32_t, std::uint64_t>;
    using word_bytes = std::array<char, sizeof(word)>;

    consteval known_name(const char (&lower)[Size + 1]) {
        for (std::size_t i = 0; i < Size; ++i) text[i] = lower[i];
        for (std::size_t i = 0; i < sizeof(word); ++i) {
            set(head, head_fold, i, text[i]);
            set(tail, tail_fold, i, text[Size - sizeof(word) + i]);
        }
    }
    static consteval void set(word_bytes& word, word_bytes& fold, std::size_t i, char c) {
        word[i] = c;
        fold[i] = c >= 'a' && c <= 'z' ? 'a' - 'A' : '\0';
    }

    std::array<char, Size> text{};
    word_bytes head{}, head_fold{}, tail{}, tail_fold{};
};
template <std::size_t Bytes>
known_name(const char (&)[Bytes]) -> known_name<Bytes - 1>;

/// Returns true if `name`, which has the same length, is equal ignoring case. Case is folded only at the letters of the known name, so
/// that no other byte can match one of them.
template <known_name Known>
[[nodiscard]] constexpr bool is(std::string_view name) noexcept {
    constexpr std::size_t size = Known.text.size();
    if (std::is_constant_evaluated()) return tollgate::detail::ascii_iequals(name, {Known.text.data(), size});
    using word = typename decltype(Known)::word;
    const auto differing = [](const char* at, const auto& known, const auto& fold) {
        word sent;
        std::memcpy(&sent, at, sizeof sent);
        return (sent | std::bit_cast<word>(fold)) ^ std::bit_cast<word>(known);
    };
    const bool middle = size <= 16 || tollgate::detail::ascii_lower(name[size / 2]) == Known.text[size / 2];
    return (differing(name.data(), Known.head, Known.head_fold) |
            differing(name.data() + size - sizeof(word), Known.tail, Known.tail_fold)) == 0 && middle;
}

}  // namespace detail

/// The id of a field name, compared case-insensitively (RFC 9110 section 5.1); `field_id::other` if it has none.
constexpr field_id to_field_id(std::string_view name) noexcept {
    using detail::is;
    using enum field_id;
    switch (name.size()) {
        case 4: return is<"host">(name) ? host : other;
        case 6: return is<"cookie">(name) ? cookie : is<"origin">(name) ? origin : is<"expect">(name) ? expect : other;
        case 9: return is<"forwarded">(name) ? forwarded : other;
        case 10: return is<"user-agent">(name) ? user_agent : is<"connection">(name) ? connection : other;
        case 11: return is<"traceparent">(name) ? traceparent : other;
        case 12: return is<"content-type">(name) ? content_type : is<"x-request-id">(name) ? x_request_id : other;
        case 13: return is<"authorization">(name) ? authorization : other;
        case 14: return is<"content-length">(name) ? content_length : other;
        case 15: return is<"x-forwarded-for">(name) ? x_forwarded_for : other;
        case 17: return is<"transfer-encoding">(name) ? transfer_encoding : other;
        default: return other;
    }
}

inline bool field_lines::add(field_id id, std::string_view name, std::string_view value) noexcept {
    if (size_ == size_max) return false;
    auto& known = lookup_[index(id)];
    if (known.line_count++ == 0) known.first = static_cast<std::uint8_t>(size_);
    lines_[size_].name = name;
    lines_[size_].value = value;
    ++size_;
    return true;
}

/// `view` after its bytes moved. The old address is a number because the old memory may have been freed, which makes
/// pointers into it invalid.
[[nodiscard]] inline std::string_view relocated(std::string_view view, std::uintptr_t from, const char* to) noexcept {
    if (view.data() == nullptr) return view;
    return {to + (reinterpret_cast<std::uintptr_t>(view.data()) - from), view.size()};
}

inline void field_lines::relocate(std::uintptr_t from, const char* to) noexcept {
    for (std::size_t i = 0; i < size_; ++i)
        lines_[i] = {relocated(lines_[i].name, from, to), relocated(lines_[i].value, from, to)};
}

inline std::string_view field_lines::find(std::string_view name) const noexcept {
    for (const field& line : *this)
        if (tollgate::detail::ascii_iequals(line.name, name)) return line.value;
    return {};
}

}  // namespace tollgate::http

namespace tollgate::inline v0::http::detail {

/// The result of reading one field line.
enum class line_result : std::uint8_t {
    unfinished,          ///< call again when there are more bytes
    field,               ///< one field line was read
    section_end,         ///< the empty line was read
    folded,              ///< starts with a blank: a folded line, or a blank before the first field
    blank_before_colon,
    no_name,             ///< the name is empty, or contains a byte that is not a tchar
    bad_value,           ///< contains a control character
    bare_cr,
    bare_lf,
};

/// The message for the client, for each result that is an error.
[[nodiscard]] constexpr std::string_view to_reason(line_result fault) noexcept {
    switch (fault) {
        case line_result::folded: return "A field line begins with whitespace.";
        case line_result::blank_before_colon: return "There is whitespace between a field name and its colon.";
        case line_result::no_name: return "A field line does not begin with a name and a colon.";
        case line_result::bad_value: return "A field value contains a control character.";
        case line_result::bare_cr: return "A CR is not followed by LF.";
        case line_result::bare_lf: return "A line ends in LF without CR.";
        case line_result::unfinished:
        case line_result::field:
        case line_result::section_end: break;
    }
    return {};
}

/// Reads field lines (RFC 9112 section 5), one per call, of a header section or a trailer section.
///
/// An incomplete line is continued where the last call stopped; only offsets are kept.
class field_line_reader {
public:
    /// Starts with the line at `offset`.
    void start(std::size_t offset) noexcept {
        begin_ = examined_ = offset;
        colon_ = 0;
    }

    /// Reads from `bytes` (the whole message from its first byte), at most up to `bytes_end`.
    [[nodiscard]] line_result read(const char* bytes, std::size_t bytes_end, field_id& id, field& line) noexcept;

    /// Returns true if the next byte starts a line.
    [[nodiscard]] bool at_line_begin() const noexcept { return examined_ == begin_; }

    /// The end of the last line that was read.
    [[nodiscard]] std::size_t at() const noexcept { return begin_; }

private:
    [[nodiscard]] line_result read_other(const char* begin, const char* at, const char* end) noexcept;
    [[nodiscard]] line_result unfinished(std::size_t examined) noexcept {
        examined_ = examined;
        return line_result::unfinished;
    }

    std::size_t begin_ = 0;     // begin of the line
    std::size_t examined_ = 0;  // everything before it was examined
    std::size_t colon_ = 0;     // end of the name, once found
};

[[gnu::noinline]] inline line_result field_line_reader::read(const char* bytes, std::size_t bytes_end, field_id& id, field& line) noexcept {
    const char* const end = bytes + bytes_end;
    const char* const begin = bytes + begin_;
    const char* colon = bytes + colon_;
    const char* value_end = bytes + examined_;
    if (colon_ == 0) {
        colon = find_token_end(value_end, end);
        if (colon == end) return unfinished(bytes_end);
        if (*colon != ':' || colon == begin) return read_other(begin, colon, end);
        value_end = colon + 1;
    }

    value_end = find_value_end(value_end, end);
    if (end - value_end < 2 || value_end[0] != '\r' || value_end[1] != '\n') {
        if (value_end == end || (*value_end == '\r' && end - value_end < 2)) {
            colon_ = static_cast<std::size_t>(colon - bytes);
            return unfinished(static_cast<std::size_t>(value_end - bytes));
        }
        return *value_end == '\r'   ? line_result::bare_cr
               : *value_end == '\n' ? line_result::bare_lf
                                    : line_result::bad_value;
    }
    line.name = {begin, static_cast<std::size_t>(colon - begin)};
    line.value = tollgate::detail::trim_ows({colon + 1, static_cast<std::size_t>(value_end - (colon + 1))});
    id = to_field_id(line.name);
    start(static_cast<std::size_t>(value_end + 2 - bytes));
    return line_result::field;
}

/// Handles anything but a field: the empty line, or an error at `at`, the first byte that is not a tchar.
inline line_result field_line_reader::read_other(const char* begin, const char* at, const char* end) noexcept {
    const bool blank = *at == ' ' || *at == '\t';
    if (at != begin) return blank ? line_result::blank_before_colon : line_result::no_name;
    if (blank) return line_result::folded;
    if (*at == '\n') return line_result::bare_lf;
    if (*at != '\r') return line_result::no_name;
    if (end - at < 2) return unfinished(begin_);
    if (at[1] != '\n') return line_result::bare_cr;
    start(begin_ + 2);
    return line_result::section_end;
}

/// Returns true if a comma-separated field value contains this member, case-insensitively (RFC 9110 section 5.6.1).
[[nodiscard]] constexpr bool list_holds(std::string_view list, std::string_view member) noexcept {
    for (;;) {
        const auto comma = list.find(',');
        if (tollgate::detail::ascii_iequals(tollgate::detail::trim_ows(list.substr(0, comma)), member)) return true;
        if (comma == std::string_view::npos) return false;
        list.remove_prefix(comma + 1);
    }
}

/// Returns true if a body is encoded (RFC 9110 section 8.4), gzip for instance. `identity` is not a coding.
[[nodiscard]] inline bool has_content_coding(const field_lines& fields) noexcept {
    for (const field& line : fields)
        if (tollgate::detail::ascii_iequals(line.name, "Content-Encoding") && !line.value.empty() &&
            !tollgate::detail::ascii_iequals(line.value, "identity"))
            return true;
    return false;
}

/// The media type in Content-Type, without its parameters; empty if there is none, or more than one such field.
[[nodiscard]] inline std::string_view media_type_of(const field_lines& fields) noexcept {
    if (fields.count(field_id::content_type) != 1) return {};
    const auto value = fields.find(field_id::content_type);
    return tollgate::detail::trim_ows(value.substr(0, value.find(';')));
}

/// The credentials of an Authorization field of this scheme: `auth-scheme 1*SP credentials` (RFC 9110 section 11.4). Empty for a
/// scheme without credentials, none for another scheme.
[[nodiscard]] constexpr std::optional<std::string_view> credentials_of(std::string_view value, std::string_view scheme) noexcept {
    if (value.size() < scheme.size() || !tollgate::detail::ascii_iequals({value.data(), scheme.size()}, scheme)) return std::nullopt;
    value.remove_prefix(scheme.size());
    if (!value.empty() && value.front() != ' ') return std::nullopt;
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    return value;
}

inline constexpr std::string_view content_coding_reason = "Send the body without a Content-Encoding.";

}  // namespace tollgate::http::detail

namespace tollgate::inline v0::http {

/// Field lines in wire format, each ended by CRLF, for the requests of the webhook client. The types of names and
/// values exclude line ends. Reusing a block does not allocate.
class field_block {
public:
    /// Removes all lines and keeps the memory.
    void clear() noexcept { lines_.clear(); }

    /// Appends one line. Allocates if the block has to grow.
    void add(field_name name, field_value value) {
        lines_.append(name.view()).append(": ").append(value.view()).append("\r\n");
    }

    /// Returns all lines in wire format; valid until the block changes.
    [[nodiscard]] std::string_view view() const noexcept { return lines_; }

private:
    std::string lines_;
};

}  // namespace tollgate::http

#endif  // TOLLGATE_HTTP_DETAIL_FIELDS_HPP

#pragma once

#include <tollgate/base/ascii.hpp>
#include <tollgate/http/fields.hpp>
#include <tollgate/http/scan.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tollgate::http::detail {

enum class line_result : std::uint8_t {
    unfinished,          ///< call again when there are more bytes
    field,               ///< one field line was read
    section_end,         ///< the empty line was read
    folded,              ///< begins with a blank: a folded line, or a blank before the first field
    blank_before_colon,
    no_name,             ///< empty, or a byte that no token holds
    bad_value,           ///< a control character
    bare_cr,
    bare_lf,
};

/// A sentence for the client, for each result that is a fault.
[[nodiscard]] constexpr std::string_view to_reason(line_result fault) noexcept {
    switch (fault) {
        case line_result::folded: return "A field line begins with a blank.";
        case line_result::blank_before_colon: return "There is a blank between a field name and its colon.";
        case line_result::no_name: return "A field line does not begin with a name and a colon.";
        case line_result::bad_value: return "A field value holds a control character.";
        case line_result::bare_cr: return "A CR is not followed by LF.";
        case line_result::bare_lf: return "A line ends in LF without CR.";
        case line_result::unfinished:
        case line_result::field:
        case line_result::section_end: break;
    }
    return {};
}

/// Field lines (RFC 9112 section 5), one a call, of a header section or a trailer section.
///
/// A line that is not all there yet is gone on with where the last call stopped: only offsets are kept.
class field_line_reader {
public:
    /// The next line begins at `offset`.
    void start(std::size_t offset) noexcept {
        begin_ = seen_ = offset;
        colon_ = 0;
    }

    /// Reads from `bytes` (all of them, from the message's first) not further than `bytes_end`.
    [[nodiscard]] line_result read(const char* bytes, std::size_t bytes_end, field_id& id, field& line) noexcept;

    [[nodiscard]] bool at_line_begin() const noexcept { return seen_ == begin_; }

    /// Behind the last line that was read.
    [[nodiscard]] std::size_t at() const noexcept { return begin_; }

private:
    [[nodiscard]] line_result read_other(const char* begin, const char* at, const char* end) noexcept;
    [[nodiscard]] line_result unfinished(std::size_t seen) noexcept {
        seen_ = seen;
        return line_result::unfinished;
    }

    std::size_t begin_ = 0;  // of the line
    std::size_t seen_ = 0;   // everything before it was looked at
    std::size_t colon_ = 0;  // behind the name, once it was found
};

inline line_result field_line_reader::read(const char* bytes, std::size_t bytes_end, field_id& id,
                                           field& line) noexcept {
    const char* const end = bytes + bytes_end;
    const char* const begin = bytes + begin_;
    const char* colon = bytes + colon_;
    const char* value_end = bytes + seen_;
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
    line.value = trim_ows({colon + 1, static_cast<std::size_t>(value_end - (colon + 1))});
    id = to_field_id(line.name);
    start(static_cast<std::size_t>(value_end + 2 - bytes));
    return line_result::field;
}

/// A line that is no field: the empty one, or a fault at `at`, the first byte that no name has.
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

}  // namespace tollgate::http::detail

#pragma once
#ifndef TOLLGATE_BASE_DETAIL_TEXT_HPP
#define TOLLGATE_BASE_DETAIL_TEXT_HPP

#include <tollgate/base/config.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::inline v0::detail {

/// ASCII only, independent of the locale: protocol text is not natural language.
[[nodiscard]] constexpr char ascii_lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
/// Returns true for an ASCII letter or digit.
[[nodiscard]] constexpr bool is_alphanumeric(char c) noexcept {
    const char lower = ascii_lower(c);
    return is_digit(c) || (lower >= 'a' && lower <= 'z');
}

/// The number that decimal digits spell, without sign or leading zero, so that each number has one spelling. Empty for other text,
/// and for a number beyond 64 bits.
[[nodiscard]] constexpr std::optional<std::uint64_t> parse_decimal(std::string_view text) noexcept {
    if (text.empty() || (text.front() == '0' && text.size() != 1)) return std::nullopt;
    std::uint64_t value = 0;
    for (const char c : text) {
        if (!is_digit(c)) return std::nullopt;
        const auto digit = static_cast<std::uint64_t>(c - '0');
        if (value > (UINT64_MAX - digit) / 10) return std::nullopt;
        value = value * 10 + digit;
    }
    return value;
}

[[nodiscard]] constexpr std::string_view without_final_slashes(std::string_view text) noexcept {
    while (text.ends_with('/')) text.remove_suffix(1);
    return text;
}

inline void remove_final_slashes(std::string& text) { text.erase(without_final_slashes(text).size()); }

/// Returns all parts, joined. The code of a call is a fraction of the code of a chain of `+`.
[[nodiscard, gnu::noinline]] inline std::string concat(std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const std::string_view each : parts) text.append(each);
    return text;
}

/// The value of a hexadecimal digit of either case; -1 for any other character.
[[nodiscard]] constexpr int hex_value(char c) noexcept {
    if (is_digit(c)) return c - '0';
    const char lower = ascii_lower(c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Compares ASCII letters case-insensitively (RFC 9110 section 5.1 for field names, 11.1 for auth-scheme).
[[nodiscard]] constexpr bool ascii_iequals(std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i] && ascii_lower(a[i]) != ascii_lower(b[i])) return false;  // most are sent in the usual case
    return true;
}

/// Returns true if `c` is a visible ASCII character: neither a control character nor a space (VCHAR, RFC 5234).
[[nodiscard]] constexpr bool is_visible_ascii(char c) noexcept { return c > ' ' && c <= '~'; }

[[nodiscard]] constexpr bool is_ascii(std::string_view text) noexcept {
    for (const char c : text)
        if (static_cast<unsigned char>(c) > 0x7f) return false;
    return true;
}

/// `text` without optional whitespace (SP, HTAB) at both ends (RFC 9110 section 5.6.3).
[[nodiscard]] constexpr std::string_view trim_ows(std::string_view text) noexcept {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// A set of bytes with constant-time lookup. Declare tables at namespace scope: a local table is rebuilt on the stack
/// by every call.
using byte_set = std::array<bool, 256>;

[[nodiscard]] constexpr byte_set make_byte_set(std::string_view members) noexcept {
    byte_set set{};
    for (char c : members) set[static_cast<unsigned char>(c)] = true;
    return set;
}

[[nodiscard]] constexpr bool holds(const byte_set& set, char c) noexcept { return set[static_cast<unsigned char>(c)]; }

/// The maximum number of characters that `put_decimal` writes.
inline constexpr std::size_t decimal_digits_max = 10;

/// Writes a number in decimal at `to`, which has space for `decimal_digits_max`, and returns the end. For lines that every
/// response has: std::to_chars is a call, and counts the digits first. This neither branches for numbers of up to eight digits nor
/// reads what it has just written: each step halves the width of the parts, until every digit has a byte of its own.
inline char* put_decimal(char* to, std::uint32_t number) noexcept {
    const std::uint32_t last_eight = number % 100'000'000;
    std::uint64_t digits = last_eight / 10'000 | std::uint64_t{last_eight % 10'000} << 32;
    const std::uint64_t hundreds = (digits * 10'486 >> 20) & 0x0000'007f'0000'007f;
    digits = hundreds | (digits - hundreds * 100) << 16;
    const std::uint64_t tens = (digits * 103 >> 10) & 0x000f'000f'000f'000f;
    digits = tens | (digits - tens * 10) << 8;  // the first digit is in the lowest byte

    int zeros = std::countr_zero(digits | std::uint64_t{1} << 56) / 8;  // before the first digit; zero has one
    if (number != last_eight) {
        if (number >= 1'000'000'000) *to++ = static_cast<char>('0' + number / 1'000'000'000);
        *to++ = static_cast<char>('0' + number / 100'000'000 % 10);
        zeros = 0;
    }
    digits = (digits | 0x3030'3030'3030'3030) >> 8 * zeros;
    if constexpr (std::endian::native == std::endian::little) std::memcpy(to, &digits, sizeof digits);
    else for (int i = 0; i < 8; ++i) to[i] = static_cast<char>(digits >> 8 * i);
    return to + 8 - zeros;
}

inline constexpr byte_set token_chars =
    make_byte_set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

/// tchar of RFC 9110 section 5.6.2.
[[nodiscard]] constexpr bool is_token_char(char c) noexcept { return holds(token_chars, c); }

/// The length in bytes of the well-formed UTF-8 sequence at the start of `text` (Unicode 15 table 3-7): 1 to 4, or 0
/// for an overlong form, a surrogate, a code point above U+10FFFF or anything else. Precondition: `text` is not empty.
[[nodiscard]] constexpr std::size_t utf8_sequence_bytes(std::string_view text) noexcept {
    const auto at = [text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto within = [](unsigned byte, unsigned first, unsigned last) { return byte >= first && byte <= last; };
    const auto continues = [&](std::size_t i) { return within(at(i), 0x80, 0xbf); };

    const unsigned lead = at(0);
    if (lead < 0x80) return 1;
    if (within(lead, 0xc2, 0xdf)) return continues(1) ? 2 : 0;
    if (within(lead, 0xe0, 0xef)) {
        const bool second = within(at(1), lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf);
        return second && continues(2) ? 3 : 0;
    }
    if (within(lead, 0xf0, 0xf4)) {
        const bool second = within(at(1), lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf);
        return second && continues(2) && continues(3) ? 4 : 0;
    }
    return 0;
}

/// Most text is ASCII: checks eight characters in one step.
constexpr bool begins_with_eight_ascii(std::string_view text) noexcept {
    if (text.size() < 8) return false;
    unsigned bits = 0;
    for (std::size_t i = 0; i < 8; ++i) bits |= static_cast<unsigned char>(text[i]);
    return bits < 0x80;
}

[[nodiscard]] constexpr bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        if (begins_with_eight_ascii(text)) {
            text.remove_prefix(8);
            continue;
        }
        const std::size_t bytes = utf8_sequence_bytes(text);
        if (bytes == 0) return false;
        text.remove_prefix(bytes);
    }
    return true;
}

/// Returns true if `text` is one visible line: 1 to `bytes_max` bytes of UTF-8, not only spaces, without control characters,
/// line or paragraph separators, or invisible characters that change the text direction or hide in a name (Unicode's
/// Bidi_Control, zero-width space, word joiner, byte order mark, tags). Joiners and variation selectors are allowed,
/// because scripts and emoji need them.
[[nodiscard]] TOLLGATE_DECL bool is_visible_line(std::string_view text, std::size_t bytes_max) noexcept;

/// `text` without blanks, punctuation, and control and invisible characters; other bytes, of invalid UTF-8 too, are kept.
[[nodiscard]] TOLLGATE_DECL std::string without_punctuation(std::string_view text);

/// Makes untrusted bytes readable: lines of UTF-8 in which invalid bytes, control characters and the invisible
/// characters that `is_visible_line` refuses are escaped, as `\x1b` or `\u202e`. Line ends become `\n`. The input may
/// be truncated: an incomplete sequence at its end is dropped.
[[nodiscard]] TOLLGATE_DECL std::string make_readable(std::string_view bytes);

/// Reads a file with one key per line. Skips blank lines and comments, which start with `#`.
class key_file_lines {
public:
    explicit key_file_lines(std::string_view file) noexcept : left_{file} {}

    /// The next key, without blanks around it; empty at the end.
    [[nodiscard]] std::optional<std::string_view> next() noexcept {
        while (!left_.empty()) {
            ++number_;
            const std::size_t end = left_.find('\n');
            std::string_view line = left_.substr(0, end);
            left_.remove_prefix(end == std::string_view::npos ? left_.size() : end + 1);
            if (line.ends_with('\r')) line.remove_suffix(1);
            line = trim_ows(line);
            if (!line.empty() && line.front() != '#') return line;
        }
        return std::nullopt;
    }

    /// The number of the line that `next` returned last.
    [[nodiscard]] std::size_t number() const noexcept { return number_; }

private:
    std::string_view left_;
    std::size_t number_ = 0;
};

}  // namespace tollgate::detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/base/detail/text.ipp>
#endif

#endif  // TOLLGATE_BASE_DETAIL_TEXT_HPP

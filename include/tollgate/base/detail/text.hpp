#pragma once

#include <tollgate/base/config.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// ASCII only, whatever the locale: protocol text is not natural language.
[[nodiscard]] constexpr char ascii_lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// What a hexadecimal digit of either case stands for; -1 for any other character.
[[nodiscard]] constexpr int hex_value(char c) noexcept {
    if (is_digit(c)) return c - '0';
    const char lower = ascii_lower(c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Equal without regard to the case of ASCII letters (RFC 9110 section 5.1 for field names, 11.1 for auth-scheme).
[[nodiscard]] constexpr bool ascii_iequals(std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (ascii_lower(a[i]) != ascii_lower(b[i])) return false;
    return true;
}

/// `text` without optional whitespace (SP, HTAB) at both ends (RFC 9110 section 5.6.3).
[[nodiscard]] constexpr std::string_view trim_ows(std::string_view text) noexcept {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// Which bytes are in a set, one load each. A table is a constant of its namespace, never a local: a local one is built
/// again on the stack with every call.
using byte_set = std::array<bool, 256>;

[[nodiscard]] constexpr byte_set make_byte_set(std::string_view members) noexcept {
    byte_set made{};
    for (char c : members) made[static_cast<unsigned char>(c)] = true;
    return made;
}

[[nodiscard]] constexpr bool holds(const byte_set& set, char c) noexcept { return set[static_cast<unsigned char>(c)]; }

namespace detail {
inline constexpr byte_set token_chars =
    make_byte_set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

/// tchar of RFC 9110 section 5.6.2.
[[nodiscard]] constexpr bool is_token_char(char c) noexcept { return holds(detail::token_chars, c); }

/// The bytes of the well-formed UTF-8 sequence that `text` begins with (Unicode 15 table 3-7): 1 to 4, or 0 if there is
/// none: no overlong form, no surrogate, nothing above U+10FFFF. Precondition: `text` is not empty.
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

namespace detail {

/// Most text is ASCII most of the time: eight characters of it are passed in one step.
constexpr bool begins_with_eight_ascii(std::string_view text) noexcept {
    if (text.size() < 8) return false;
    unsigned seen = 0;
    for (std::size_t i = 0; i < 8; ++i) seen |= static_cast<unsigned char>(text[i]);
    return seen < 0x80;
}

}  // namespace detail

[[nodiscard]] constexpr bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        if (detail::begins_with_eight_ascii(text)) {
            text.remove_prefix(8);
            continue;
        }
        const std::size_t bytes = utf8_sequence_bytes(text);
        if (bytes == 0) return false;
        text.remove_prefix(bytes);
    }
    return true;
}

/// Whether `text` is a line that a person sees as it is: 1 to `bytes_max` bytes of UTF-8, not blanks alone, no control
/// characters, no line or paragraph separators, and none of the invisible characters that turn the direction of what
/// follows or hide in a name (Unicode's Bidi_Control, zero-width space, word joiner, byte order mark, tags). The joiners
/// and variation selectors that scripts and emoji need may stand in it.
[[nodiscard]] TOLLGATE_DECL bool is_visible_line(std::string_view text, std::size_t bytes_max) noexcept;

/// Somebody else's bytes as a person can read them, whatever they are: lines of UTF-8, in which each byte that is none,
/// each control character and each invisible one that `is_visible_line` refuses is written out, as `\x1b` or `\u202e`.
/// Line ends become `\n`. It is the beginning of a text that may have been cut: a sequence that is incomplete at its end
/// is left out.
[[nodiscard]] TOLLGATE_DECL std::string make_readable(std::string_view bytes);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/base/detail/text.ipp>
#endif

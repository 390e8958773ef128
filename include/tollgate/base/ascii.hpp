#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace tollgate {

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

}  // namespace tollgate

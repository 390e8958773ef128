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

/// tchar of RFC 9110 section 5.6.2.
[[nodiscard]] constexpr bool is_token_char(char c) noexcept {
    constexpr auto table = [] {
        std::array<bool, 256> allowed{};
        for (char d : std::string_view{"!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"})
            allowed[static_cast<unsigned char>(d)] = true;
        return allowed;
    }();
    return table[static_cast<unsigned char>(c)];
}

}  // namespace tollgate

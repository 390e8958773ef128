#pragma once

#include <cstddef>
#include <string_view>

namespace tollgate {

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

}  // namespace tollgate

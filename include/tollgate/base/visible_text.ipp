#pragma once

#include <tollgate/base/visible_text.hpp>

#include <tollgate/base/utf8.hpp>

#include <cstdint>

namespace tollgate {
namespace detail {

/// Precondition: one well-formed sequence.
constexpr std::uint32_t code_point_of(std::string_view sequence) noexcept {
    constexpr unsigned char lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    std::uint32_t made = static_cast<unsigned char>(sequence.front()) & lead_bits[sequence.size()];
    for (char c : sequence.substr(1)) made = made << 6 | (static_cast<unsigned char>(c) & 0x3fU);
    return made;
}

constexpr bool is_blank(std::uint32_t code) noexcept {
    return code == ' ' || code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x202f ||
           code == 0x205f || code == 0x3000;
}

constexpr bool is_hidden(std::uint32_t code) noexcept {
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) ||  // C0, DEL, C1
           code == 0x061c || code == 0x200e || code == 0x200f ||  // marks of direction
           (code >= 0x2028 && code <= 0x202e) ||  // separators, embeddings and overrides
           (code >= 0x2066 && code <= 0x2069) ||  // isolates
           code == 0x200b || code == 0x2060 || code == 0xfeff;
}

}  // namespace detail

TOLLGATE_DECL bool is_visible_line(std::string_view text, std::size_t bytes_max) noexcept {
    if (text.size() > bytes_max) return false;
    bool seen = false;
    while (!text.empty()) {
        const std::size_t bytes = utf8_sequence_bytes(text);
        if (bytes == 0) return false;
        const auto code = detail::code_point_of(text.substr(0, bytes));
        if (detail::is_hidden(code)) return false;
        const bool joiner = code == 0x200c || code == 0x200d;
        seen = seen || !(joiner || detail::is_blank(code));
        text.remove_prefix(bytes);
    }
    return seen;
}

}  // namespace tollgate

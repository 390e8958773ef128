#pragma once
#ifndef TOLLGATE_BASE_DETAIL_TEXT_IPP
#define TOLLGATE_BASE_DETAIL_TEXT_IPP

#include <tollgate/base/detail/text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tollgate::inline v0::detail {
/// Precondition: one well-formed sequence.
constexpr std::uint32_t code_point_of(std::string_view sequence) noexcept {
    constexpr unsigned char lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    std::uint32_t code = static_cast<unsigned char>(sequence.front()) & lead_bits[sequence.size()];
    for (char c : sequence.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3fU);
    return code;
}

constexpr bool is_blank(std::uint32_t code) noexcept {
    return code == ' ' || code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x202f ||
           code == 0x205f || code == 0x3000 ||
           code == 0x115f || code == 0x1160 || code == 0x3164 || code == 0xffa0 ||  // Hangul letters without a glyph
           code == 0x2800;                                                          // Braille blank
}

/// Characters that only modify the preceding one.
constexpr bool is_joiner(std::uint32_t code) noexcept {
    return code == 0x200c || code == 0x200d || (code >= 0xfe00 && code <= 0xfe0f) ||
           (code >= 0xe0100 && code <= 0xe01ef);
}

constexpr bool is_hidden(std::uint32_t code) noexcept {
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) ||       // C0, DEL, C1
           code == 0x061c || code == 0x200e || code == 0x200f ||  // directional marks
           (code >= 0x2028 && code <= 0x202e) ||                  // separators, embeddings and overrides
           (code >= 0x2060 && code <= 0x206f) ||                  // word joiner, invisible operators, isolates
           (code >= 0xfff9 && code <= 0xfffb) ||                  // annotations
           (code >= 0xe0000 && code <= 0xe007f) ||                // tags, which are invisible
           code == 0xad || code == 0x34f || code == 0x180e || code == 0x200b || code == 0xfeff;
}

/// Returns true for punctuation that people, keyboards and word processors put into codes.
constexpr bool is_punctuation(std::uint32_t code) noexcept {
    const auto within = [code](std::uint32_t first, std::uint32_t last) { return code >= first && code <= last; };
    return within('!', '/') || within(':', '@') || within('[', '`') || within('{', '~') ||                 // ASCII
           within(0xa1, 0xa9) || within(0xab, 0xb1) || code == 0xb4 || within(0xb6, 0xb8) || code == 0xbb || code == 0xbf ||  // Latin-1
           code == 0x58a || code == 0x5be || code == 0x1806 ||                                             // hyphens of other scripts
           within(0x2010, 0x2027) || within(0x2030, 0x205e) || code == 0x2212 || within(0x2e00, 0x2e5d) ||  // dashes and quotation marks
           within(0x3001, 0x3003) || within(0x3008, 0x3011) || within(0x3014, 0x301f) || code == 0x3030 || code == 0x30a0 ||
           code == 0x30fb || code == 0x30fc ||  // Japanese keyboards have the long vowel mark in place of the hyphen
           within(0xfe30, 0xfe6f) || within(0xff01, 0xff0f) || within(0xff1a, 0xff20) || within(0xff3b, 0xff40) ||
           within(0xff5b, 0xff65);
}

TOLLGATE_DECL bool is_visible_line(std::string_view text, std::size_t bytes_max) noexcept {
    if (text.size() > bytes_max) return false;
    bool has_visible = false;
    while (!text.empty()) {
        const std::size_t bytes = utf8_sequence_bytes(text);
        if (bytes == 0) return false;
        const auto code = code_point_of(text.substr(0, bytes));
        if (is_hidden(code)) return false;
        has_visible = has_visible || !(is_joiner(code) || is_blank(code));
        text.remove_prefix(bytes);
    }
    return has_visible;
}

TOLLGATE_DECL std::string without_punctuation(std::string_view text) {
    std::string kept;
    while (!text.empty()) {
        const std::size_t sequence = utf8_sequence_bytes(text);
        const std::size_t bytes = (std::max)(sequence, std::size_t{1});
        const auto code = sequence == 0 ? 0U : code_point_of(text.substr(0, bytes));
        const bool goes = sequence != 0 && (is_blank(code) || is_hidden(code) || is_joiner(code) ||
                                            is_punctuation(code));
        if (!goes) kept.append(text.substr(0, bytes));
        text.remove_prefix(bytes);
    }
    return kept;
}

/// The number of bytes of an incomplete sequence at the end; 0 if there is none.
constexpr std::size_t cut_bytes(std::string_view text) noexcept {
    for (std::size_t bytes = 1; bytes <= (std::min)(text.size(), std::size_t{3}); ++bytes) {
        const auto lead = static_cast<unsigned char>(text[text.size() - bytes]);
        if ((lead & 0xc0) == 0x80) continue;
        const std::size_t whole = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
        return whole > bytes ? bytes : 0;
    }
    return 0;
}

inline void append_code(std::string& to, const char* prefix, std::uint32_t code, int digits) {
    to.append(prefix);
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) to.push_back("0123456789abcdef"[code >> shift & 0xf]);
}

TOLLGATE_DECL std::string make_readable(std::string_view bytes) {
    bytes.remove_suffix(cut_bytes(bytes));
    std::string text;
    text.reserve(bytes.size());
    while (!bytes.empty()) {
        const std::size_t ends_line = bytes.starts_with("\r\n") ? 2 : bytes.front() == '\n' ? 1 : 0;
        const std::size_t sequence = utf8_sequence_bytes(bytes);
        const auto code = sequence == 0 ? static_cast<unsigned char>(bytes.front())
                                        : code_point_of(bytes.substr(0, sequence));
        if (ends_line != 0) text.push_back('\n');
        else if (sequence == 0 || (sequence == 1 && code != '\t' && is_hidden(code)))
            append_code(text, "\\x", code, 2);
        else if (code != '\t' && is_hidden(code)) append_code(text, "\\u", code, code > 0xffff ? 5 : 4);
        else text.append(bytes.substr(0, sequence));
        bytes.remove_prefix((std::max)({ends_line, sequence, std::size_t{1}}));
    }
    return text;
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_TEXT_IPP

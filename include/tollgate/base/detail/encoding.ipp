#pragma once
#ifndef TOLLGATE_BASE_DETAIL_ENCODING_IPP
#define TOLLGATE_BASE_DETAIL_ENCODING_IPP

#include <tollgate/base/detail/hash.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/detail/encoding.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace tollgate::inline v0::detail {
struct base64_alphabet {
    static constexpr std::string_view characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
};
struct base64url_alphabet {
    static constexpr std::string_view characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
};

/// A group of four characters, decoded: three bytes, and a fourth with one bit for each character that is in the
/// alphabet. In memory order, so that storing the whole word writes the three bytes where they belong.
using base64_group = std::uint32_t;
inline constexpr base64_group base64_valid = in_big_endian_order(std::uint32_t{0x0f});

/// For each of the four positions in a group, what a character contributes: a group is four lookups and three ORs.
template <class Alphabet>
inline constexpr auto base64_places = [] {
    std::array<std::array<base64_group, 256>, 4> places{};
    for (std::size_t place = 0; place < places.size(); ++place)
        for (std::uint32_t value = 0; value < 64; ++value)
            places[place][static_cast<unsigned char>(Alphabet::characters[value])] =
                in_big_endian_order(value << (26 - 6 * place) | std::uint32_t{1} << place);
    return places;
}();

template <class Alphabet>
inline base64_group read_base64_group(const char* four) noexcept {
    const auto& places = base64_places<Alphabet>;
    const auto at = [four](std::size_t i) { return static_cast<unsigned char>(four[i]); };
    return places[0][at(0)] | places[1][at(1)] | places[2][at(2)] | places[3][at(3)];
}

/// Text without its padding.
template <class Alphabet>
inline std::optional<std::size_t> base64_decode_unpadded(std::string_view text, std::span<char> out) noexcept {
    const std::size_t groups = text.size() / 4;
    const std::size_t tail = text.size() % 4;
    const std::size_t size = groups * 3 + (tail == 0 ? 0 : tail - 1);
    if (tail == 1 || size > out.size()) return std::nullopt;

    const char* next = text.data();
    char* written = out.data();
    base64_group valid = base64_valid;

    // Each group is stored with its fourth byte, which the next group overwrites; the last group needs space for it.
    const std::size_t groups_with_space = out.empty() ? 0 : (std::min)(groups, (out.size() - 1) / 3);
    for (const char* const end = next + groups_with_space / 2 * 8; next != end; next += 8, written += 6) {
        const base64_group first = read_base64_group<Alphabet>(next);
        const base64_group second = read_base64_group<Alphabet>(next + 4);
        valid &= first;
        valid &= second;
        std::memcpy(written, &first, sizeof first);
        std::memcpy(written + 3, &second, sizeof second);
    }
    for (const char* const end = text.data() + groups * 4; next != end; next += 4, written += 3) {
        const base64_group group = read_base64_group<Alphabet>(next);
        valid &= group;
        std::memcpy(written, &group, 3);
    }
    if (tail != 0) {
        constexpr char zero = Alphabet::characters.front();
        const char filled_up[4] = {next[0], next[1], tail == 3 ? next[2] : zero, zero};
        const base64_group group = read_base64_group<Alphabet>(filled_up);
        valid &= group;
        char bytes[sizeof group];
        std::memcpy(bytes, &group, sizeof group);
        if (bytes[tail - 1] != '\0') return std::nullopt;
        std::memcpy(written, bytes, tail - 1);
    }
    if (valid != base64_valid) return std::nullopt;
    return size;
}

template <class Alphabet>
inline std::string base64_encode_unpadded(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    std::uint32_t bits = 0;
    unsigned bit_count = 0;
    for (char byte : bytes) {
        bits = bits << 8 | static_cast<unsigned char>(byte);
        for (bit_count += 8; bit_count >= 6; bit_count -= 6) text += Alphabet::characters[bits >> (bit_count - 6) & 63];
    }
    if (bit_count > 0) text += Alphabet::characters[bits << (6 - bit_count) & 63];
    return text;
}

template <class Decode>
inline std::optional<std::string> decode_to_string(std::size_t bytes_max, Decode decode) {
    std::string decoded(bytes_max, '\0');
    const auto size = decode(std::span<char>{decoded});
    if (!size) return std::nullopt;
    decoded.resize(*size);
    return decoded;
}

TOLLGATE_DECL std::string base64_encode(std::string_view bytes) {
    std::string text = base64_encode_unpadded<base64_alphabet>(bytes);
    text.append((4 - text.size() % 4) % 4, '=');
    return text;
}

TOLLGATE_DECL std::optional<std::size_t> base64_decode_into(std::string_view text, std::span<char> out) noexcept {
    if (text.size() % 4 != 0) return std::nullopt;
    if (!text.empty() && text.back() == '=') text.remove_suffix(text[text.size() - 2] == '=' ? 2 : 1);
    return base64_decode_unpadded<base64_alphabet>(text, out);
}

TOLLGATE_DECL std::optional<std::string> base64_decode(std::string_view text) {
    return decode_to_string(base64_decoded_bytes_max(text.size()),
                                    [text](std::span<char> out) { return base64_decode_into(text, out); });
}

TOLLGATE_DECL std::string base64url_encode(std::string_view bytes) {
    return base64_encode_unpadded<base64url_alphabet>(bytes);
}

TOLLGATE_DECL std::optional<std::string> base64url_decode(std::string_view text) {
    return decode_to_string(base64_decoded_bytes_max(text.size()), [text](std::span<char> out) {
        return base64_decode_unpadded<base64url_alphabet>(text, out);
    });
}

TOLLGATE_DECL std::string hex_encode(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size() * 2);
    for (char byte : bytes) {
        text += "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4];
        text += "0123456789abcdef"[static_cast<unsigned char>(byte) & 0xf];
    }
    return text;
}

TOLLGATE_DECL std::optional<std::string> hex_decode(std::string_view text) {
    if (text.size() % 2 != 0) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 2);
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const int high = hex_value(text[i]);
        const int low = hex_value(text[i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        bytes += static_cast<char>(high * 16 + low);
    }
    return bytes;
}

TOLLGATE_DECL std::string percent_encode(std::string_view bytes) {
    constexpr std::string_view unreserved_marks = "-._~";
    std::string text;
    text.reserve(bytes.size());
    for (char byte : bytes) {
        if (is_alphanumeric(byte) || unreserved_marks.find(byte) != std::string_view::npos) {
            text += byte;
            continue;
        }
        text += '%';
        text += "0123456789ABCDEF"[static_cast<unsigned char>(byte) >> 4];
        text += "0123456789ABCDEF"[static_cast<unsigned char>(byte) & 0xf];
    }
    return text;
}

TOLLGATE_DECL std::optional<std::size_t> percent_decode_into(std::string_view text, std::span<char> out,
                                                             plus_sign plus) noexcept {
    if (text.size() > out.size()) return std::nullopt;
    std::size_t written = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char byte = text[i];
        if (byte == '%') {
            const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
            const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
            if (high < 0 || low < 0) return std::nullopt;
            byte = static_cast<char>(high * 16 + low);
            i += 2;
        } else if (byte == '+' && plus == plus_sign::space) {
            byte = ' ';
        }
        out[written++] = byte;
    }
    return written;
}

TOLLGATE_DECL std::optional<std::string> percent_decode(std::string_view text, plus_sign plus) {
    return decode_to_string(text.size(),
                                    [text, plus](std::span<char> out) { return percent_decode_into(text, out, plus); });
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_ENCODING_IPP

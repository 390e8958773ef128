#pragma once

#include <tollgate/base/ascii.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// Finding the end of a piece of a message: 16 bytes at a time where the processor has SSE2 (every x86-64 has), 8 at a time
/// elsewhere. All of them return `end` when every byte belongs to the piece, and never read a byte outside [at, end).
namespace tollgate::http::detail {

/// The first byte that no field value holds (RFC 9110 section 5.5): a control character other than HTAB. Bytes of 0x80 and
/// above are obs-text, which is data.
[[nodiscard]] inline const char* find_value_end(const char* at, const char* end) noexcept;

/// The first byte that no request target holds: a control character, a blank, `#` (a fragment is never sent), DEL, or any
/// byte of 0x80 and above, which a URI writes percent-encoded.
[[nodiscard]] inline const char* find_target_end(const char* at, const char* end) noexcept;

/// The first byte that is no tchar (RFC 9110 section 5.6.2).
[[nodiscard]] inline const char* find_token_end(const char* at, const char* end) noexcept {
    while (at != end && is_token_char(*at)) ++at;
    return at;
}

[[nodiscard]] constexpr bool ends_value(char c) noexcept {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

[[nodiscard]] constexpr bool ends_target(char c) noexcept {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte >= 0x7f || c == '#';
}

#if defined(__SSE2__)

/// One bit for each of the 16 bytes.
using block_marks = unsigned;
inline constexpr std::ptrdiff_t block_bytes = 16;

[[nodiscard]] inline __m128i load_block(const char* at) noexcept {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

[[nodiscard]] inline block_marks mark_value_end(const char* at) noexcept {
    const __m128i bytes = load_block(at);
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    const __m128i tab = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t'));
    const __m128i del = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
    return static_cast<block_marks>(_mm_movemask_epi8(_mm_or_si128(_mm_andnot_si128(tab, control), del)));
}

[[nodiscard]] inline block_marks mark_target_end(const char* at) noexcept {
    const __m128i bytes = load_block(at);
    // Signed: a byte of 0x80 and above is negative, so not greater than a blank either.
    const __m128i visible = _mm_cmpgt_epi8(bytes, _mm_set1_epi8(0x20));
    const __m128i del = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
    const __m128i fragment = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('#'));
    return static_cast<block_marks>(_mm_movemask_epi8(_mm_or_si128(fragment, del))) |
           (static_cast<block_marks>(_mm_movemask_epi8(visible)) ^ 0xffffU);
}

/// The byte of the first mark: marks are exact.
template <bool (*Ends)(char) noexcept>
[[nodiscard]] inline const char* first_marked(const char* at, block_marks marks) noexcept {
    return at + std::countr_zero(marks);
}

#else

/// The high bit of each of the 8 bytes; a byte behind a marked one may be marked wrongly, so a mark says "look closer".
using block_marks = std::uint64_t;
inline constexpr std::ptrdiff_t block_bytes = 8;

[[nodiscard]] constexpr std::uint64_t all_bytes(unsigned char byte) noexcept { return 0x0101010101010101U * byte; }

[[nodiscard]] constexpr std::uint64_t mark_below(std::uint64_t word, unsigned char bound) noexcept {
    return (word - all_bytes(bound)) & ~word & all_bytes(0x80);
}
[[nodiscard]] constexpr std::uint64_t mark_equal(std::uint64_t word, unsigned char byte) noexcept {
    return mark_below(word ^ all_bytes(byte), 1);
}

[[nodiscard]] inline std::uint64_t load_block(const char* at) noexcept {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

[[nodiscard]] inline block_marks mark_value_end(const char* at) noexcept {
    const std::uint64_t word = load_block(at);
    return mark_below(word, 0x20) | mark_equal(word, 0x7f);
}

[[nodiscard]] inline block_marks mark_target_end(const char* at) noexcept {
    const std::uint64_t word = load_block(at);
    return mark_below(word, 0x21) | mark_equal(word, 0x7f) | mark_equal(word, '#') | (word & all_bytes(0x80));
}

/// The first byte that `Ends` confirms, in whatever order this processor keeps the bytes of a word; null if none.
template <bool (*Ends)(char) noexcept>
[[nodiscard]] inline const char* first_marked(const char* at, block_marks) noexcept {
    for (std::ptrdiff_t i = 0; i < block_bytes; ++i)
        if (Ends(at[i])) return at + i;
    return nullptr;
}

#endif

/// Whole blocks while there are some, then byte by byte.
template <block_marks (*Marks)(const char*) noexcept, bool (*Ends)(char) noexcept>
[[nodiscard]] inline const char* find_end(const char* at, const char* end) noexcept {
    for (; end - at >= block_bytes; at += block_bytes)
        if (const block_marks marks = Marks(at); marks != 0)
            if (const char* found = first_marked<Ends>(at, marks)) return found;
    while (at != end && !Ends(*at)) ++at;
    return at;
}

inline const char* find_value_end(const char* at, const char* end) noexcept {
    return find_end<mark_value_end, ends_value>(at, end);
}

inline const char* find_target_end(const char* at, const char* end) noexcept {
    return find_end<mark_target_end, ends_target>(at, end);
}

}  // namespace tollgate::http::detail

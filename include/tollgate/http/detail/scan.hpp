#pragma once

#include <tollgate/base/detail/text.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// Finding the end of a piece of a message: 16 bytes at a time where the processor has SSE2 (every x86-64 has), 8 at a
/// time elsewhere. All of them return `end` when every byte belongs to the piece, and never read a byte outside [at,
/// end).
namespace tollgate::inline v0::http::detail {

/// The first byte that no field value holds (RFC 9110 section 5.5): a control character other than HTAB. Bytes of 0x80
/// and above are obs-text, which is data.
[[nodiscard]] inline const char* find_value_end(const char* at, const char* end) noexcept;

/// The first byte that no request target holds: a control character, a blank, `#` (a fragment is never sent), DEL, or
/// any byte of 0x80 and above, which a URI writes percent-encoded.
[[nodiscard]] inline const char* find_target_end(const char* at, const char* end) noexcept;

/// The first byte that is no tchar (RFC 9110 section 5.6.2).
[[nodiscard]] inline const char* find_token_end(const char* at, const char* end) noexcept {
    while (at != end && is_token_char(*at)) ++at;
    return at;
}

/// The first colon, if it is among the next few bytes that can be looked at together; otherwise null, which says
/// nothing.
[[nodiscard]] inline const char* find_near_colon(const char* at, const char* end) noexcept;

inline constexpr byte_set value_ends = [] {
    byte_set made{};
    for (std::size_t byte = 0; byte < made.size(); ++byte) made[byte] = (byte < 0x20 && byte != '\t') || byte == 0x7f;
    return made;
}();

inline constexpr byte_set target_ends = [] {
    byte_set made{};
    for (std::size_t byte = 0; byte < made.size(); ++byte) made[byte] = byte <= 0x20 || byte >= 0x7f || byte == '#';
    return made;
}();

#if defined(__SSE2__)

/// One bit for each of the 16 bytes.
using block_marks = unsigned;
inline constexpr std::ptrdiff_t block_bytes = 16;

[[nodiscard]] inline __m128i load_block(const char* at) noexcept {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

/// Marks tabs too: so rare in a value that it is cheaper to look closer than to tell them apart in every block.
[[nodiscard]] inline block_marks mark_value_end(const char* at) noexcept {
    const __m128i bytes = load_block(at);
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    const __m128i del = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
    return static_cast<block_marks>(_mm_movemask_epi8(_mm_or_si128(control, del)));
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

inline const char* find_near_colon(const char* at, const char* end) noexcept {
    if (end - at < block_bytes) return nullptr;
    const auto marks = static_cast<block_marks>(_mm_movemask_epi8(_mm_cmpeq_epi8(load_block(at), _mm_set1_epi8(':'))));
    return marks == 0 ? nullptr : at + std::countr_zero(marks);
}

/// The first marked byte that is in `Ends`; null if none.
template <const byte_set& Ends>
[[nodiscard]] inline const char* first_marked(const char* at, block_marks marks) noexcept {
    for (; marks != 0; marks &= marks - 1)
        if (const char* found = at + std::countr_zero(marks); holds(Ends, *found)) [[likely]] return found;
    return nullptr;
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

inline const char* find_near_colon(const char*, const char*) noexcept { return nullptr; }

/// The first byte that is in `Ends`, in whatever order this processor keeps the bytes of a word; null if none.
template <const byte_set& Ends>
[[nodiscard]] inline const char* first_marked(const char* at, block_marks) noexcept {
    for (std::ptrdiff_t i = 0; i < block_bytes; ++i)
        if (holds(Ends, at[i])) return at + i;
    return nullptr;
}

#endif

/// Whole blocks while there are some, then byte by byte.
template <block_marks (*Marks)(const char*) noexcept, const byte_set& Ends>
[[nodiscard]] inline const char* find_end(const char* at, const char* end) noexcept {
    if (end - at >= block_bytes) {
        const char* const last_block = end - block_bytes;
        do {
            if (const block_marks marks = Marks(at); marks != 0)
                if (const char* found = first_marked<Ends>(at, marks)) return found;
            at += block_bytes;
        } while (at <= last_block);
    }
    while (at != end && !holds(Ends, *at)) ++at;
    return at;
}

inline const char* find_value_end(const char* at, const char* end) noexcept {
    return find_end<mark_value_end, value_ends>(at, end);
}

inline const char* find_target_end(const char* at, const char* end) noexcept {
    return find_end<mark_target_end, target_ends>(at, end);
}

}  // namespace tollgate::http::detail

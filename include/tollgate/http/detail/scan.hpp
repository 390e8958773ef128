#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_SCAN_HPP
#define TOLLGATE_HTTP_DETAIL_SCAN_HPP

#include <tollgate/base/detail/text.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

/// Finds the end of a part of a message: 16 bytes at a time with SSE2 (on every x86-64), 8 at a time elsewhere. All
/// functions return `end` if every byte belongs to the part, and never read outside [at, end).
namespace tollgate::inline v0::http::detail {

/// The first byte not allowed in a field value (RFC 9110 section 5.5): a control character other than HTAB. Bytes of
/// 0x80 and above are allowed (obs-text).
[[nodiscard]] inline const char* find_value_end(const char* at, const char* end) noexcept;

/// The first byte that is unusual in a field value: also a tab, and a byte of 0x80 and above. Precondition: the `block_bytes` bytes
/// before `end` can be read.
[[nodiscard]] inline const char* find_unusual_in_value(const char* at, const char* end) noexcept;

/// The first byte that neither a path nor a query holds (RFC 3986 sections 3.3 and 3.4): a control character, a blank, one of
/// `"#<>[\]^`{|}`, DEL, or any byte of 0x80 and above. A URI writes them percent-encoded.
[[nodiscard]] inline const char* find_target_end(const char* at, const char* end) noexcept;

/// The first byte that is not a tchar (RFC 9110 section 5.6.2).
[[nodiscard]] inline const char* find_token_end(const char* at, const char* end) noexcept {
    while (at != end && tollgate::detail::is_token_char(*at)) ++at;
    return at;
}

/// The first colon if it is in the next block; otherwise null, which does not mean that there is none.
[[nodiscard]] inline const char* find_near_colon(const char* at, const char* end) noexcept;

inline constexpr tollgate::detail::byte_set value_ends = [] {
    tollgate::detail::byte_set set{};
    for (std::size_t byte = 0; byte < set.size(); ++byte) set[byte] = (byte < 0x20 && byte != '\t') || byte == 0x7f;
    return set;
}();

inline constexpr tollgate::detail::byte_set target_ends = [] {
    tollgate::detail::byte_set set{};
    for (std::size_t byte = 0; byte < set.size(); ++byte) set[byte] = byte <= 0x20 || byte >= 0x7f;
    for (const char each : std::string_view{"\"#<>[\\]^`{|}"}) set[static_cast<unsigned char>(each)] = true;
    return set;
}();

#if defined(__SSE2__) && defined(__GNUC__)

/// A bit for each of the 16 bytes.
using block_marks = unsigned;
inline constexpr std::ptrdiff_t block_bytes = 16;

// Vector extensions of GCC and Clang: they compile faster than the functions of <emmintrin.h>, to the same instructions.
// Comparisons are signed: bytes of 0x80 and above are negative. They set all bits of a byte or none.
using block = signed char __attribute__((vector_size(16)));
using unsigned_block = unsigned char __attribute__((vector_size(16)));

[[nodiscard]] inline block load_block(const char* at) noexcept {
    block loaded;
    std::memcpy(&loaded, at, sizeof loaded);
    return loaded;
}

[[nodiscard]] inline block_marks to_marks(block compared) noexcept {
    using as_builtin = char __attribute__((vector_size(16)));
    return static_cast<block_marks>(__builtin_ia32_pmovmskb128(std::bit_cast<as_builtin>(compared)));
}

/// Also marks tabs and bytes of 0x80 and above, which are so rare that a second look is cheaper than excluding them in every block.
[[nodiscard]] inline block_marks mark_value_end(const char* at) noexcept {
    // DEL plus one is negative, too. Unsigned, because it overflows.
    const auto one_more = std::bit_cast<block>(std::bit_cast<unsigned_block>(load_block(at)) + 1);
    return to_marks(one_more < ' ' + 1);
}

inline const char* find_unusual_in_value(const char* at, const char* end) noexcept {
    for (; end - at >= block_bytes; at += block_bytes)
        if (const block_marks marks = mark_value_end(at); marks != 0) return at + std::countr_zero(marks);
    const char* const last_block = end - block_bytes;
    const block_marks marks = mark_value_end(last_block) >> (at - last_block);
    return marks == 0 ? end : at + std::countr_zero(marks);
}

/// Marks `!`, `_` and `~` too, which saves comparisons: they are looked up one by one.
[[nodiscard]] inline block_marks mark_target_end(const char* at) noexcept {
    const block bytes = load_block(at);
    // `[\]^_` and `{|}~` with DEL differ in one bit, and so do `<` and `>`.
    const block others = ((bytes | 0x20) > 'z') | ((bytes | 0x02) == '>') | (bytes == '`');
    return to_marks(others) | (to_marks(bytes > '#') ^ 0xffffU);
}

inline const char* find_near_colon(const char* at, const char* end) noexcept {
    if (end - at < block_bytes) return nullptr;
    const block_marks marks = to_marks(load_block(at) == ':');
    return marks == 0 ? nullptr : at + std::countr_zero(marks);
}

/// The first marked byte that is in `Ends`; null if none.
template <const tollgate::detail::byte_set& Ends>
[[nodiscard]] inline const char* first_marked(const char* at, block_marks marks) noexcept {
    for (; marks != 0; marks &= marks - 1)
        if (const char* found = at + std::countr_zero(marks); tollgate::detail::holds(Ends, *found)) [[likely]] return found;
    return nullptr;
}

#else

/// The high bit of each of the 8 bytes. A byte after a marked one may be marked wrongly, so marks are checked again.
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
    // `[\]^_` and `{|}~` with DEL differ in one bit, and so do `<` and `>`. A byte of 0x80 and above is marked by its own bit.
    const std::uint64_t folded = word | all_bytes(0x20);
    const std::uint64_t brackets = (folded & all_bytes(0x7f)) + all_bytes(0x80 - '{');
    return mark_below(word, '#' + 1) | mark_equal(word | all_bytes(0x02), '>') | mark_equal(word, '`') |
           ((brackets | word) & all_bytes(0x80));
}

inline const char* find_near_colon(const char*, const char*) noexcept { return nullptr; }

inline const char* find_unusual_in_value(const char* at, const char* end) noexcept {
    while (at != end && *at >= ' ' && *at <= '~') ++at;
    return at;
}

/// The first byte that is in `Ends`, on either endianness; null if none.
template <const tollgate::detail::byte_set& Ends>
[[nodiscard]] inline const char* first_marked(const char* at, block_marks) noexcept {
    for (std::ptrdiff_t i = 0; i < block_bytes; ++i)
        if (tollgate::detail::holds(Ends, at[i])) return at + i;
    return nullptr;
}

#endif

/// Whole blocks, the last of which ends at `end` and so may overlap the one before; single bytes of less than a block.
template <block_marks (*Marks)(const char*) noexcept, const tollgate::detail::byte_set& Ends>
[[nodiscard]] inline const char* find_end(const char* at, const char* end) noexcept {
    if (end - at < block_bytes) {
        while (at != end && !tollgate::detail::holds(Ends, *at)) ++at;
        return at;
    }
    const char* const last_block = end - block_bytes;
    for (;; at = at + block_bytes < last_block ? at + block_bytes : last_block) {
        if (const block_marks marks = Marks(at); marks != 0)
            if (const char* found = first_marked<Ends>(at, marks)) return found;
        if (at == last_block) return end;
    }
}

inline const char* find_value_end(const char* at, const char* end) noexcept {
    return find_end<mark_value_end, value_ends>(at, end);
}

inline const char* find_target_end(const char* at, const char* end) noexcept {
    return find_end<mark_target_end, target_ends>(at, end);
}

}  // namespace tollgate::http::detail

#endif  // TOLLGATE_HTTP_DETAIL_SCAN_HPP

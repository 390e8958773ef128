#pragma once
#ifndef TOLLGATE_BASE_DETAIL_HASH_HPP
#define TOLLGATE_BASE_DETAIL_HASH_HPP

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tollgate::inline v0::detail {

/// Written in the form that compilers recognize and turn into one instruction.
[[nodiscard]] constexpr std::uint32_t swap_bytes(std::uint32_t value) noexcept {
    return value << 24 | (value << 8 & 0x00ff'0000U) | (value >> 8 & 0x0000'ff00U) | value >> 24;
}

/// Loads four bytes as a little-endian number, at any alignment.
[[nodiscard]] inline std::uint32_t load_little_endian_32(const char* from) noexcept {
    std::uint32_t value = 0;
    std::memcpy(&value, from, sizeof value);
    return std::endian::native == std::endian::little ? value : swap_bytes(value);
}

/// A number whose bytes in memory are those of `value`, most significant first.
[[nodiscard]] constexpr std::uint32_t in_big_endian_order(std::uint32_t value) noexcept {
    return std::endian::native == std::endian::big ? value : swap_bytes(value);
}

using crc32_table = std::array<std::uint32_t, 256>;

/// Table `n` is for a byte that `n` bytes follow, so that four bytes are processed in one step.
constexpr std::array<crc32_table, 4> make_crc32_tables() noexcept {
    std::array<crc32_table, 4> tables{};
    // The CRC is linear: the entry of two bits together is the sum of theirs, without carry.
    std::uint32_t of_bit = 1;
    for (std::size_t bit = 128; bit != 0; bit /= 2) {
        of_bit = (of_bit >> 1) ^ ((of_bit & 1) != 0 ? 0xedb88320U : 0U);
        for (std::size_t others = 0; others < 256; others += 2 * bit) tables[0][others + bit] = tables[0][others] ^ of_bit;
    }
    for (std::size_t n = 1; n < tables.size(); ++n)
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t before = tables[n - 1][byte];
            tables[n][byte] = (before >> 8) ^ tables[0][before & 0xff];
        }
    return tables;
}

inline constexpr auto crc32_tables = make_crc32_tables();

/// The CRC-32 of zlib, PNG and Ethernet (reflected polynomial 0xedb88320). Detects typing errors, not forgery.
[[nodiscard]] inline std::uint32_t crc32(std::string_view text) noexcept {
    const auto& tables = crc32_tables;
    const char* next = text.data();
    const char* const end = next + text.size();

    std::uint32_t value = 0xffffffffU;
    for (; end - next >= 4; next += 4) {
        value ^= load_little_endian_32(next);
        value = tables[3][value & 0xff] ^ tables[2][value >> 8 & 0xff] ^ tables[1][value >> 16 & 0xff] ^
                tables[0][value >> 24];
    }
    for (; next != end; ++next) value = (value >> 8) ^ tables[0][(value ^ static_cast<unsigned char>(*next)) & 0xff];
    return ~value;
}

/// A secret 128-bit key.
struct siphash_key {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
};

struct siphash_state {
    std::uint64_t v0, v1, v2, v3;

    constexpr explicit siphash_state(const siphash_key& secret) noexcept
        : v0{secret.first ^ 0x736f6d6570736575U},
          v1{secret.second ^ 0x646f72616e646f6dU},
          v2{secret.first ^ 0x6c7967656e657261U},
          v3{secret.second ^ 0x7465646279746573U} {}

    constexpr void mix(int rounds) noexcept {
        for (int i = 0; i < rounds; ++i) {
            v0 += v1;
            v2 += v3;
            v1 = std::rotl(v1, 13) ^ v0;
            v3 = std::rotl(v3, 16) ^ v2;
            v0 = std::rotl(v0, 32) + v3;
            v2 += v1;
            v1 = std::rotl(v1, 17) ^ v2;
            v3 = std::rotl(v3, 21) ^ v0;
            v2 = std::rotl(v2, 32);
        }
    }
    constexpr void compress(std::uint64_t word, int rounds) noexcept {
        v3 ^= word;
        mix(rounds);
        v0 ^= word;
    }
    [[nodiscard]] constexpr std::uint64_t folded() const noexcept { return v0 ^ v1 ^ v2 ^ v3; }
};

/// SipHash (Aumasson and Bernstein, 2012) of eight bytes, least significant first: for hash tables with keys chosen by
/// clients, who cannot produce collisions without `secret`. 1-3 rounds, as in Rust's and Python's tables; 2-4 is the
/// variant of the published test vectors.
template <int compression_rounds = 1, int finalization_rounds = 3>
[[nodiscard]] constexpr std::uint64_t siphash(const siphash_key& secret, std::uint64_t eight_bytes) noexcept {
    siphash_state state{secret};
    state.compress(eight_bytes, compression_rounds);
    state.compress(std::uint64_t{8} << 56, compression_rounds);  // the last word contains the length
    state.v2 ^= 0xff;
    state.mix(finalization_rounds);
    return state.folded();
}

/// SipHash-2-4 of a text.
[[nodiscard]] inline std::uint64_t siphash(const siphash_key& secret, std::string_view text) noexcept {
    siphash_state state{secret};
    std::uint64_t last = std::uint64_t{text.size()} << 56;
    for (; text.size() >= 8; text.remove_prefix(8))
        state.compress(load_little_endian_32(text.data()) |
                           std::uint64_t{load_little_endian_32(text.data() + 4)} << 32,
                       2);
    for (std::size_t i = 0; i < text.size(); ++i)
        last |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
    state.compress(last, 2);
    state.v2 ^= 0xff;
    state.mix(4);
    return state.folded();
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_HASH_HPP

#pragma once

#include <tollgate/base/byte_order.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tollgate {

/// 128 bits that nobody else knows.
struct siphash_key {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
};

struct siphash_tag {
    std::uint64_t first = 0;
    std::uint64_t second = 0;

    /// Takes as long whatever the bits are.
    friend constexpr bool operator==(const siphash_tag& a, const siphash_tag& b) noexcept {
        return ((a.first ^ b.first) | (a.second ^ b.second)) == 0;
    }
};

/// SipHash (Aumasson and Bernstein, 2012) of eight bytes, the least significant first: for tables whose keys come from
/// strangers, who without `secret` cannot choose keys that meet in one place. 1-3 rounds, as in Rust's and Python's
/// tables; 2-4 is the variant of the published vectors.
template <int compression_rounds = 1, int finalization_rounds = 3>
[[nodiscard]] constexpr std::uint64_t siphash(const siphash_key& secret, std::uint64_t eight_bytes) noexcept;

/// SipHash-2-4 with 128 bits of output: a tag that nobody finds two texts for, or a text for, without `secret`.
[[nodiscard]] inline siphash_tag siphash128(const siphash_key& secret, std::string_view text) noexcept;

namespace detail {

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

}  // namespace detail

template <int compression_rounds, int finalization_rounds>
constexpr std::uint64_t siphash(const siphash_key& secret, std::uint64_t eight_bytes) noexcept {
    detail::siphash_state state{secret};
    state.compress(eight_bytes, compression_rounds);
    state.compress(std::uint64_t{8} << 56, compression_rounds);  // the last word holds the length
    state.v2 ^= 0xff;
    state.mix(finalization_rounds);
    return state.folded();
}

inline siphash_tag siphash128(const siphash_key& secret, std::string_view text) noexcept {
    detail::siphash_state state{secret};
    state.v1 ^= 0xee;
    const std::uint64_t length = text.size();
    for (; text.size() >= 8; text.remove_prefix(8))
        state.compress(load_little_endian_32(text.data()) |
                           std::uint64_t{load_little_endian_32(text.data() + 4)} << 32,
                       2);
    std::uint64_t last = length << 56;
    for (std::size_t i = 0; i < text.size(); ++i)
        last |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
    state.compress(last, 2);
    state.v2 ^= 0xee;
    state.mix(4);
    const auto first = state.folded();
    state.v1 ^= 0xdd;
    state.mix(4);
    return {first, state.folded()};
}

}  // namespace tollgate
